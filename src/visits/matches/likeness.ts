import type {MatchSignals} from './match-signals.ts';
import {compareOsVersions, type Language, sameModel} from './normalize-signals.ts';

/** A difference that no device can have between its click and its first open (contract/match 4). */
export type Contradiction = 'platform' | 'device_model' | 'os_version';

/** The points of each signal for or against one phone. A signal that either side lacks has 0 points. */
export type Points = Record<'platform' | 'deviceModel' | 'osVersion' | 'timezone' | 'language', number>;

/**
 * Each outcome of a comparison has points, and the share of other people's phones at the same place that reach it.
 * Points only put phones in order; a probability comes from counting phones (`posterior.ts`). The shares are round
 * figures, used while few phones have been counted: there are two systems; two thirds of iPhones run one major version;
 * the commonest model is a tenth of its platform; nearly all phones at one place have its timezone.
 */
const outcomes = {
	platform: {same: [5, 0.5], other: [0, 1]},
	deviceModel: {same: [15, 0.1], other: [0, 1]},
	osVersion: {
		samePatch: [15, 0.2],
		sameMinor: [12, 0.3],
		sameMajor: [8, 0.5],
		newerMinor: [-4, 1],
		olderMinor: [-5, 1],
		newerMajor: [-20, 1],
		olderMajor: [0, 1],
	},
	timezone: {same: [15, 1], sameOffset: [5, 1], other: [-25, 1]},
	language: {same: [10, 0.7], regionUnknown: [7, 0.8], otherRegion: [4, 0.9], other: [-10, 1]},
} as const satisfies Record<keyof Points, Record<string, readonly [points: number, share: number]>>;

const compareLanguages = (one: Language, other: Language): keyof typeof outcomes.language => {
	if (one.language !== other.language) {
		return 'other';
	}

	if (one.region === other.region) {
		return 'same';
	}

	return one.region === null || other.region === null ? 'regionUnknown' : 'otherRegion';
};

const compare = <T, R>(one: T | null, other: T | null, comparison: (one: T, other: T) => R): R | null =>
	one === null || other === null ? null : comparison(one, other);

const same = (isSame: boolean): 'same' | 'other' => (isSame ? 'same' : 'other');

/** Offsets of zones from UTC at the time of a first open; asking for one is slow. */
export type Offsets = (timezone: string) => string | null;

const compareAll = (click: MatchSignals, app: MatchSignals, offsetOf: Offsets) => ({
	platform: compare(click.platform, app.platform, (one, other) => same(one === other)),
	deviceModel: compare(click.model, app.model, sameModel),
	osVersion: compare(click.osVersion, app.osVersion, compareOsVersions),
	timezone: compare(click.timezone, app.timezone, (one, other): keyof typeof outcomes.timezone =>
		one === other ? 'same' : offsetOf(one) === offsetOf(other) ? 'sameOffset' : 'other',
	),
	language: compare(click.language, app.language, compareLanguages),
});

const contradictionOf = ({platform, deviceModel, osVersion}: ReturnType<typeof compareAll>): Contradiction | null => {
	if (platform === 'other') {
		return 'platform';
	}

	if (deviceModel === 'other') {
		return 'device_model';
	}

	return osVersion === 'olderMajor' ? 'os_version' : null;
};

export type Likeness = {
	/** The sum of the points: more points mean more alike. */
	sum: number;
	points: Points;
	/** The share of other phones that are as much alike, by published shares. */
	share: number;
	contradiction: Contradiction | null;
	/** Whether the two agree in all signals that FINGERPRINT_EXACT requires (contract/match 4), except the address. */
	isExact: boolean;
};

/** Compares a click's phone with an app's, by the signals that both report (contract/match 4). */
export const likenessOf = (click: MatchSignals, app: MatchSignals, offsetOf: Offsets): Likeness => {
	const found = compareAll(click, app, offsetOf);
	const {platform, deviceModel, osVersion, timezone, language} = found;
	const lines = {
		platform: platform === null ? null : outcomes.platform[platform],
		deviceModel: deviceModel === null ? null : outcomes.deviceModel[deviceModel],
		osVersion: osVersion === null ? null : outcomes.osVersion[osVersion],
		timezone: timezone === null ? null : outcomes.timezone[timezone],
		language: language === null ? null : outcomes.language[language],
	};
	const points: Points = {
		platform: lines.platform?.[0] ?? 0,
		deviceModel: lines.deviceModel?.[0] ?? 0,
		osVersion: lines.osVersion?.[0] ?? 0,
		timezone: lines.timezone?.[0] ?? 0,
		language: lines.language?.[0] ?? 0,
	};
	const contradiction = contradictionOf(found);
	return {
		sum: points.platform + points.deviceModel + points.osVersion + points.timezone + points.language,
		points,
		share: Object.values(lines).reduce((product, line) => product * (line?.[1] ?? 1), 1),
		contradiction,
		isExact:
			contradiction === null &&
			platform === 'same' &&
			(osVersion === 'samePatch' || osVersion === 'sameMajor') &&
			language === 'same' &&
			(timezone === 'same' || (timezone === null && deviceModel === 'same')),
	};
};
