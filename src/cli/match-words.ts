import type {RuledOut} from '../visits/matches/candidate.ts';
import type {MissReason} from '../visits/matches/guess.ts';
import type {MatchAttempt} from '../visits/matches/match-attempt-store.ts';
import {type MatchMethod, matchPolicy} from '../visits/matches/match-policy.ts';
import type {Json} from './server/admin-client.ts';

export type Attempt = Json<Omit<MatchAttempt, 'id'>>;

/** The word for each match method, in lists, explanations, reports and on the dashboard. */
export const methodWords: Record<MatchMethod, string> = {
	CLIPBOARD: 'clipboard',
	INSTALL_REFERRER: 'referrer',
	FINGERPRINT_EXACT: 'fingerprint',
	FINGERPRINT_SCORED: 'scored',
	IP_FUZZY: 'address',
};

/** The word for a match method as the API names it; a newer server may have others. */
export const methodWord = (method: string): string =>
	(methodWords as Record<string, string>)[method] ?? (method === 'NONE' ? 'no match' : method);

/** Methods that prove the link. */
const isProof = (method: string): boolean => method === 'CLIPBOARD' || method === 'INSTALL_REFERRER';

/** The evidence behind each match method. */
export const methodMeanings: Record<MatchMethod, string> = {
	CLIPBOARD: 'The app read the token that the click had left on the clipboard. That proves the link.',
	INSTALL_REFERRER: 'The store handed the app the token of the click. That proves the link.',
	FINGERPRINT_EXACT:
		'A click from the same address agrees in platform, OS, language, and in timezone or model; no click on another link does. That is a guess, as sure as its probability.',
	FINGERPRINT_SCORED:
		'A click from the same address or network is probable enough. That is a guess, as sure as its probability.',
	IP_FUZZY:
		'A click of the last hour came from the same address, and hardly anything else is known. That is a weak guess: reveal no private data because of it.',
};

const FRESH = matchPolicy.highWithinSeconds / 60;
const HIGH = matchPolicy.confidence.find(({level}) => level === 'high')?.from ?? 1;

const percentText = (probability: number): string =>
	`${(probability * 100).toFixed(Math.abs(probability - 0.5) > 0.48 ? 1 : 0)} %`;

/** A part that is left of every click without a token, below which the explanation names it. */
const TELLING = 0.9;

/** How many candidates a trace has at most; the ones beyond it are the least probable. */
const MAX_TRACED = 20;

/** The deciding comparison: the clicks of the best candidate's link together, against those of other links and installs without a click. */
export const evidenceWords = ({candidates, nobody, method, confidence, score}: Attempt): string[] => {
	const [best] = candidates;
	if (best === undefined || best.ruledOut !== null || nobody === null) {
		return [];
	}

	const possible = candidates.filter(({ruledOut}) => ruledOut === null);
	const own = possible.filter(({linkId}) => linkId === best.linkId);
	const sum = (some: typeof possible) => some.reduce((total, {probability}) => total + probability, 0);
	const isWhole = candidates.length < MAX_TRACED || score === null;
	const ofLink = isWhole ? sum(own) : score / 100;
	const ofOthers = sum(possible) - sum(own);
	const phones =
		best.compared === 0
			? 'No phones of this app have been counted yet'
			: `${best.alike} of the last ${best.compared} phones of this app look as much like the click as this one`;
	const clicks =
		nobody.made === null
			? ''
			: `; ${nobody.made} ${nobody.made === 1 ? 'click was' : 'clicks were'} made here in 24 hours`;
	const {tokenless} = nobody;
	const subject = own.length === 1 ? 'this click' : 'a click on this link';
	const others = possible.length === own.length ? '' : `; that one on another link did: ${percentText(ofOthers)}`;
	const start = isProof(method) ? 'Without the token, the probability' : 'Probability';
	return [
		`${start} that ${subject} led to the install: ${isWhole ? percentText(ofLink) : `${score} %`}${others}; that no click did: ${percentText(nobody.probability)}. ${phones}${clicks}.`,
		...(tokenless < TELLING
			? [
					`No token came with the open. Of the last matches on its platform about ${percentText(tokenless)} had none, so every click counts so much less.`,
				]
			: []),
		...(confidence === 'medium' && ofLink >= HIGH
			? [
					`A guess so probable is medium if the click is more than ${FRESH} minutes old or, without a CLIENT key, if several organizations had clicks.`,
				]
			: []),
	];
};

/** An attempt's outcome: the word of its method, or of the reason of a miss. */
export const outcomeWord = ({matched, method, reason}: Pick<Attempt, 'matched' | 'method' | 'reason'>): string =>
	matched ? methodWord(method) : missWord(reason);

/** The word for the reason of a miss as the API names it; a newer server may have others. */
export const missWord = (reason: string | null): string =>
	(missReasons as Record<string, Explanation>)[reason ?? 'no_click']?.word ?? String(reason);

/** `word` is the one for the outcome, everywhere. */
type Explanation = {word: string; meaning: string; next: string};

const PROVE = 'the clipboard token on iOS, the install referrer on Android';

/** The meaning and next step for each reason of a miss. */
export const missReasons: Record<MissReason, Explanation> = {
	no_click: {
		word: 'no click',
		meaning: 'No open click was found near the address of the app.',
		next: `Have the app send ${PROVE}: they need no address. Without them click and open on the same network.`,
	},
	outside_window: {
		word: 'too late',
		meaning:
			"The click was found, but too late: a token is good for the link's match window, a guess for 24 hours at most (6 where the signals differ, 1 by address alone).",
		next: 'Open the app sooner, or give the link a longer --match-window-hours and have the app send the token.',
	},
	consumed: {
		word: 'consumed',
		meaning: 'The click was found, but an earlier first open had already matched it.',
		next: 'Click the link again for another attempt.',
	},
	ambiguous: {
		word: 'ambiguous',
		meaning: 'Several clicks near the address, on different links, are about equally likely, so none was chosen.',
		next: `Have the app send ${PROVE}, and the CLIENT key, which leaves out other organizations' clicks.`,
	},
	below_threshold: {
		word: 'improbable',
		meaning: 'A click was found near the address, but an install without a click is at least as probable.',
		next: 'Have the app send osVersion, deviceModel, language and timezone; a signal with 0 points below is missing on one side.',
	},
	ruled_out: {
		word: 'ruled out',
		meaning: 'The likeliest click cannot belong to this first open; the last column says why.',
		next: 'Open the app on the phone that clicked, and see that the link is active and has not expired.',
	},
	guesses_off: {
		word: 'guesses off',
		meaning: 'No token arrived, and the organization allows no guesses (probabilisticMatching is false).',
		next: `Have the app send ${PROVE}, or allow guesses with oplink app-config set.`,
	},
	below_minimum: {
		word: 'too unsure',
		meaning: 'A click was found, but the guess is less sure than the organization asks for (minimumConfidence).',
		next: `Have the app send ${PROVE}, or lower minimumConfidence with oplink app-config set.`,
	},
};

/** Why a candidate was excluded: the table's word, and its meaning. */
export const ruledOutWords: Record<RuledOut, {word: string; meaning: string}> = {
	platform: {word: 'platform', meaning: 'the click was made on another platform'},
	device_model: {word: 'model', meaning: 'the click was made on another model'},
	os_version: {word: 'older OS', meaning: "the app's OS is older than that of the phone that clicked"},
	consumed: {word: 'matched', meaning: 'the click had been matched to a first open before'},
	link_not_live: {word: 'not live', meaning: 'the link is inactive, expired or deleted, or its organization suspended'},
	outside_window: {word: 'too old', meaning: 'the click is older than the match window allows'},
	relay: {word: 'relay', meaning: 'the click came through iCloud Private Relay, where many people share an address'},
	guesses_off: {word: 'guesses off', meaning: 'the organization allows no guesses'},
};

/** Of clicks through iCloud Private Relay. */
export const relayWords =
	'A click came through iCloud Private Relay. Many people share its addresses, so it has no points for its address, and only a token matches it.';
