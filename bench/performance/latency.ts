import {send} from '../../test/helpers/callers.ts';
import {type Figure, figure} from './figure.ts';
import {
	ADMIN_TOKEN,
	type Installation,
	measureBare,
	type Sample,
	type Server,
	samplePage,
	startBare,
	visits,
	warm,
} from './installation.ts';
import {unpinned} from './processes.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, quantile, ratioOf} from './statistics.ts';

const RATES = [3000, 5000];
/** How much of what it can answer a server is asked for, where it cannot answer so many. */
const SHARE = 0.6;
const CONNECTIONS = 128;
const HOT_LINKS = 1000;

type Delay = {p99: number; max: number};

/** How long timers of the server waited since this was last asked, in ms: no turn of its event loop took longer. */
const loopDelay = async ({url}: Server): Promise<Delay> => {
	const {text} = await send(url.href, 'GET', '/metrics', {Authorization: `Bearer ${ADMIN_TOKEN}`});
	const of = (name: string) =>
		1000 * Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(text)?.[1]);
	return {p99: of('p99'), max: of('max')};
};

type Parts = {installation: Installation; server: Server; http: Server; rounds: number; seconds: number; rate: number};

/** The figures at one rate, in turns with bare node:http. */
const figuresAt = async ({installation, server, http, rounds, seconds, rate}: Parts): Promise<Figure[]> => {
	const shape = {connections: CONNECTIONS, seconds, rate};
	const delays: Delay[] = [];
	const samples = await inTurns<Sample>(rounds, {
		'node:http': () => measureBare(http, shape),
		page: async () => {
			await loopDelay(server);
			const sample = await installation.measure([server], {...shape, request: visits(installation, HOT_LINKS)});
			installation.expect(sample.answered - sample.bad);
			delays.push(await loopDelay(server));
			return sample;
		},
	});
	const failures = await installation.failures();
	const at = (name: string, part: number) => samples(name).map(({latencies}) => quantile(latencies, part));
	const reached = (name: string) => median(samples(name).map((one) => one.rate));
	const notes = ['node:http', 'page'].map(
		(name) =>
			`${name}: p50 ${median(at(name, 0.5)).toFixed(2)} ms, p99 ${median(at(name, 0.99)).toFixed(2)} ms at ${Math.round(reached(name))}/s`,
	);
	const delay = (part: keyof Delay) => median(delays.map((one) => one[part])).toFixed(1);
	notes.push(`all cores for all; event loop: timers waited ${delay('p99')} ms at p99, ${delay('max')} ms at most`);
	if (Math.min(reached('node:http'), reached('page')) < rate * 0.95) {
		notes.push(`the ${rate}/s were not reached: requests waited for a connection`);
	}

	return [
		figure({
			name: `p99 at ${rate}/s ÷ node:http`,
			...ratioOf(at('page', 0.99), at('node:http', 0.99)),
			bar: {atMost: 3},
			notes,
			failures,
		}),
		figure({name: `p50 at ${rate}/s ÷ node:http`, ...ratioOf(at('page', 0.5), at('node:http', 0.5))}),
	];
};

/**
 * How long pages take where 3,000 and 5,000 a second are due, or what a machine that is too slow or too busy for them can
 * answer. Nothing is pinned: on a shared core the drain into PostgreSQL would be measured.
 */
export const latency: Measure = {
	name: 'latency',
	measure: ({installation: open, folder, postmaster, rounds, seconds}) =>
		unpinned(postmaster, async () => {
			const installation = await open({links: HOT_LINKS});
			const server = await installation.start();
			await warm(installation, server, HOT_LINKS);
			const http = await startBare('http', await samplePage(installation, server, folder));
			const flatOut = await installation.measure([server], {
				connections: CONNECTIONS,
				seconds,
				request: visits(installation, HOT_LINKS),
			});
			installation.expect(flatOut.answered - flatOut.bad);
			const figures: Figure[] = [];
			const most = Math.floor(flatOut.rate * SHARE);
			for (const rate of new Set(RATES.map((wanted) => Math.min(wanted, most)))) {
				figures.push(...(await figuresAt({installation, server, http, rounds, seconds, rate})));
			}

			await Promise.all([http.stop(), installation.close()]);
			return figures;
		}),
};
