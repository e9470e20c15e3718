import type {MissReason} from './guess.ts';
import type {MatchMethod} from './match-policy.ts';

/** The word for each match method, in lists, explanations, reports and on the dashboard. */
const methodWords: Record<MatchMethod, string> = {
	CLIPBOARD: 'clipboard',
	INSTALL_REFERRER: 'referrer',
	FINGERPRINT_EXACT: 'fingerprint',
	FINGERPRINT_SCORED: 'scored',
	IP_FUZZY: 'address',
};

/** The word for a match method as the API names it; a newer server may have others. */
export const methodWord = (method: string): string =>
	(methodWords as Record<string, string>)[method] ?? (method === 'NONE' ? 'no match' : method);

/** An attempt's outcome: the word of its method, or of the reason of a miss. */
export const outcomeWord = ({
	matched,
	method,
	reason,
}: {
	matched: boolean;
	method: string;
	reason: string | null;
}): string => (matched ? methodWord(method) : missWord(reason));

/** The word for the reason of a miss as the API names it; a newer server may have others. */
export const missWord = (reason: string | null): string =>
	(missReasons as Record<string, Explanation>)[reason ?? 'no_click']?.word ?? String(reason);

/** `word` names the outcome everywhere. */
type Explanation = {word: string; meaning: string; next: string};

const TOKEN_SOURCES = 'the clipboard token on iOS, the install referrer on Android';

/** The meaning and next step for each reason of a miss. */
export const missReasons: Record<MissReason, Explanation> = {
	no_click: {
		word: 'no click',
		meaning: 'No open click was found near the address of the app.',
		next: `Have the app send ${TOKEN_SOURCES}: they need no address. Without them click and open on the same network.`,
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
		next: `Have the app send ${TOKEN_SOURCES}, and the CLIENT key, which leaves out other organizations' clicks.`,
	},
	below_threshold: {
		word: 'improbable',
		meaning: 'A click was found near the address, but an install without a click is at least as probable.',
		next: 'Have the app send osVersion, deviceModel, language and timezone; a signal with 0 points below is missing on one side.',
	},
	ruled_out: {
		word: 'ruled out',
		meaning: 'The likeliest click cannot belong to this first open; the last column says why.',
		next: 'Open the app on the phone that clicked, and check that the link is active and has not expired.',
	},
	blocked: {
		word: 'blocked',
		meaning: 'The link of the click is blocked: by an operator, or because its destination is on a list.',
		next: 'See why with oplink links show, or unblock the link with oplink links unblock.',
	},
	guesses_off: {
		word: 'guesses off',
		meaning: 'No token arrived, and the organization allows no guesses (probabilisticMatching is false).',
		next: `Have the app send ${TOKEN_SOURCES}, or allow guesses with oplink app-config set.`,
	},
	below_minimum: {
		word: 'too unsure',
		meaning: 'A click was found, but the guess is less sure than the organization asks for (minimumConfidence).',
		next: `Have the app send ${TOKEN_SOURCES}, or lower minimumConfidence with oplink app-config set.`,
	},
};
