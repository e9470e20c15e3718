/** Methods that guess by likeness, the most certain first. Tokens are proof and have no probability. */
export type GuessMethod = 'FINGERPRINT_EXACT' | 'FINGERPRINT_SCORED' | 'IP_FUZZY';
export type MatchMethod = 'CLIPBOARD' | 'INSTALL_REFERRER' | GuessMethod;
export type GuessConfidence = 'high' | 'medium' | 'low';

/**
 * Assumptions about visitors of links: round figures of published shares, and some that were tuned on simulated
 * visitors (docs/measurements.md names them).
 */
export type Beliefs = {
	/** Share of clicks that soon lead to an installation. */
	installs: number;
	/** Time from click to installation: log-normal in the first minutes, spread as 1/age over a day, or later. */
	delay: {medianMinutes: number; sigma: number; soon: number; day: number};
	/** Younger clicks count as of this age, the likeliest: installed apps and tests open at once. */
	leastMinutes: number;
	/** Share of visitors still at the address of the click, by the first line that reaches the age. At night many return. */
	stays: ReadonlyArray<{upToHours: number; share: number}>;
	/** Of visitors that left the address of the click, the share at another address of its network. */
	movesWithin: number;
	/** Share of clicks that report the phone's signals correctly. */
	signalAccuracy: number;
	/**
	 * `language`: the factor of a click with another language, because some apps have their own. `perDay`: share of phones
	 * that change their timezone or system version in a day; between click and first open that is rare.
	 */
	unlike: {language: number; perDay: number};
	/**
	 * First opens without a click. `share`: of all first opens, at any hour of a day; published shares are 20 to 45 %. They
	 * grow with the day's clicks of other visitors at the place, plus `unseen`: about one a week, as in a home.
	 * `dayAsHours`: the day's average counts as this many hours beside the last hour.
	 * `wordOfMouth`: installations per click by people nearby, told of the app by the visitor; half of them come after more
	 * than `medianMinutes`. `equal`: share of people nearby with an equal phone, as in a family or a company, until
	 * `equalOpens` first opens have shown others. The last `shown` clicks of the place are compared.
	 */
	organic: {
		share: number;
		unseen: number;
		dayAsHours: number;
		wordOfMouth: {share: number; medianMinutes: number};
		equal: number;
		equalOpens: number;
		shown: number;
	};
	/**
	 * Opens without a token that are added to those that matched by a guess: a developer's few clicks, all by token, say
	 * little about the next one.
	 */
	tokenless: number;
	/** The number of counted phones that weighs as much as the prior expectation. */
	general: number;
};

/** The policy of guesses, as data: beliefs, thresholds and windows. */
export type MatchPolicy = {
	beliefs: Beliefs;
	/** The minimum probability of each confidence, best first. Below the last one there is no match. */
	confidence: ReadonlyArray<{level: GuessConfidence; from: number}>;
	/** Maximum age of the click of a `high` guess; with an older click it is `medium`. */
	highWithinSeconds: number;
	/** Maximum age of a click, unless its link's own match window is shorter. */
	windowSeconds: Record<GuessMethod, number>;
	/** Maximum open clicks that are compared, and consumed ones that are counted. */
	candidates: {address: number; network: number};
	/** The time in which an answer is repeated to its device (contract/requests 15). */
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
			wordOfMouth: {share: 0.02, medianMinutes: 45},
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
