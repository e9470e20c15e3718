import type {RuledOut} from '../match/candidate.ts';
import type {MissReason} from '../match/guess.ts';
import type {MatchAttempt} from '../match/match-attempt-store.ts';
import {type MatchMethod, matchPolicy} from '../match/match-policy.ts';

/** A value of the server's JSON. */
export type Json<T> = T extends Date ? string : T extends object ? {[Key in keyof T]: Json<T[Key]>} : T;

export type Attempt = Json<Omit<MatchAttempt, 'id'>>;

/** The evidence behind each match method. */
export const methodMeanings: Record<MatchMethod, string> = {
	CLIPBOARD:
		'The app read the token that the tap had left on the clipboard. That is proof; the probability is that of a guess.',
	INSTALL_REFERRER: 'The store handed the app the token of the tap. That is proof; the probability is that of a guess.',
	FINGERPRINT_EXACT:
		'A tap from the same address agrees in platform, OS, language, and in timezone or model; no tap on another link does. That is the surest kind of guess.',
	FINGERPRINT_SCORED: 'A tap from nearby is probable enough. That is a guess.',
	IP_FUZZY:
		'A tap of the last hour came from the same address, and hardly anything else is known. That is a weak guess: reveal no private data because of it.',
};

const FRESH = matchPolicy.highWithinSeconds / 60;
const HIGH = matchPolicy.confidence.find(({level}) => level === 'high')?.from ?? 1;

const percentText = (probability: number): string =>
	`${(probability * 100).toFixed(Math.abs(probability - 0.5) > 0.48 ? 1 : 0)} %`;

/** What made the best candidate so probable, and installs without a tap. */
export const evidenceWords = ({candidates: [best], nobody, confidence}: Attempt): string[] => {
	if (best === undefined || best.ruledOut !== null || nobody === null) {
		return [];
	}

	const phones =
		best.compared === 0
			? 'no phones of this app have been counted yet'
			: `${best.alike} of the last ${best.compared} phones of this app look as much like the tap as this one`;
	const taps =
		nobody.made === null ? '' : `; ${nobody.made} ${nobody.made === 1 ? 'tap was' : 'taps were'} made here in 24 hours`;
	const isOld = confidence === 'medium' && best.probability >= HIGH;
	return [
		`This tap led here with a probability of ${percentText(best.probability)}, no tap at all with ${percentText(nobody.probability)}: ${phones}${taps}.`,
		...(isOld
			? [
					`A guess so probable is medium where the tap is more than ${FRESH} minutes old or, without a CLIENT key, where several organizations were tapped.`,
				]
			: []),
	];
};

type Explanation = {meaning: string; next: string};

const PROVE = 'the clipboard token on iOS, the install referrer on Android';

/** The meaning and next step for each reason of a miss. */
export const missReasons: Record<MissReason, Explanation> = {
	no_click: {
		meaning: 'No open tap was found near the address of the app.',
		next: `Have the app send ${PROVE}: they need no address. Without them tap and open on the same network.`,
	},
	outside_window: {
		meaning:
			"The tap was found, but too late: a token is good for the link's match window, a guess for 24 hours at most (6 where the signals differ, 1 by address alone).",
		next: 'Open the app sooner, or give the link a longer --match-window-hours and have the app send the token.',
	},
	consumed: {
		meaning: 'The tap was found, but an earlier first open had already matched it.',
		next: 'Tap the link again for another try.',
	},
	ambiguous: {
		meaning: 'Several taps near the address, on different links, are about equally likely, so none was chosen.',
		next: `Have the app send ${PROVE}, and the CLIENT key, which leaves out other organizations' taps.`,
	},
	below_threshold: {
		meaning: 'A tap was found near the address, but an install without a tap is at least as probable.',
		next: 'Have the app send osVersion, deviceModel, language and timezone; a signal with 0 points below is missing on one side.',
	},
	ruled_out: {
		meaning: 'The likeliest tap cannot belong to this first open; the last column says why.',
		next: 'Open the app on the phone that tapped, and see that the link is active and has not expired.',
	},
	guesses_off: {
		meaning: 'No token arrived, and the organization allows no guesses (probabilisticMatching is false).',
		next: `Have the app send ${PROVE}, or allow guesses with oplink app-config set.`,
	},
	below_minimum: {
		meaning: 'A tap was found, but the guess is less sure than the organization asks for (minimumConfidence).',
		next: `Have the app send ${PROVE}, or lower minimumConfidence with oplink app-config set.`,
	},
};

/** Why a candidate was excluded: the table's word, and its meaning. */
export const ruledOutWords: Record<RuledOut, {word: string; meaning: string}> = {
	platform: {word: 'platform', meaning: 'the tap was made on another platform'},
	device_model: {word: 'model', meaning: 'the tap was made on another model'},
	os_version: {word: 'older OS', meaning: "the app's OS is older than that of the phone that tapped"},
	consumed: {word: 'matched', meaning: 'the tap had been matched to a first open before'},
	link_not_live: {word: 'not live', meaning: 'the link is inactive, expired or deleted, or its organization suspended'},
	outside_window: {word: 'too old', meaning: 'the tap is older than the match window allows'},
	guesses_off: {word: 'guesses off', meaning: 'the organization allows no guesses'},
};
