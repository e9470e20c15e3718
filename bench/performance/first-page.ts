import {mkdtemp} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {send} from '../../test/helpers/callers.ts';
import {freePort} from '../../test/setup/free-port.ts';
import {figure} from './figure.ts';
import {pathOf, type Server, samplePage, startBare} from './installation.ts';
import {ANDROID} from './requests.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

/** Asks until the page is there. @returns ms since the process was begun. */
const untilPage = async (port: number, page: string, starting: Promise<Server>): Promise<number> => {
	for (;;) {
		const status = await send(`http://127.0.0.1:${port}`, 'GET', page, {'User-Agent': ANDROID}).then(
			(answer) => answer.status,
			() => 0,
		);
		const now = performance.now();
		if (status === 200) {
			const server = await starting;
			await server.stop();
			return now - server.startedAt;
		}

		await delay(1);
	}
};

/** From the start of the process to the first page, where the database is up and migrated. */
export const firstPage: Measure = {
	name: 'first-page',
	measure: async ({installation: open, folder, quick}) => {
		const installation = await open({links: 1000});
		const server = await installation.start();
		const file = await samplePage(installation, server, folder);
		await server.stop();
		const dataDir = await mkdtemp(path.join(folder, 'data-'));
		const samples = await inTurns<number>(quick ? 3 : 9, {
			'node:http': async () => {
				const port = await freePort();
				return untilPage(port, '/', startBare('http', file, port));
			},
			server: async () => {
				const port = await freePort();
				installation.expect(1);
				const starting = installation.start({PORT: String(port), DATA_DIR: dataDir});
				return untilPage(port, pathOf(installation, 1), starting);
			},
		});
		const failures = await installation.failures();
		await installation.close();
		return [
			figure({
				name: 'start to first page ÷ node:http',
				...ratioOf(samples('server'), samples('node:http')),
				bar: {atMost: 3.5},
				notes: ['server', 'node:http'].map((name) => `${name}: ${median(samples(name)).toFixed(0)} ms`),
				failures,
			}),
		];
	},
};
