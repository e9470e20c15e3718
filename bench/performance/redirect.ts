import {figure} from './figure.ts';
import {measureBare, type Sample, samplePage, startBare, visits, warm} from './installation.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

const HOT_LINKS = 1000;
const CONNECTIONS = 64;

const noteOf = (name: string, samples: Sample[]): string =>
	`${name}: ${Math.round(median(samples.map(({rate}) => rate)))}/s, ${median(samples.map(({cpu}) => cpu)).toFixed(1)} µs of CPU a request, ` +
	`of which PostgreSQL ${median(samples.map(({database}) => database)).toFixed(1)}`;

/**
 * The redirect page and `/data` against bare node:http and bare Koa that answer the page's bytes. By requests a second
 * on the one core, and by what a request takes of the processor, PostgreSQL's share included, which other work on the
 * machine changes less.
 */
export const redirect: Measure = {
	name: 'redirect',
	measure: async ({installation: open, folder, rounds, seconds}) => {
		const installation = await open({links: HOT_LINKS});
		const server = await installation.start();
		await warm(installation, server, HOT_LINKS);
		const file = await samplePage(installation, server, folder);
		const [http, koa] = [await startBare('http', file), await startBare('koa', file)];
		const shape = {connections: CONNECTIONS, seconds};
		const failures: string[] = [];
		const ours = (tail: string) => async () => {
			const sample = await installation.measure([server], {...shape, request: visits(installation, HOT_LINKS, tail)});
			installation.expect(sample.answered - sample.bad);
			if (sample.bad > 0) {
				failures.push(`${sample.bad} of ${sample.answered} answers were no 200`);
			}

			return sample;
		};
		const samples = await inTurns<Sample>(rounds, {
			'node:http': () => measureBare(http, shape),
			page: ours(''),
			Koa: () => measureBare(koa, shape),
			'/data': ours('/data'),
		});
		failures.push(...(await installation.failures()));
		await Promise.all([http.stop(), koa.stop(), installation.close()]);

		const rates = (name: string) => samples(name).map(({rate}) => rate);
		const cpu = (name: string) => samples(name).map((sample) => sample.cpu);
		const notes = ['node:http', 'Koa', 'page', '/data'].map((name) => noteOf(name, samples(name)));
		return [
			figure({
				name: 'redirect ÷ node:http, requests/s',
				...ratioOf(rates('page'), rates('node:http')),
				bar: {atLeast: 0.55},
				notes,
				failures,
			}),
			figure({name: 'redirect ÷ node:http, by CPU', ...ratioOf(cpu('node:http'), cpu('page')), bar: {atLeast: 0.55}}),
			figure({name: 'Koa ÷ node:http, requests/s', ...ratioOf(rates('Koa'), rates('node:http'))}),
			figure({name: 'redirect ÷ Koa, requests/s', ...ratioOf(rates('page'), rates('Koa'))}),
			figure({name: '/data ÷ redirect, requests/s', ...ratioOf(rates('/data'), rates('page')), bar: {atLeast: 1.1}}),
			figure({name: '/data ÷ redirect, by CPU', ...ratioOf(cpu('page'), cpu('/data')), bar: {atLeast: 1.1}}),
		];
	},
};
