import type {RuledOut} from '../visits/match/candidate.ts';
import type {MissReason} from '../visits/match/guess.ts';
import type {MatchAttempt} from '../visits/match/match-attempt-store.ts';
import {type MatchMethod, matchPolicy} from '../visits/match/match-policy.ts';
import type {Json} from './server/admin-client.ts';

export type Attempt = Json<Omit<MatchAttempt, 'id'>>;

/** The evidence behind each match method. */
export const methodMeanings: Record<MatchMethod, string> = {
	CLIPBOARD:
		'The app read the token that the tap had left on the clipboard. That is proof; the probability is that of a guess.',
	INSTALL_REFERRER: 'The store handed the app the token of the tap. That is proof; the probability is that of a guess.',
	FINGERPRINT_EXACT:
		'A tap from the same address agrees in platform, OS, language, and in timezone or model; no tap on another link does. That is a guess, as sure as its probability.',
	FINGERPRINT_SCORED:
		'A tap from the same address or network is probable enough. That is a guess, as sure as its probability.',
	IP_FUZZY:
		'A tap of the last hour came from the same address, and hardly anything else is known. That is a weak guess: reveal no private data because of it.',
};

const FRESH = matchPolicy.highWithinSeconds / 60;
const HIGH = matchPolicy.confidence.find(({level}) => level === 'high')?.from ?? 1;

const percentText = (probability: number): string =>
	`${(probability * 100).toFixed(Math.abs(probability - 0.5) > 0.48 ? 1 : 0)} %`;

/** A part that is left of every tap without a token, below which the explanation names it. */
const TELLING = 0.9;

/** How many candidates a trace has at most; the ones beyond it are the least probable. */
const MOST_TRACED = 20;

/** The deciding comparison: the taps of the best candidate's link together, against those of other links and installs without a tap. */
export const evidenceWords = ({candidates, nobody, confidence, score}: Attempt): string[] => {
	const [best] = candidates;
	if (best === undefined || best.ruledOut !== null || nobody === null) {
		return [];
	}

	const possible = candidates.filter(({ruledOut}) => ruledOut === null);
	const own = possible.filter(({linkId}) => linkId === best.linkId);
	const sum = (some: typeof possible) => some.reduce((total, {probability}) => total + probability, 0);
	const isWhole = candidates.length < MOST_TRACED || score === null;
	const ofLink = isWhole ? sum(own) : score / 100;
	const ofOthers = sum(possible) - sum(own);
	const phones =
		best.compared === 0
			? 'no phones of this app have been counted yet'
			: `${best.alike} of the last ${best.compared} phones of this app look as much like the tap as this one`;
	const taps =
		nobody.made === null ? '' : `; ${nobody.made} ${nobody.made === 1 ? 'tap was' : 'taps were'} made here in 24 hours`;
	const {tokenless} = nobody;
	const subject = own.length === 1 ? 'This tap' : 'The taps of this link together';
	const others = possible.length === own.length ? '' : `, those of other links with ${percentText(ofOthers)}`;
	return [
		`${subject} led here with a probability of ${isWhole ? percentText(ofLink) : `${score} %`}${others}, no tap at all with ${percentText(nobody.probability)}: ${phones}${taps}.`,
		...(tokenless < TELLING
			? [
					`No token came with the open. Of the last matches on its platform about ${percentText(tokenless)} had none, so that every tap counts so much less.`,
				]
			: []),
		...(confidence === 'medium' && ofLink >= HIGH
			? [
					`A guess so probable is medium where the tap is more than ${FRESH} minutes old or, without a CLIENT key, where several organizations were tapped.`,
				]
			: []),
	];
};

/** The proof of the tap or the confidence of the guess, as short as a column of a narrow table. */
const proofs: Partial<Record<Attempt['method'], string>> = {
	CLIPBOARD: 'clipboard token',
	INSTALL_REFERRER: 'store referrer',
};

/** An attempt's outcome for a list. */
export const outcomeWords = ({matched, method, confidence, reason}: Attempt): string =>
	matched
		? `yes, ${proofs[method] ?? `guess (${confidence})`}`
		: `no, ${reason === null ? 'no tap' : missReasons[reason].word}`;

/** `word` is for a list. */
type Explanation = {word: string; meaning: string; next: string};

const PROVE = 'the clipboard token on iOS, the install referrer on Android';

/** The meaning and next step for each reason of a miss. */
export const missReasons: Record<MissReason, Explanation> = {
	no_click: {
		word: 'no tap found',
		meaning: 'No open tap was found near the address of the app.',
		next: `Have the app send ${PROVE}: they need no address. Without them tap and open on the same network.`,
	},
	outside_window: {
		word: 'tap too old',
		meaning:
			"The tap was found, but too late: a token is good for the link's match window, a guess for 24 hours at most (6 where the signals differ, 1 by address alone).",
		next: 'Open the app sooner, or give the link a longer --match-window-hours and have the app send the token.',
	},
	consumed: {
		word: 'matched before',
		meaning: 'The tap was found, but an earlier first open had already matched it.',
		next: 'Tap the link again for another try.',
	},
	ambiguous: {
		word: 'several taps',
		meaning: 'Several taps near the address, on different links, are about equally likely, so none was chosen.',
		next: `Have the app send ${PROVE}, and the CLIENT key, which leaves out other organizations' taps.`,
	},
	below_threshold: {
		word: 'too improbable',
		meaning: 'A tap was found near the address, but an install without a tap is at least as probable.',
		next: 'Have the app send osVersion, deviceModel, language and timezone; a signal with 0 points below is missing on one side.',
	},
	ruled_out: {
		word: 'tap ruled out',
		meaning: 'The likeliest tap cannot belong to this first open; the last column says why.',
		next: 'Open the app on the phone that tapped, and see that the link is active and has not expired.',
	},
	guesses_off: {
		word: 'guesses are off',
		meaning: 'No token arrived, and the organization allows no guesses (probabilisticMatching is false).',
		next: `Have the app send ${PROVE}, or allow guesses with oplink app-config set.`,
	},
	below_minimum: {
		word: 'guess too unsure',
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
	relay: {word: 'relay', meaning: 'the tap came through iCloud Private Relay, where many people share an address'},
	guesses_off: {word: 'guesses off', meaning: 'the organization allows no guesses'},
};

/** Of taps through iCloud Private Relay. */
export const relayWords =
	'A tap came through iCloud Private Relay. Many people share its addresses, so it has no points for its address, and only a token matches it.';
