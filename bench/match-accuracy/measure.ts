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

/** The other products, by their published rules. */
export const baselines: ReadonlyArray<{name: string; create: (mode: Mode) => Matcher}> = [
	{name: 'newest click of the address, 24 h', create: (mode) => createNewestOfAddress(24 * HOUR, mode)},
	{name: 'newest click of the address, 6 h', create: (mode) => createNewestOfAddress(6 * HOUR, mode)},
	{name: 'newest click of the address, 1 h', create: (mode) => createNewestOfAddress(HOUR, mode)},
	{name: 'newest click of the address, 30 min', create: (mode) => createNewestOfAddress(HOUR / 2, mode)},
	{name: 'newest click of the address, 5 min', create: (mode) => createNewestOfAddress(300, mode)},
	{name: 'weighted signals from 70, 168 h', create: createWeighted},
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

export const playBaselines = ({events, measuredFrom}: Story, mode: Mode): Row[] =>
	baselines.map(({name, create}) => ({name, tally: tally(replay(events, measuredFrom, create(mode)))}));

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

export type Narrowing = {withinMinutes: number; openNearby: number; withoutNewerRival: boolean};

/** What of the `high` answers narrower rules would keep; recall stays of all deferred installs. */
export const narrowHigh = (results: Result[], {withinMinutes, openNearby, withoutNewerRival}: Narrowing): Tally =>
	tally(
		results,
		({open, answer: {click, confidence, surroundings}}) =>
			confidence === 'high' &&
			surroundings !== null &&
			open.at.getTime() - click.at.getTime() <= withinMinutes * 60_000 &&
			surroundings.openNearby <= openNearby &&
			!(withoutNewerRival && surroundings.hasNewerRival),
	);

const anything: Narrowing = {withinMinutes: Infinity, openNearby: Infinity, withoutNewerRival: false};

/** All that `narrowHigh` knows to ask for. */
export const narrowest: Narrowing = {withinMinutes: 10, openNearby: 8, withoutNewerRival: true};

/** What `narrowHigh` is asked, from nothing to all of it. */
export const narrowings: ReadonlyArray<{name: string; narrowing: Narrowing}> = [
	{name: 'as it is', narrowing: anything},
	{name: 'click at most 1 h old', narrowing: {...anything, withinMinutes: 60}},
	{name: 'click at most 15 min old', narrowing: {...anything, withinMinutes: 15}},
	{name: 'click at most 10 min old', narrowing: {...anything, withinMinutes: 10}},
	{name: 'at most 8 open clicks nearby', narrowing: {...anything, openNearby: 8}},
	{name: 'no newer rival', narrowing: {...anything, withoutNewerRival: true}},
	{name: '10 min, 20 open clicks, no newer rival', narrowing: {...narrowest, openNearby: 20}},
	{name: '15 min, 8 open clicks, no newer rival', narrowing: {...narrowest, withinMinutes: 15}},
	{name: '10 min, 8 open clicks, no newer rival', narrowing: narrowest},
];
