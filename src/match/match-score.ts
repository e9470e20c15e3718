import {utcOffset} from '../timezone.ts';
import type {MatchPolicy} from './match-policy.ts';
import type {MatchSignals} from './match-signals.ts';
import {compareOsVersions} from './normalise-os-version.ts';

/** How near to the click's address the app's is: the same, only the same network, or neither. */
export type Nearness = 'ip' | 'network' | null;

/** What no device can do between a click and a first open (contract/match 4). */
export type Contradiction = 'platform' | 'device_model' | 'os_version';

export type Points = Record<
	'ip' | 'network' | 'platform' | 'deviceModel' | 'osVersion' | 'timezone' | 'language' | 'age',
	number
>;

export type Score = {
	/** 0 to 100. */
	score: number;
	points: Points;
	contradiction: Contradiction | null;
	/**
	 * Whether the two are alike in all that FINGERPRINT_EXACT asks for (contract/match 4), but for its window and rivals.
	 */
	isExact: boolean;
};

const equalities = (click: MatchSignals, app: MatchSignals, clickedAt: Date) => {
	const compare = <T, R>(one: T | null, other: T | null, comparison: (one: T, other: T) => R): R | null =>
		one === null || other === null ? null : comparison(one, other);
	return {
		platform: compare(click.platform, app.platform, (one, other) => one === other),
		deviceModel: compare(click.model, app.model, (one, other) => one === other),
		osVersion: compare(click.osVersion, app.osVersion, compareOsVersions),
		timezone: compare(click.timezone, app.timezone, (one, other) =>
			one === other ? 'same' : utcOffset(one, clickedAt) === utcOffset(other, clickedAt) ? 'sameOffset' : 'other',
		),
		language: compare(click.language, app.language, (one, other) => {
			if (one.language !== other.language) {
				return 'other';
			}

			if (one.region === other.region) {
				return 'same';
			}

			return one.region === null || other.region === null ? 'regionUnknown' : 'otherRegion';
		}),
	} as const;
};

const contradictionOf = ({platform, deviceModel, osVersion}: ReturnType<typeof equalities>): Contradiction | null => {
	if (platform === false) {
		return 'platform';
	}

	if (deviceModel === false) {
		return 'device_model';
	}

	return osVersion === 'olderMajor' ? 'os_version' : null;
};

const agePoints = ({steps, older}: MatchPolicy['points']['age'], seconds: number): number =>
	steps.find(({upToSeconds}) => seconds <= upToSeconds)?.points ?? older;

/** How like a click and an app's first open are (contract/match 4): points add up, and what is not known adds none. */
export const scoreClick = (
	click: MatchSignals,
	app: MatchSignals,
	{nearness, clickedAt, now}: {nearness: Nearness; clickedAt: Date; now: Date},
	{points: weights}: Pick<MatchPolicy, 'points'>,
): Score => {
	const equal = equalities(click, app, clickedAt);
	const {platform, deviceModel, osVersion, timezone, language} = equal;
	const points: Points = {
		ip: nearness === 'ip' ? weights.ip : 0,
		network: nearness === 'network' ? weights.network : 0,
		platform: platform === true ? weights.platform : 0,
		deviceModel: deviceModel === true ? weights.deviceModel : 0,
		osVersion: osVersion === null || osVersion === 'olderMajor' ? 0 : weights.osVersion[osVersion],
		timezone: timezone === null ? 0 : weights.timezone[timezone],
		language: language === null ? 0 : weights.language[language],
		age: agePoints(weights.age, (now.getTime() - clickedAt.getTime()) / 1000),
	};
	const sum = Object.values(points).reduce((total, part) => total + part, 0);
	const contradiction = contradictionOf(equal);
	return {
		score: Math.min(100, Math.max(0, sum)),
		points,
		contradiction,
		isExact:
			contradiction === null &&
			nearness === 'ip' &&
			platform === true &&
			(osVersion === 'samePatch' || osVersion === 'sameMajor') &&
			language === 'same' &&
			(timezone === 'same' || (timezone === null && deviceModel === true)),
	};
};
