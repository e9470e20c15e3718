import {figure} from './figure.ts';
import {measureBare, samplePage, startBare, visits, warm} from './installation.ts';
import {residentBytes} from './processes.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

const LINKS = 1000;
const CONNECTIONS = 64;

/** The most that a process had while something went on, in MB. */
const most = async (pid: number, work: Promise<unknown>): Promise<number> => {
	let bytes = 0;
	const look = () => {
		bytes = Math.max(bytes, residentBytes(pid));
	};
	const timer = setInterval(look, 50);
	await work;
	look();
	clearInterval(timer);
	return bytes / 1e6;
};

/** Memory of the server's process under load with 1,000 links that are all read; PostgreSQL's is its own matter. */
export const memory: Measure = {
	name: 'memory',
	measure: async ({installation: open, folder, rounds, seconds}) => {
		const installation = await open({links: LINKS});
		const server = await installation.start();
		await warm(installation, server, LINKS);
		const http = await startBare('http', await samplePage(installation, server, folder));
		const shape = {connections: CONNECTIONS, seconds};
		const visitAll = async () => {
			const {answered, bad} = await installation.measure([server], {...shape, request: visits(installation, LINKS)});
			installation.expect(answered - bad);
		};
		const samples = await inTurns<number>(rounds, {
			'node:http': () => most(http.pid, measureBare(http, shape)),
			server: () => most(server.pid, visitAll()),
		});
		const failures = await installation.failures();
		await Promise.all([http.stop(), installation.close()]);
		return [
			figure({
				name: 'memory under load, 1,000 links ÷ node:http',
				...ratioOf(samples('server'), samples('node:http')),
				bar: {atMost: 4},
				notes: ['server', 'node:http'].map((name) => `${name}: ${median(samples(name)).toFixed(0)} MB`),
				failures,
			}),
		];
	},
};
