/** Methods that guess by likeness, the surest first; the two token methods are proof and need no probability. */
export type GuessMethod = 'FINGERPRINT_EXACT' | 'FINGERPRINT_SCORED' | 'IP_FUZZY';
export type MatchMethod = 'CLIPBOARD' | 'INSTALL_REFERRER' | GuessMethod;
export type GuessConfidence = 'high' | 'medium' | 'low';

/**
 * Assumptions about people who tap links: round figures of published shares, and some that were tuned on simulated
 * people (docs/measurements.md names them).
 */
export type Beliefs = {
	/** Share of taps that lead to an install soon. */
	installs: number;
	/** When after its tap an install happens: log-normal in the first minutes, spread as 1/age over a day, or later. */
	delay: {medianMinutes: number; sigma: number; soon: number; day: number};
	/** Younger clicks count as of this age, the likeliest: an app that is already installed, or a test, opens at once. */
	leastMinutes: number;
	/** Share of people who are at the address of the tap, by the first line that reaches the age: at night many are back. */
	stays: ReadonlyArray<{upToHours: number; share: number}>;
	/** Of people who are no longer at the address of the tap, the share at another one of its network. */
	movesWithin: number;
	/** Share of clicks that report the phone's signals correctly. */
	signalAccuracy: number;
	/**
	 * `language`: the part that is left of a click that shows another one, which some apps are set to. `perDay`: share of
	 * phones that change their timezone or system version in a day; between a tap and a first open that is seldom.
	 */
	unlike: {language: number; perDay: number};
	/**
	 * First opens that no tap led to. `share`: of all first opens, at any hour of a day; 20 to 45 % are published. They
	 * grow with the clicks that others made at the place in the day, and `unseen` more: about one a week, as in a home.
	 * `dayAsHours`: the day's average weighs as so many hours beside the last one.
	 * `heard`: per click, people nearby who heard of the app from who tapped. Hearing takes its time, so half of them
	 * install after more than `medianMinutes`. `equal`: share of people nearby with an equal phone, as in a family or a
	 * firm, before `equalOpens` first opens have shown others, and the last `shown` clicks of the place are looked at.
	 */
	organic: {
		share: number;
		unseen: number;
		dayAsHours: number;
		heard: {share: number; medianMinutes: number};
		equal: number;
		equalOpens: number;
		shown: number;
	};
	/**
	 * Opens without a token that are added to those that matched by a guess: a few taps of a developer, all by token, say
	 * little about the next one.
	 */
	tokenless: number;
	/** How many counted phones weigh as much as what was expected before they were counted. */
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
	/** How long an answer is repeated to the device that got it (contract/requests 15). */
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
			{upToHours: Number.POSITIVE_INFINITY, share: 0.45},
		],
		movesWithin: 0.2,
		signalAccuracy: 0.9,
		unlike: {language: 0.1, perDay: 0.02},
		organic: {
			share: 0.3,
			unseen: 0.15,
			dayAsHours: 0.5,
			heard: {share: 0.02, medianMinutes: 45},
			equal: 0.05,
			equalOpens: 5,
			shown: 20,
		},
		tokenless: 10,
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
