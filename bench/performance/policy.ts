import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {figure} from './figure.ts';
import {type Sample, type Server, visits, warm} from './installation.ts';
import {ADDRESSES, addressOf, post} from './requests.ts';
import type {Measure} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

const HOSTS = 100_000;
const HOT_LINKS = 1000;

/** What a list of hosts costs a page and `POST /links`: two servers of one database, one of them with a list. */
export const policy: Measure = {
	name: 'policy',
	measure: async ({installation: open, folder, rounds, seconds}) => {
		// A key may write 100 links a second.
		const installation = await open({links: HOT_LINKS, organizations: 200});
		const {organizations} = installation;
		const hosts = Array.from({length: HOSTS}, (_, index) => `0.0.0.0 host-${index}.bad.example`);
		await writeFile(path.join(folder, 'hosts.txt'), `${hosts.join('\n')}\n`);
		const file = path.join(folder, 'policy.json');
		await writeFile(file, JSON.stringify([{name: 'List', file: 'hosts.txt', format: 'hosts', action: 'block'}]));
		const [without, listed] = [await installation.start(), await installation.start({LINK_POLICY_FILE: file})];
		const failures: string[] = [];
		let asked = 0;
		const page = (server: Server) => async (): Promise<Sample> => {
			const sample = await installation.measure([server], {
				connections: 64,
				seconds,
				request: visits(installation, HOT_LINKS),
			});
			installation.expect(sample.answered - sample.bad);
			return sample;
		};
		const create = (server: Server) => (): Promise<Sample> =>
			installation.measure([server], {
				connections: 8,
				seconds,
				request: (url) => () => {
					asked += 1;
					const body = {path: '/product/42', fallbackUrl: `https://shop.example.com/${asked}`};
					const authorization = `Authorization: Bearer ${organizations[asked % organizations.length]?.serverKey}\r\n`;
					return post(url, '/links', addressOf(asked % ADDRESSES), body, authorization);
				},
				isGood: (_n, status) => {
					if (status !== 201) {
						failures.push(`POST /links was answered with ${status}`);
					}

					return status === 201;
				},
			});
		await Promise.all([warm(installation, without, HOT_LINKS), warm(installation, listed, HOT_LINKS)]);
		// Creates are compiled after some thousands: one round is not enough for them.
		for (const server of [without, listed, without, listed]) {
			await create(server)();
		}

		const samples = await inTurns<Sample>(rounds, {
			page: page(without),
			'page with a list': page(listed),
			'POST /links': create(without),
			'POST /links with a list': create(listed),
		});
		const cpu = (name: string) => samples(name).map(({cpu, database}) => cpu - database);
		failures.push(...(await installation.failures()));
		await installation.close();
		return ['page', 'POST /links'].map((name) =>
			figure({
				name: `${name} with a list of ${HOSTS.toLocaleString('en')} hosts ÷ without, CPU of the server`,
				...ratioOf(cpu(`${name} with a list`), cpu(name)),
				bar: {atMost: 1.05},
				notes: [`${median(cpu(`${name} with a list`)).toFixed(1)} and ${median(cpu(name)).toFixed(1)} µs`],
				failures: [...new Set(failures)],
			}),
		);
	},
};
