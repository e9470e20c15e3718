import {figure} from './figure.ts';
import {type Installation, type Sample, type Server, visits, warm} from './installation.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

const HOT_LINKS = 1000;
const CONNECTIONS = 64;
const WARMINGS = 6;

/** What a page takes of the processor where two processes share a database, against one alone; without Redis. */
export const twoProcesses: Measure = {
	name: 'two-processes',
	measure: async ({installation: open, rounds, seconds}) => {
		const [alone, shared] = [await open({links: HOT_LINKS}), await open({links: HOT_LINKS})];
		const one = [await alone.start()];
		const two = [await shared.start(), await shared.start()];
		// Two that share a load would compile their code in twice the time, which is none of what is asked here.
		for (let time = 0; time < WARMINGS; time += 1) {
			for (const server of [...one, ...two]) {
				await warm(one.includes(server) ? alone : shared, server, HOT_LINKS);
			}
		}

		const run = (installation: Installation, servers: Server[]) => async () => {
			const sample = await installation.measure(servers, {
				connections: CONNECTIONS,
				seconds,
				request: visits(installation, HOT_LINKS),
			});
			installation.expect(sample.answered - sample.bad);
			return sample;
		};
		const samples = await inTurns<Sample>(rounds, {one: run(alone, one), two: run(shared, two)});
		const failures = [...(await alone.failures()), ...(await shared.failures())];
		await Promise.all([alone.close(), shared.close()]);
		const cpu = (name: string) => samples(name).map((sample) => sample.cpu);
		return [
			figure({
				name: 'CPU of a page on two processes ÷ on one',
				...ratioOf(cpu('two'), cpu('one')),
				bar: {atMost: 1.06},
				notes: ['one', 'two'].map((name) => `${name}: ${median(cpu(name)).toFixed(1)} µs of CPU a page`),
				failures,
			}),
		];
	},
};
