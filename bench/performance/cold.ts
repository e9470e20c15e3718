import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {rollUp} from '../../src/visits/reports/rollups/roll-up.ts';
import {figure} from './figure.ts';
import {
	type Installation,
	measureBare,
	pathOf,
	type Sample,
	samplePage,
	startBare,
	visits,
	warm,
} from './installation.ts';
import {visit} from './requests.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, quantile, ratioOf} from './statistics.ts';

const TAPPED = 1000;
const RATE = 2000;
const SECONDS = 6;
const CONNECTIONS = 128;

/** Links that nobody has tapped, each read once. */
const UNTAPPED = 20_000;

const p99 = ({latencies}: Sample): number => quantile(latencies, 0.99);

/** Puts the taps of the first links into the counts, as the job of each minute does. */
const rollUpTaps = async (installation: Installation): Promise<void> => {
	await installation.failures();
	const db = createDb(installation.databaseUrl);
	await rollUp(db);
	await closeDb(db);
};

/** The first seconds of a server whose links were tapped before it, and pages whose link is not in memory. */
export const cold: Measure = {
	name: 'cold',
	measure: async ({installation: open, folder, quick, rounds}) => {
		const links = TAPPED + (rounds + 1) * UNTAPPED;
		const installation = await open({links});
		const before = await installation.start();
		await warm(installation, before, TAPPED);
		const page = await samplePage(installation, before, folder);
		await rollUpTaps(installation);

		let read = TAPPED;
		const ask = async (given: {most?: number; rate?: number; request: ReturnType<typeof visits>}): Promise<Sample> => {
			const sample = await installation.measure([before], {connections: 64, seconds: SECONDS, ...given});
			installation.expect(sample.answered - sample.bad);
			return sample;
		};
		const most = quick ? 2000 : UNTAPPED;
		const cpu = await inTurns<Sample>(rounds, {
			hit: () => ask({most, request: visits(installation, TAPPED)}),
			miss: () => {
				const first = read;
				read += most;
				return ask({most, request: (url) => (n) => visit(url, pathOf(installation, first + 1 + n), n)});
			},
		});
		await before.stop();

		const shape = {connections: CONNECTIONS, seconds: SECONDS, rate: RATE};
		const starts = await inTurns<Sample>(rounds, {
			'node:http': async () => {
				const bare = await startBare('http', page);
				const sample = await measureBare(bare, shape);
				await bare.stop();
				return sample;
			},
			server: async () => {
				const server = await installation.start();
				const sample = await installation.measure([server], {...shape, request: visits(installation, TAPPED)});
				installation.expect(sample.answered - sample.bad);
				await server.stop();
				return sample;
			},
		});
		const failures = await installation.failures();
		await installation.close();

		const values = (name: string) => starts(name).map(p99);
		const figures = (name: string) => cpu(name).map((one) => one.cpu);
		const own = values('server');
		return [
			figure({
				name: `p99 of the first ${SECONDS} s at ${RATE}/s, ${TAPPED} links`,
				value: median(own),
				low: Math.min(...own),
				high: Math.max(...own),
				unit: 'ms',
				bar: {atMost: 60},
				notes: [`node:http: ${median(values('node:http')).toFixed(2)} ms`],
				failures,
			}),
			figure({
				name: 'CPU of a page whose link is not in memory ÷ is',
				...ratioOf(figures('miss'), figures('hit')),
				bar: {atMost: 3},
				notes: ['miss', 'hit'].map(
					(name) =>
						`${name}: ${median(figures(name)).toFixed(0)} µs, of which PostgreSQL ${median(cpu(name).map(({database}) => database)).toFixed(0)}`,
				),
			}),
		];
	},
};
