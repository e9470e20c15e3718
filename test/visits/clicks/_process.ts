import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {Agent, request} from 'node:http';
import {createInterface} from 'node:readline';
import type {ExecutionContext} from 'ava';
import {binary} from '../../helpers/process.ts';
import type {TestService} from '../../helpers/service.ts';

export const adminToken = 'a-token-of-32-characters-or-more';

/** The binary as a process of its own. */
export type Process = {url: string; child: ChildProcess; ended: Promise<unknown>; asService: TestService};

/** Starts the binary on a free port and waits until it answers. @param onLog gets each line of its log; else it is shown. */
export const startProcess = async (
	t: ExecutionContext,
	env: Record<string, string>,
	onLog?: (line: string) => void,
): Promise<Process> => {
	const child = spawn(process.execPath, [binary, 'serve'], {
		env: {
			PATH: process.env.PATH,
			HOME: process.env.HOME,
			PORT: '0',
			ADMIN_TOKEN: adminToken,
			TRUSTED_PROXIES: '127.0.0.0/8',
			LOG_LEVEL: 'warn',
			...env,
		},
		stdio: ['ignore', 'pipe', onLog === undefined ? 'inherit' : 'pipe'],
	});
	if (onLog !== undefined && child.stderr !== null) {
		createInterface(child.stderr).on('line', onLog);
	}

	t.teardown(() => child.kill('SIGKILL'));
	const ended = once(child, 'close');
	let printed = '';
	for await (const chunk of child.stdout ?? []) {
		printed += chunk;
		const [, url] = /ready at (\S+)/.exec(printed) ?? [];
		if (url !== undefined) {
			child.stdout?.resume();
			// The parts of a service that callers and builders use.
			return {url, child, ended, asService: {url, adminToken} as unknown as TestService};
		}
	}

	throw new Error(`the process ended: ${printed}`);
};

type Page = {status: number; token: string | null};

/** The page of a link; without one, whether the connection was refused or broke before the page was complete. */
const page = (agent: Agent, url: URL, ip: string): Promise<Page | 'refused' | 'broken'> =>
	new Promise((resolve) => {
		const headers = {'X-Forwarded-For': ip, 'User-Agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/137.0 Safari/537.36'};
		const sent = request(url, {agent, headers}, (response) => {
			let text = '';
			response.setEncoding('utf8');
			response.on('data', (chunk: string) => {
				text += chunk;
			});
			response.on('error', () => resolve('broken'));
			response.on('close', () =>
				resolve(
					response.complete
						? {status: response.statusCode ?? 0, token: /"token":"(opl_\w{32})"/.exec(text)?.[1] ?? null}
						: 'broken',
				),
			);
		});
		sent.on('error', ({code}: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : 'broken'));
		sent.end();
	});

/** The result of a load: the number of requested pages, the received tokens, and the number of broken connections. */
export type Load = {sent: number; tokens: string[]; statuses: Record<number, number>; broken: number};

/** Visits a link over `connections` as long as `continues` returns true. A broken connection ends its visitor. */
export const visitMany = async (
	url: URL,
	{
		connections,
		continues,
		keepAlive = true,
	}: {connections: number; keepAlive?: boolean; continues: (answered: number) => boolean},
): Promise<Load> => {
	const load: Load = {sent: 0, tokens: [], statuses: {}, broken: 0};
	let answered = 0;
	const visitor = async (index: number) => {
		const agent = new Agent({keepAlive, maxSockets: 1});
		while (continues(answered)) {
			load.sent += 1;
			const shown = await page(agent, url, `10.1.${index}.${load.sent % 250}`);
			if (shown === 'refused' || shown === 'broken') {
				load.broken += Number(shown === 'broken');
				break;
			}

			answered += 1;
			load.statuses[shown.status] = (load.statuses[shown.status] ?? 0) + 1;
			if (shown.token !== null) {
				load.tokens.push(shown.token);
			}
		}

		agent.destroy();
	};
	await Promise.all(Array.from({length: connections}, (_, index) => visitor(index)));
	return load;
};
