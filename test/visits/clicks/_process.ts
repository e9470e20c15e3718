import type {ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {Agent, request} from 'node:http';
import type {AddressInfo, Server} from 'node:net';
import {createInterface} from 'node:readline';
import {text as textOf} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';
import {closeDb, createDb} from '../../../src/platform/db/db.ts';
import {clickIdOfToken, type MatchToken, matchTokenIn} from '../../../src/visits/matches/open-match.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {binary, dataDirectory, oplink, ready} from '../../helpers/process.ts';
import type {TestService} from '../../helpers/service.ts';

export const adminToken = 'a-token-of-32-characters-or-more';

/** The binary as a process of its own. */
export type Process = {
	url: string;
	child: ChildProcess;
	ended: Promise<unknown>;
	/** Sends SIGTERM, and waits for the end. */
	stop(): Promise<unknown>;
	asService: TestService;
};

/** Starts the binary on a free port and waits until it answers. @param onLog gets each line of its log; else it is shown. */
export const startProcess = async (
	t: ExecutionContext,
	env: Record<string, string>,
	onLog?: (line: string) => void,
	program = binary,
): Promise<Process> => {
	const usual = {PORT: '0', ADMIN_TOKEN: adminToken, TRUSTED_PROXIES: '127.0.0.0/8', LOG_LEVEL: 'warn'};
	const {child, printed} = oplink(t, ['serve'], {...usual, ...env}, {program});
	const ended = once(child, 'close');
	if (onLog === undefined) {
		child.stderr?.pipe(process.stderr);
	} else if (child.stderr !== null) {
		createInterface(child.stderr).on('line', onLog);
	}

	const [, url = ''] = await printed(ready);
	const stop = () => {
		child.kill('SIGTERM');
		return ended;
	};
	// The parts of a service that callers and builders use.
	return {url, child, ended, stop, asService: {url, adminToken} as unknown as TestService};
};

/** The port of a server of this process, which listens until the end of the test. */
export const listening = async (t: Pick<ExecutionContext, 'teardown'>, server: Server): Promise<number> => {
	server.listen(0, '127.0.0.1');
	t.teardown(() => server.close());
	await once(server, 'listening');
	return (server.address() as AddressInfo).port;
};

/** A database and a folder for processes of the binary. */
export const stage = async (t: ExecutionContext) => {
	const database = await createTestDatabase();
	const db = createDb(database.url);
	t.teardown(async () => {
		await closeDb(db);
		await database.drop();
	});
	const folder = await dataDirectory(t);
	return {database, folder, db, env: {DATABASE_URL: database.url, DATA_DIR: folder}};
};

type Page = {status: number; token: string | null};

/** The page of a link; without one, whether the connection was refused or broke before the page was complete. */
const page = (agent: Agent, url: URL, ip: string): Promise<Page | 'refused' | 'broken'> =>
	new Promise((resolve) => {
		const headers = {'X-Forwarded-For': ip, 'User-Agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/137.0 Safari/537.36'};
		const sent = request(url, {agent, headers}, (response) => {
			textOf(response).then(
				(text) => resolve({status: response.statusCode ?? 0, token: matchTokenIn(text)}),
				() => resolve('broken'),
			);
		});
		sent.on('error', ({code}: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : 'broken'));
		sent.end();
	});

/** The result of a load: the number of requested pages, the received tokens, and the number of broken connections. */
export type Load = {sent: number; tokens: string[]; statuses: Record<number, number>; broken: number};

/** The ids of the clicks whose tokens pages have shown. */
export const shownIn = (loads: ReadonlyArray<Pick<Load, 'tokens'>>): string[] =>
	loads.flatMap(({tokens}) => tokens.map((token) => clickIdOfToken(token as MatchToken)));

/** Acts once, when so many pages were answered. @returns whether that is so, given how many were. */
export const onceAnswered = (count: number, act: () => unknown): ((answered: number) => boolean) => {
	let isDone = false;
	return (answered) => {
		if (answered >= count && !isDone) {
			isDone = true;
			act();
		}

		return isDone;
	};
};

type Visiting = {connections: number; keepAlive?: boolean; continues: (answered: number) => boolean};

/** Visits a link over `connections` as long as `continues` returns true. A broken connection ends its visitor. */
export const visitMany = async (url: URL, {connections, continues, keepAlive = true}: Visiting): Promise<Load> => {
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
