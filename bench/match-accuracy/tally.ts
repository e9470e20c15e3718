import type {Confidence} from '../../src/links/app-config/app-config.ts';
import type {Click, Open, Story} from './story.ts';

export type Mode = {
	/** Whether apps send what the clipboard and the store gave them. */
	tokens: boolean;
	/** Whether apps send their tenant's key. */
	key: boolean;
};

/** Null where a product knows no confidences or no probabilities. */
export type Answer = {click: Click; confidence: Confidence | null; probability: number | null} | null;

/** A product under test. It sees events one by one, in the order of time. */
export type Matcher = {record: (click: Click) => void; match: (open: Open) => Answer};

type Verdict = 'right' | 'wrong link' | 'no click' | 'wrong tenant' | 'none';

export type Result = {open: Open; answer: Answer; verdict: Verdict};

const verdictOf = ({organizationId, cause}: Open, answer: Answer): Verdict => {
	if (answer === null) {
		return 'none';
	}

	const {click} = answer;
	if (click.organizationId !== organizationId) {
		return 'wrong tenant';
	}

	return cause === null ? 'no click' : click.linkId === cause.linkId ? 'right' : 'wrong link';
};

/** Plays a story to a product. @returns what became of each first open that is measured. */
export const replay = ({events, measuredFrom}: Story, {record, match}: Matcher): Result[] => {
	const results: Result[] = [];
	for (const event of events) {
		if (event.type === 'click') {
			record(event);
			continue;
		}

		const answer = match(event);
		if (event.at >= measuredFrom) {
			results.push({open: event, answer, verdict: verdictOf(event, answer)});
		}
	}

	return results;
};

export type Tally = {
	matches: number;
	right: number;
	wrongLink: number;
	noClick: number;
	wrongTenant: number;
	/** Null where nothing matched. */
	precision: number | null;
	/** Of the installs that a click led to. */
	recall: number;
};

/** @param isCounted which matches; recall is always of all installs after a click. */
export const tally = (results: readonly Result[], isCounted: (result: Result) => boolean = () => true): Tally => {
	const counts = {right: 0, 'wrong link': 0, 'no click': 0, 'wrong tenant': 0, none: 0};
	let deferred = 0;
	for (const result of results) {
		deferred += result.open.cause === null ? 0 : 1;
		counts[result.verdict] += result.answer !== null && isCounted(result) ? 1 : 0;
	}

	const {right} = counts;
	const matches = right + counts['wrong link'] + counts['no click'] + counts['wrong tenant'];
	return {
		matches,
		right,
		wrongLink: counts['wrong link'],
		noClick: counts['no click'],
		wrongTenant: counts['wrong tenant'],
		precision: matches === 0 ? null : right / matches,
		recall: deferred === 0 ? 0 : right / deferred,
	};
};

export const ofConfidence =
	(...wanted: Confidence[]) =>
	({answer}: Result): boolean =>
		wanted.some((one) => one === answer?.confidence);

/** A bin of predictions: from `low`, up to but not including `high`. */
export type Bin = {low: number; high: number; guesses: number; predicted: number; seen: number};

/** What was predicted of guesses beside what is seen. Nothing where the product predicts nothing. */
export const calibration = (results: readonly Result[], edges: readonly number[]): Bin[] =>
	edges.slice(0, -1).map((low, index) => {
		const high = edges[index + 1] ?? 1;
		const inside = results.flatMap(({answer, verdict}) =>
			answer?.probability != null && answer.probability >= low && (answer.probability < high || high === 1)
				? [{predicted: answer.probability, isRight: verdict === 'right'}]
				: [],
		);
		const mean = (sum: number) => (inside.length === 0 ? 0 : sum / inside.length);
		return {
			low,
			high,
			guesses: inside.length,
			predicted: mean(inside.reduce((sum, {predicted}) => sum + predicted, 0)),
			seen: mean(inside.filter(({isRight}) => isRight).length),
		};
	});
