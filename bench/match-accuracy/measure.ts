import type {Confidence} from '../../src/app-config/app-config.ts';
import {type MatchMethod, type MatchPolicy, matchPolicy} from '../../src/match/match-policy.ts';
import {createNewestOfAddress, createWeighted} from './baselines.ts';
import type {Click, Open} from './events.ts';
import type {Matcher, Mode} from './matcher.ts';
import {createOplink} from './oplink.ts';
import {type Match, type Result, replay, type Tally, tally} from './tally.ts';

export type Story = {events: ReadonlyArray<Click | Open>; measuredFrom: Date};

export type Row = {name: string; tally: Tally};

const HOUR = 3600;

type Baseline = {
	name: string;
	/** Whether somebody publishes that he does so; otherwise the window is ours, to compare with. */
	isPublished: boolean;
	create: (mode: Mode) => Matcher;
};

const newest = (name: string, seconds: number, isPublished: boolean): Baseline => ({
	name: `newest click of the address, ${name}${isPublished ? '' : ' (ours, for comparison)'}`,
	isPublished,
	create: (mode) => createNewestOfAddress(seconds, mode),
});

/** The rules of other products. */
export const baselines: readonly Baseline[] = [
	newest('5 min', 300, true),
	newest('30 min', HOUR / 2, true),
	{name: 'weighted signals from 70, 168 h', isPublished: true, create: createWeighted},
	newest('1 h', HOUR, false),
	newest('6 h', 6 * HOUR, false),
	newest('24 h', 24 * HOUR, false),
];

const METHODS: readonly MatchMethod[] = [
	'CLIPBOARD',
	'INSTALL_REFERRER',
	'FINGERPRINT_EXACT',
	'FINGERPRINT_SCORED',
	'IP_FUZZY',
];
const CONFIDENCES: readonly Confidence[] = ['exact', 'high', 'medium', 'low'];

export const playOplink = ({events, measuredFrom}: Story, mode: Mode, policy: MatchPolicy = matchPolicy): Result[] =>
	replay(events, measuredFrom, createOplink(policy, mode));

export const playBaselines = ({events, measuredFrom}: Story, mode: Mode): Array<Row & Pick<Baseline, 'isPublished'>> =>
	baselines.map(({name, isPublished, create}) => ({
		name,
		isPublished,
		tally: tally(replay(events, measuredFrom, create(mode))),
	}));

export const ofConfidence =
	(wanted: Confidence) =>
	({answer}: Match): boolean =>
		answer.confidence === wanted;

/** By method and confidence, by confidence, and in all. */
export const breakDown = (results: Result[]): Row[] =>
	[
		...METHODS.flatMap((method) =>
			CONFIDENCES.map((confidence) => ({
				name: `${method} ${confidence}`,
				tally: tally(results, ({answer}) => answer.method === method && answer.confidence === confidence),
			})),
		),
		...CONFIDENCES.map((confidence) => ({name: `all ${confidence}`, tally: tally(results, ofConfidence(confidence))})),
		{name: 'all', tally: tally(results)},
	].filter((row) => row.tally.matches > 0);

/** Scored guesses by where the click was, and by whether it told its phone's model. */
export const scoredByPlace = (results: Result[]): Row[] =>
	[true, false].flatMap((isAtAddress) =>
		[true, false].map((hasModel) => ({
			name: `${isAtAddress ? 'at the address' : 'in its network only'}, model ${hasModel ? 'known' : 'unknown'}`,
			tally: tally(
				results,
				({open, answer: {click, method}}) =>
					method === 'FINGERPRINT_SCORED' &&
					(click.keys.ip === open.keys.ip) === isAtAddress &&
					(click.signals.model !== null) === hasModel,
			),
		})),
	);
