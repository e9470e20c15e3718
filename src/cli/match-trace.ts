import type {RuledOut} from '../visits/matches/candidate.ts';
import type {MatchAttempt} from '../visits/matches/match-attempt-store.ts';
import {type MatchMethod, matchPolicy} from '../visits/matches/match-policy.ts';
import {missReasons, outcomeWord} from '../visits/matches/outcome-words.ts';
import type {Show} from './command.ts';
import type {Json} from './server/admin-client.ts';
import {durationText} from './terminal/duration.ts';
import {ID_WIDTH, keyValues} from './terminal/output.ts';
import {wrapped} from './terminal/wrapped.ts';

export type Attempt = Json<Omit<MatchAttempt, 'id'>>;

/** Methods that prove the link. */
const isProof = (method: string): boolean => method === 'CLIPBOARD' || method === 'INSTALL_REFERRER';

/** The evidence behind each match method. */
const methodMeanings: Record<MatchMethod, string> = {
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

/** The explanation names the factor by which a missing token lowers every click's probability if it is below this. */
const NAMED_BELOW = 0.9;

/** Maximum candidates of a trace; the least probable ones are left out. */
const MAX_TRACED = 20;

/**
 * The deciding comparison: the clicks of the best candidate's link together, against those of other links and installs
 * without a click.
 */
const evidenceWords = ({candidates, nobody, method, confidence, score}: Attempt): string[] => {
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
		...(tokenless < NAMED_BELOW
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
const ruledOutWords: Record<RuledOut, {word: string; meaning: string}> = {
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

/** A note for clicks through iCloud Private Relay. */
const relayWords =
	'A click came through iCloud Private Relay. Many people share its addresses, so it has no points for its address, and only a token matches it.';

type Candidate = Attempt['candidates'][number];

/** A link's name in a trace; null if the link is deleted, none if the token may not read it. */
export type LinkNames = ReadonlyMap<string, {url: string; shortCode: string} | null>;

/** The data of a link that the app receives: its destination, with the query of the click. */
export type ReceivedData = {path: string; params: Record<string, string>};

/** Every link in a trace. */
export const linksOf = ({linkId, candidates}: Attempt): string[] => [
	...new Set([...(linkId === null ? [] : [linkId]), ...candidates.map((one) => one.linkId)]),
];

/** An API time formatted for people. */
export const timeText = (iso: string): string => iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '');

const TOKEN_WORDS = {absent: 'none', unknown: 'one that no click has', known: 'one of a click'} as const;

const signalsText = ({platform, osVersion, deviceModel, language, timezone}: Attempt['signals']): string =>
	[[platform, osVersion].filter(Boolean).join(' '), deviceModel, language, timezone].filter(Boolean).join(', ');

/** The outcome in words, with the API's name. */
const answerText = (attempt: Attempt): string => {
	const {matched, method, confidence, score, reason} = attempt;
	const word = `${outcomeWord(attempt)} (${matched ? method : reason})`;
	if (!matched) {
		return `no match: ${word}`;
	}

	return [
		word,
		confidence,
		...(score === null ? [] : [score === 100 ? 'probability over 99 %' : `probability ${score} %`]),
	].join(', ');
};

const queryText = (query: Record<string, string>): string =>
	Object.entries(query)
		.map(([name, value]) => `${name}=${value}`)
		.join(', ');

/** The first lines of a trace: the data that the app receives, or the reason why it receives none. */
export const receivedText = (attempt: Attempt, received: ReceivedData | null, width: number): string =>
	keyValues(
		received === null
			? [
					[
						'app gets',
						attempt.matched ? 'a link that is deleted or may not be read' : `nothing: ${outcomeWord(attempt)}`,
					],
				]
			: [
					['path', received.path],
					['params', queryText(received.params)],
				],
		width,
	);

/** Without a match: the best candidate, and the best one on another link. */
const contendersOf = ({matched, linkId, candidates}: Attempt) => {
	const [first] = candidates;
	const best = matched ? linkId : first?.linkId;
	return {nearest: matched ? undefined : first, runnerUp: candidates.find((one) => one.linkId !== best)};
};

const candidateTable = ({at, candidates}: Attempt, links: LinkNames, show: Pick<Show, 'table'>): string =>
	show.table<Candidate>(
		[
			{
				title: 'LINK',
				value: ({linkId}) => links.get(linkId)?.shortCode ?? linkId,
				flexible: true,
				// A deleted link is named by its id.
				...(candidates.every(({linkId}) => links.get(linkId)) ? {} : {minWidth: ID_WIDTH}),
			},
			{title: 'CLICKED', value: ({clickedAt}) => durationText((Date.parse(at) - Date.parse(clickedAt)) / 1000)},
			{title: '%', value: ({score}) => score, align: 'right'},
			{title: 'ADDR', value: ({points}) => points.ip + points.network, align: 'right'},
			{title: 'PLAT', value: ({points}) => points.platform, align: 'right'},
			{title: 'MODEL', value: ({points}) => points.deviceModel, align: 'right'},
			{title: 'OS', value: ({points}) => points.osVersion, align: 'right'},
			{title: 'ZONE', value: ({points}) => points.timezone, align: 'right'},
			{title: 'LANG', value: ({points}) => points.language, align: 'right'},
			{title: 'ALIKE', value: ({alike, compared}) => `${alike}/${compared}`, align: 'right'},
			{title: 'RULED OUT', value: ({ruledOut}) => ruledOut && (ruledOutWords[ruledOut]?.word ?? ruledOut)},
		],
		candidates,
	);

const LEGEND =
	'CLICKED is how long before the first open; % is the probability of the click; those of one link count together. ADDR to LANG are points for likeness: the same address (40) or network (25); a signal missing on one side has 0, a mismatch fewer. ALIKE is how many recent phones of the app are as much alike.';

/**
 * A match attempt for readers: the request, the answer, its meaning and next steps, and all candidates with their
 * probabilities, best first.
 */
export const matchTrace = (attempt: Attempt, links: LinkNames, show: Pick<Show, 'table' | 'width'>): string => {
	const {at, deviceId, matched, method, linkId, query, reason, signals, candidates} = attempt;
	const nameOf = (id: string) => links.get(id)?.url ?? (links.has(id) ? `${id} (deleted)` : id);
	const scored = ({linkId: id, score, ruledOut}: Candidate) =>
		`${nameOf(id)}, ${score} %${ruledOut === null ? '' : ', ruled out'}`;
	const {nearest, runnerUp} = contendersOf(attempt);
	const fields: Array<[string, unknown]> = [
		['asked', `${timeText(at)} UTC`],
		['device', deviceId],
		['signals', signalsText(signals)],
		['came over', `${signals.network}, ${signals.apiKey ? 'with the CLIENT key' : 'without a CLIENT key'}`],
		['clipboard token', TOKEN_WORDS[signals.clipboardToken]],
		['install referrer', TOKEN_WORDS[signals.installReferrer]],
		['answer', answerText(attempt)],
		['link', linkId === null ? undefined : nameOf(linkId)],
		['query', query && queryText(query)],
		['nearest', nearest && scored(nearest)],
		['runner-up', runnerUp && scored(runnerUp)],
	];
	const paragraph = (text: string) => wrapped(text, show.width).join('\n');
	const miss = reason === null ? undefined : missReasons[reason];
	const meaning = matched && method !== 'NONE' ? methodMeanings[method] : miss?.meaning;
	const refusals = [...new Set(candidates.flatMap(({ruledOut}) => ruledOut ?? []))].map((one) => ruledOutWords[one]);
	return [
		keyValues(fields, show.width),
		meaning && paragraph(meaning),
		...evidenceWords(attempt).map(paragraph),
		miss && paragraph(`Next: ${miss.next}`),
		candidates.length > 0 && candidateTable(attempt, links, show),
		refusals.flatMap((one) => (one ? paragraph(`${one.word}: ${one.meaning}`) : [])).join('\n'),
		candidates.length > 0 && paragraph(LEGEND),
		candidates.some(({relay}) => relay) && paragraph(relayWords),
	]
		.filter(Boolean)
		.join('\n\n');
};
