import {AggregatorRegistry} from 'prom-client';
import type {Figures} from '../../platform/metrics/snapshot.ts';
import {createPendingRequests} from '../../platform/pending-requests.ts';
import {workerFigures} from './read-figures.ts';

/** Requests a worker's figures, which arrive with the number of the round. `isScrape`: see `scrapeFigures`. */
type Ask = (round: number, isScrape: boolean) => void;

type Member = {ask: Ask; known: Figures; requests: ReturnType<typeof createPendingRequests<Figures>>};

/** Merges the figures of several processes, by name and labels, as the aggregator of each metric says. */
export const mergeFigures = (processes: readonly Figures[]): Promise<Figures> =>
	AggregatorRegistry.aggregate([...processes]).getMetricsAsJSON();

/** Counters, and times of last actions, outlive their process; other gauges do not. */
const outlives = ({name, type}: Figures[number]): boolean =>
	// prom-client declares an enumeration of numbers; these are the names.
	String(type) !== 'gauge' || name.endsWith('_timestamp_seconds');

/**
 * Keeps counters from decreasing: the sum of fractions depends on their order in its last digit, and Prometheus would
 * take a smaller value for a restart.
 */
const createHighWater = () => {
	const highest = new Map<string, number>();
	const hold = (name: string, sample: Figures[number]['values'][number]) => {
		// A histogram's samples have names of their own.
		const {metricName = name, labels} = sample as typeof sample & {metricName?: string};
		const series = JSON.stringify([metricName, labels]);
		const value = Math.max(sample.value, highest.get(series) ?? sample.value);
		highest.set(series, value);
		return {...sample, value};
	};
	return (figures: Figures): Figures =>
		figures.map((figure) =>
			outlives(figure) ? {...figure, values: figure.values.map((sample) => hold(figure.name, sample))} : figure,
		);
};

/** The supervisor's side: merges the figures of all workers, including the counters of ended ones. */
export const createFigureCollector = ({workers, waitMs}: {workers: number; waitMs: number}) => {
	const members = new Set<Member>();
	const keepHighest = createHighWater();
	let ended: Promise<Figures> = Promise.resolve([]);

	return {
		/** Adds a worker that is ready. */
		join: (ask: Ask) => {
			const member: Member = {ask, known: [], requests: createPendingRequests(waitMs)};
			members.add(member);
			return {
				/** @param round null if not requested. */
				report: (round: number | null, figures: Figures): void => {
					member.known = figures;
					if (round !== null) {
						member.requests.resolve(round, figures);
					}
				},
				/** The worker has ended. */
				left: (): void => {
					members.delete(member);
					const before = ended;
					ended = before.then((kept) => mergeFigures([kept, member.known.filter(outlives)]));
					member.requests.end();
				},
			};
		},
		/** Requests figures from all. A worker that does not answer in time contributes its last known counters. */
		gather: async (isScrape: boolean): Promise<Figures> => {
			const asked = [...members];
			const answers = await Promise.all(asked.map(({requests, ask}) => requests.ask((round) => ask(round, isScrape))));
			const answered = asked.filter((member, index) => members.has(member) && answers[index] !== null);
			const others = [...members].filter((member) => !answered.includes(member));
			// All lists are of this moment: a worker that leaves during the merge counts once.
			const merged = await Promise.all([
				...answered.map(({known}) => known),
				...others.map(({known}) => known.filter(outlives)),
				ended,
				workerFigures(workers, answered.length),
			]).then(mergeFigures);
			return keepHighest(merged);
		},
	};
};

export type FigureCollector = ReturnType<typeof createFigureCollector>;
