/** Methods that guess by likeness, the surest first; the two token methods are proof and need no weights. */
export type GuessMethod = 'FINGERPRINT_EXACT' | 'FINGERPRINT_SCORED' | 'IP_FUZZY';
export type MatchMethod = 'CLIPBOARD' | 'INSTALL_REFERRER' | GuessMethod;
export type GuessConfidence = 'high' | 'medium' | 'low';

/** How guesses are made: points, thresholds and windows, and nothing that runs. */
export type MatchPolicy = {
	/** Points that an attribute adds (contract/match 4). What either side does not know adds none. */
	points: {
		ip: number;
		network: number;
		platform: number;
		deviceModel: number;
		osVersion: {
			samePatch: number;
			sameMinor: number;
			sameMajor: number;
			newerMinor: number;
			olderMinor: number;
			newerMajor: number;
		};
		timezone: {same: number; sameOffset: number; other: number};
		language: {same: number; regionUnknown: number; otherRegion: number; other: number};
		/** The first line whose `upToSeconds` reaches the click's age; older ones get `older`. */
		age: {steps: ReadonlyArray<{upToSeconds: number; points: number}>; older: number};
	};
	/** The least score of each confidence, best first. Below the last one there is no scored match. */
	confidence: ReadonlyArray<{level: GuessConfidence; from: number}>;
	/**
	 * What `high` asks for beyond its score; what falls short is `medium`. Scores tell how alike two phones are, and not
	 * how many others are as much alike. docs/match-accuracy.md has the evidence of each number.
	 */
	high: {
		/** Age of the click. Who comes later more often came without a click, while a stranger's was open. */
		withinSeconds: number;
		/** Newer clicks from the address, on other links, that nothing speaks against: the true one may have told less. */
		newerRivals: number;
		/**
		 * Where the organization has more open clicks than this from the address within the time of `crowd`, the score from
		 * which a guess is `high`: below it most clicks tell no model and only the major version of their OS, and many
		 * phones in one room share that.
		 */
		company: {clicks: number; from: number};
	};
	/** How old a click may be, where its link's own match window is not shorter. */
	windowSeconds: Record<GuessMethod, number>;
	/** A click on another link within `margin` points of the best is its rival. */
	rivals: {margin: number; max: number};
	/** More open clicks than this from one address in that time: too many people stand behind it. */
	crowd: {clicks: number; withinSeconds: number};
	/** Newest open clicks that are looked at per address, and per network. */
	candidates: number;
	/** How long an answer is repeated to the device that got it (contract/limits 3). */
	graceSeconds: number;
};

export const matchPolicy: MatchPolicy = {
	points: {
		ip: 40,
		network: 25,
		platform: 5,
		deviceModel: 15,
		osVersion: {samePatch: 15, sameMinor: 12, sameMajor: 8, newerMinor: 4, olderMinor: -5, newerMajor: -20},
		timezone: {same: 15, sameOffset: 5, other: -25},
		language: {same: 10, regionUnknown: 7, otherRegion: 4, other: -10},
		age: {
			steps: [
				{upToSeconds: 15 * 60, points: 0},
				{upToSeconds: 3600, points: -3},
				{upToSeconds: 6 * 3600, points: -8},
			],
			older: -15,
		},
	},
	confidence: [
		{level: 'high', from: 75},
		{level: 'medium', from: 55},
		{level: 'low', from: 50},
	],
	// Of guesses alone with a key 96.6 % of `high` are right without these rules, and 99.7 % with them.
	high: {withinSeconds: 10 * 60, newerRivals: 0, company: {clicks: 8, from: 80}},
	windowSeconds: {FINGERPRINT_EXACT: 24 * 3600, FINGERPRINT_SCORED: 6 * 3600, IP_FUZZY: 3600},
	rivals: {margin: 10, max: 3},
	crowd: {clicks: 20, withinSeconds: 3600},
	candidates: 50,
	graceSeconds: 30,
};
