/** Methods that guess by likeness, the surest first; the two token methods are proof and need no probability. */
export type GuessMethod = 'FINGERPRINT_EXACT' | 'FINGERPRINT_SCORED' | 'IP_FUZZY';
export type MatchMethod = 'CLIPBOARD' | 'INSTALL_REFERRER' | GuessMethod;
export type GuessConfidence = 'high' | 'medium' | 'low';

/**
 * What is believed of people who tap links: round figures of published shares, none fitted to data. The results hold
 * where they are wrong by a factor of two (docs/match-accuracy.md).
 */
export type Beliefs = {
	/** Share of taps that lead to an install soon. */
	installs: number;
	/** When after its tap an install happens: log-normal in the first minutes, spread as 1/age over a day, or later. */
	delay: {medianMinutes: number; sigma: number; soon: number; day: number};
	/** Younger clicks count as of this age, the likeliest: an app that is already installed, or a test, opens at once. */
	leastMinutes: number;
	/** Share of people who are still at the address of the tap, by the first line that reaches the age. */
	stays: ReadonlyArray<{upToHours: number; share: number}>;
	/** Share of people who moved to another address of the same network. */
	movesWithin: number;
	/** Share of clicks whose signals are those of the phone. */
	toldShare: number;
	/** The part that is left of a click whose signals speak against the app more than for it. */
	unlike: number;
	/** First opens per hour at a place by people who tapped nothing: always, and more per further click in 24 h. */
	organic: {always: number; perClick: number};
	/** Phones of the same timezone are compared where there are so many. */
	leastOfZone: number;
	/** How many counted phones weigh as much as what is known of phones in general. */
	general: number;
};

/** How guesses are made: beliefs, thresholds and windows, and nothing that runs. */
export type MatchPolicy = {
	beliefs: Beliefs;
	/** The least probability of each confidence, best first. Below the last one there is no match. */
	confidence: ReadonlyArray<{level: GuessConfidence; from: number}>;
	/** Greatest age of the click of a `high` guess; an older one is `medium`. */
	highWithinSeconds: number;
	/** How old a click may be, where its link's own match window is not shorter. */
	windowSeconds: Record<GuessMethod, number>;
	/** Newest open clicks that are looked at, and most used ones that are counted. */
	candidates: {address: number; network: number};
	/** How long an answer is repeated to the device that got it (contract/limits 3). */
	graceSeconds: number;
};

export const matchPolicy: MatchPolicy = {
	beliefs: {
		installs: 0.33,
		delay: {medianMinutes: 5, sigma: 1.1, soon: 0.75, day: 0.19},
		leastMinutes: 1.5,
		stays: [
			{upToHours: 1, share: 0.85},
			{upToHours: 6, share: 0.55},
			{upToHours: Number.POSITIVE_INFINITY, share: 0.3},
		],
		movesWithin: 0.03,
		toldShare: 0.9,
		unlike: 0.1,
		organic: {always: 0.05, perClick: 0.16 / 24},
		leastOfZone: 50,
		general: 20,
	},
	confidence: [
		{level: 'high', from: 0.99},
		{level: 'medium', from: 0.8},
		{level: 'low', from: 0.5},
	],
	highWithinSeconds: 10 * 60,
	windowSeconds: {FINGERPRINT_EXACT: 24 * 3600, FINGERPRINT_SCORED: 6 * 3600, IP_FUZZY: 3600},
	candidates: {address: 200, network: 50},
	graceSeconds: 30,
};
