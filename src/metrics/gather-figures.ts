import {createPendingRequests} from '../start/pending-requests.ts';
import {ACROSS, type Figure} from './instruments.ts';
import {mergeFigures, outliving} from './merge-figures.ts';
import {workerFigures} from './read-figures.ts';

/** Requests a worker's figures, which arrive with the number of the round. `isScrape`: see `scrapeFigures`. */
export type Ask = (round: number, isScrape: boolean) => void;

type Member = {ask: Ask; known: Figure[]; requests: ReturnType<typeof createPendingRequests<Figure[]>>};

/**
 * Keeps counters from decreasing: the sum of fractions depends on their order in its last digit, and Prometheus would
 * take a smaller value for a restart.
 */
const createHighWater = () => {
	const most = new Map<string, number>();
	const hold = ([series, value]: [string, number]): [string, number] => {
		const held = Math.max(value, most.get(series) ?? value);
		most.set(series, held);
		return [series, held];
	};
	return (figures: readonly Figure[]): Figure[] =>
		figures.map((figure) => (ACROSS[figure.across].outlives ? {...figure, series: figure.series.map(hold)} : figure));
};

/** The supervisor's side: merges the figures of all workers, including the counters of ended ones. */
export const createGathering = ({workers, waitMs}: {workers: number; waitMs: number}) => {
	const members = new Set<Member>();
	const neverBack = createHighWater();
	let ended: Figure[] = [];

	return {
		/** Adds a worker that is ready. */
		join: (ask: Ask) => {
			const member: Member = {ask, known: [], requests: createPendingRequests(waitMs)};
			members.add(member);
			return {
				/** @param round null if not requested. */
				report: (round: number | null, figures: Figure[]): void => {
					member.known = figures;
					if (round !== null) {
						member.requests.resolve(round, figures);
					}
				},
				/** The worker has ended. */
				left: (): void => {
					members.delete(member);
					ended = mergeFigures([ended, outliving(member.known)]);
					member.requests.end();
				},
			};
		},
		/** Requests figures from all. A worker that does not answer in time contributes its last known counters. */
		gather: async (isScrape: boolean): Promise<Figure[]> => {
			const asked = [...members];
			const answers = await Promise.all(asked.map(({requests, ask}) => requests.ask((round) => ask(round, isScrape))));
			const answered = asked.filter((member, index) => members.has(member) && answers[index] !== null);
			const others = [...members].filter((member) => !answered.includes(member));
			const merged = mergeFigures([
				...answered.map(({known}) => known),
				...others.map(({known}) => outliving(known)),
				ended,
				workerFigures(workers, answered.length),
			]);
			return neverBack(merged);
		},
	};
};

export type Gathering = ReturnType<typeof createGathering>;
