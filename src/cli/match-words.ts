import type {RuledOut} from '../visits/matches/candidate.ts';
import type {MatchAttempt} from '../visits/matches/match-attempt-store.ts';
import {type MatchMethod, matchPolicy} from '../visits/matches/match-policy.ts';
import type {Json} from './server/admin-client.ts';

export type Attempt = Json<Omit<MatchAttempt, 'id'>>;

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

/**
 * The deciding comparison: the clicks of the best candidate's link together, against those of other links and installs
 * without a click.
 */
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
					`No token came with the open. Of the last matches on its platform about ${percentText(tokenless)} had none, which lowers the probability of every click.`,
				]
			: []),
		...(confidence === 'medium' && ofLink >= HIGH
			? [
					`A guess so probable is medium if the click is more than ${FRESH} minutes old or, without a CLIENT key, if several organizations had clicks.`,
				]
			: []),
	];
};

/** Why a candidate was excluded: the table's word, and its meaning. */
export const ruledOutWords: Record<RuledOut, {word: string; meaning: string}> = {
	platform: {word: 'platform', meaning: 'the click was made on another platform'},
	device_model: {word: 'model', meaning: 'the click was made on another model'},
	os_version: {word: 'older OS', meaning: "the app's OS is older than that of the phone that clicked"},
	blocked: {word: 'blocked', meaning: 'the link is blocked'},
	consumed: {word: 'matched', meaning: 'the click had been matched to a first open before'},
	link_not_live: {word: 'not live', meaning: 'the link is inactive, expired or deleted, or its organization suspended'},
	outside_window: {word: 'too old', meaning: 'the click is older than the match window allows'},
	relay: {word: 'relay', meaning: 'the click came through iCloud Private Relay, where many people share an address'},
	guesses_off: {word: 'guesses off', meaning: 'the organization allows no guesses'},
};

/** Of clicks through iCloud Private Relay. */
export const relayWords =
	'A click came through iCloud Private Relay. Many people share its addresses, so it has no points for its address, and only a token matches it.';
