import {Agent, request} from 'node:http';
import {noneOf} from './figure.ts';
import {ADMIN_TOKEN, pathOf, type Server} from './installation.ts';
import {ADDRESSES, addressOf} from './requests.ts';
import {codeOf} from './seed.ts';
import type {Measure} from './stage.ts';

/** Links that are written at the same time, each by one writer at a time. */
const LANES = 20;

type Asked = {method: 'GET' | 'PATCH'; path: string; n: number; body?: object};

/** One request over a kept connection. @returns the parsed answer. @throws for any status but 200. */
const ask = (agent: Agent, {url}: Server, {method, path, n, body}: Asked): Promise<Record<string, unknown>> =>
	new Promise((resolve, reject) => {
		const text = body === undefined ? '' : JSON.stringify(body);
		const headers: Record<string, string> = {
			'X-Forwarded-For': addressOf(n % ADDRESSES),
			Authorization: `Bearer ${ADMIN_TOKEN}`,
			...(body === undefined ? {} : {'Content-Type': 'application/json'}),
			'Content-Length': String(Buffer.byteLength(text)),
		};
		const sent = request(new URL(path, url), {method, agent, headers}, (response) => {
			let answer = '';
			response.setEncoding('utf8');
			response.on('data', (chunk: string) => {
				answer += chunk;
			});
			response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(answer)) : reject(new Error(answer))));
		});
		sent.on('error', reject);
		sent.end(text);
	});

/** Edits links on one of two processes, and asks both as soon as the edit is answered. */
export const stale: Measure = {
	name: 'stale',
	measure: async ({installation: open, quick}) => {
		const writes = quick ? 1000 : 10_000;
		const installation = await open({links: LANES});
		const {client, organization} = installation;
		const servers: [Server, Server] = [await installation.start(), await installation.start()];
		const {rows} = await client.query('SELECT id, short_code FROM links');
		const idOf = new Map<string, string>(rows.map((row) => [row.short_code, row.id]));
		const agent = new Agent({keepAlive: true});
		let [old, done, asked] = [0, 0, 0];
		const lane = async (number: number): Promise<void> => {
			const edit = `/admin/organizations/${organization.id}/links/${idOf.get(codeOf(number))}`;
			while (done < writes) {
				done += 1;
				const n = done;
				const path = `/version/${n}`;
				await ask(agent, servers[n % 2 === 0 ? 0 : 1], {method: 'PATCH', path: edit, n, body: {path}});
				const read = {method: 'GET', path: `${pathOf(installation, number)}/data`, n} as const;
				const answers = await Promise.all(servers.map((server) => ask(agent, server, read)));
				asked += answers.length;
				old += answers.filter((answer) => answer['path'] !== path).length;
			}
		};
		const began = performance.now();
		await Promise.all(Array.from({length: LANES}, (_, index) => lane(index + 1)));
		const took = (performance.now() - began) / 1000;
		agent.destroy();
		installation.expect(asked);
		const failures = await installation.failures();
		await installation.close();
		return [
			noneOf(`stale answers in ${done.toLocaleString('en')} writes on two processes`, old, {
				unit: 'answers',
				notes: [`${asked} answers were looked at; ${Math.round(done / took)} writes/s with both reads`],
				failures: [...failures, ...(old === 0 ? [] : [`${old} answers were of before the write`])],
			}),
		];
	},
};
