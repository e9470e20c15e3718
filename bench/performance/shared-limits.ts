import {figure} from './figure.ts';
import {type Installation, type Sample, type Server, visits, warm} from './installation.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

const HOT_LINKS = 1000;
const CONNECTIONS = 64;
const WARMINGS = 4;

/** What a page takes of the processor where its limit is decided by a supervisor, or by Redis, against in memory. */
export const sharedLimits: Measure = {
	name: 'shared-limits',
	measure: async ({installation: open, redis, rounds, seconds}) => {
		const redisUrl = await redis();
		const kinds: ReadonlyArray<[string, Record<string, string>]> = [
			['one', {}],
			['two workers', {WORKERS: '2'}],
			['Redis', {REDIS_URL: redisUrl}],
			['two workers and Redis', {WORKERS: '2', REDIS_URL: redisUrl}],
		];
		const failures: string[] = [];
		const run = (installation: Installation, server: Server) => async () => {
			const sample = await installation.measure([server], {
				connections: CONNECTIONS,
				seconds,
				request: visits(installation, HOT_LINKS),
			});
			installation.expect(sample.answered - sample.bad);
			return sample;
		};
		const installations: Installation[] = [];
		const contestants: Record<string, () => Promise<Sample>> = {};
		for (const [name, env] of kinds) {
			const installation = await open({links: HOT_LINKS});
			const server = await installation.start(env);
			for (let time = 0; time < WARMINGS; time += 1) {
				await warm(installation, server, HOT_LINKS);
			}

			installations.push(installation);
			contestants[name] = run(installation, server);
		}

		const samples = await inTurns<Sample>(rounds, contestants);
		for (const installation of installations) {
			failures.push(...(await installation.failures()));
			await installation.close();
		}

		const cpu = (name: string) => samples(name).map((sample) => sample.cpu);
		const notes = kinds.map(([name]) => `${name}: ${median(cpu(name)).toFixed(1)} µs of CPU a page`);
		return kinds.slice(1).map(([name]) =>
			figure({
				name: `CPU of a page with ${name} ÷ with one process`,
				...ratioOf(cpu(name), cpu('one')),
				bar: {atMost: 1.25},
				notes,
				failures,
			}),
		);
	},
};
