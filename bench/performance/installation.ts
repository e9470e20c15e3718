import {mkdtemp, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {Client} from 'pg';
import {compile} from '../../src/platform/db/sql.ts';
import {packageRoot} from '../../src/platform/package-root.ts';
import {clicksInFull} from '../../src/visits/clicks/click-sql.ts';
import {send} from '../../test/helpers/callers.ts';
import type {BenchPostgres} from './database.ts';
import {type Load, load, type Measured} from './load.ts';
import {cpuSeconds, familyOf, startNode, stop} from './processes.ts';
import {IPHONE, visit} from './requests.ts';
import {codeOf, type SeededOrganization, seedLinks, seedOrganizations} from './seed.ts';

export const ADMIN_TOKEN = 'a-token-for-the-benchmarks-of-32-characters';

/** A server in a process of its own. */
export type Server = {url: URL; pid: number; startedAt: number; stop(signal?: NodeJS.Signals): Promise<void>};

/** What a load came to, and what it took of the processor in µs a request; `database`: PostgreSQL's part of it. */
export type Sample = Measured & {rate: number; cpu: number; database: number};

/** A database of its own with organizations and links, the servers on it, and the count of clicks it has to have. */
export type Installation = {
	client: Client;
	databaseUrl: string;
	organizations: SeededOrganization[];
	organization: SeededOrganization;
	start(env?: Record<string, string>): Promise<Server>;
	/** Runs a load on servers of this installation, at once where there are several. */
	measure(servers: Server[], given: Omit<Load, 'request'> & {request(url: URL): Load['request']}): Promise<Sample>;
	/** Clicks that were answered: each has to be stored once. */
	expect(clicks: number): void;
	/** What is wrong with the clicks that are stored; waits for those that are on the way. */
	failures(): Promise<string[]>;
	close(): Promise<void>;
};

export type InstallationGiven = {organizations?: number; links?: number};

/** What the image and the systemd unit start Node with. */
const NODE_FLAGS = ['--max-semi-space-size=4'];

const PATIENCE_MS = 60_000;
const SETTLING_MS = 1000;

export const openInstallation = async (
	folder: string,
	postgres: BenchPostgres,
	{organizations: count = 1, links = 1000}: InstallationGiven = {},
): Promise<Installation> => {
	const {url: databaseUrl, client, drop} = await postgres.create();
	client.on('error', () => {});
	const organizations = await seedOrganizations(client, count);
	const [organization] = organizations;
	if (organization === undefined) {
		throw new Error('an installation has an organization');
	}

	await seedLinks(client, organization, links);
	const servers: Server[] = [];
	let expected = 0;

	const start = async (env: Record<string, string> = {}): Promise<Server> => {
		const dataDir = env['DATA_DIR'] ?? (await mkdtemp(path.join(folder, 'data-')));
		const {child, pid, ready, startedAt} = await startNode(
			[...NODE_FLAGS, path.join(packageRoot, 'bin', 'oplink.js'), 'serve'],
			{
				PORT: '0',
				ADMIN_TOKEN,
				TRUSTED_PROXIES: '127.0.0.0/8',
				LOG_LEVEL: 'fatal',
				DATABASE_URL: databaseUrl,
				DATA_DIR: dataDir,
				...env,
			},
			/ready at \S+:(\d+)/,
		);
		const server = {
			url: new URL(`http://127.0.0.1:${ready[1]}`),
			pid,
			startedAt,
			stop: (signal: NodeJS.Signals = 'SIGTERM') => stop(child, signal),
		};
		servers.push(server);
		return server;
	};

	const stored = async (): Promise<number> => {
		const {rows} = await client.query(
			`SELECT count(*) AS count FROM ${compile(clicksInFull).text} AS clicks WHERE bot_class IS NULL`,
		);
		return Number(rows[0].count);
	};

	return {
		client,
		databaseUrl,
		organizations,
		organization,
		start,
		measure: async (on, {request, connections, ...rest}) => {
			const pids = on.flatMap(({pid}) => familyOf(pid));
			const before = {own: cpuSeconds(pids, null), database: cpuSeconds([], postgres.postmaster)};
			const all = await Promise.all(
				on.map(({url}) => load(url, {...rest, connections: connections / on.length, request: request(url)})),
			);
			await untilIdle(() => cpuSeconds(pids, postgres.postmaster));
			const own = cpuSeconds(pids, null) - before.own;
			const database = cpuSeconds([], postgres.postmaster) - before.database;
			const sum = (part: (one: Measured) => number) => all.reduce((total, one) => total + part(one), 0);
			const answered = sum((one) => one.answered);
			return {
				sent: sum((one) => one.sent),
				answered,
				bad: sum((one) => one.bad),
				seconds: Math.max(...all.map(({seconds}) => seconds)),
				latencies: Float64Array.from(all.flatMap(({latencies}) => [...latencies])).sort(),
				rate: sum((one) => one.answered / one.seconds),
				cpu: ((own + database) * 1e6) / answered,
				database: (database * 1e6) / answered,
			};
		},
		expect: (clicks) => {
			expected += clicks;
		},
		failures: async () => {
			const until = performance.now() + PATIENCE_MS;
			while ((await stored()) < expected && performance.now() < until) {
				await delay(200);
			}

			// One that comes twice may come late.
			await delay(SETTLING_MS);
			const count = await stored();
			return count === expected ? [] : [`${expected} clicks were answered, ${count} are stored`];
		},
		close: async () => {
			await Promise.all(servers.map((server) => server.stop('SIGTERM')));
			await drop();
		},
	};
};

/** A quarter of a second in which less is used of the processor than this has no drain in it. */
const IDLE_MS = 250;
const IDLE_CPU_SECONDS = 0.02;

/** Waits until the clicks that a busy core has left in the journal are in the tables: their cost is the page's, too. */
const untilIdle = async (used: () => number): Promise<void> => {
	for (let last = Number.NEGATIVE_INFINITY, now = used(); now - last >= IDLE_CPU_SECONDS; ) {
		await delay(IDLE_MS);
		[last, now] = [now, used()];
	}
};

/** The path of the n-th link, from 1. */
export const pathOf = ({organization: {orgKey}}: Pick<Installation, 'organization'>, n: number): string =>
	`/${orgKey}/${codeOf(n)}`;

/** Visits of the first `hot` links of an installation, by turns. `tail`: such as `/data`. */
export const visits =
	(installation: Installation, hot: number, tail = '') =>
	(url: URL) =>
	(n: number): string =>
		visit(url, `${pathOf(installation, 1 + (n % hot))}${tail}`, n);

/** Reads the first `hot` links of an installation so that a server has them in memory, and runs its code warm. */
export const warm = async (installation: Installation, server: Server, hot: number): Promise<void> => {
	const {answered, bad} = await installation.measure([server], {
		connections: 16,
		seconds: 600,
		most: hot * 3,
		request: visits(installation, hot),
	});
	installation.expect(answered - bad);
};

/** Writes the headers and the bytes of a page into a file, from which bare servers answer the same. Counts as a click. */
export const samplePage = async (installation: Installation, {url}: Server, folder: string): Promise<string> => {
	const page = await send(url.href, 'GET', pathOf(installation, 1), {
		'User-Agent': IPHONE,
		'Accept-Language': 'en-US,en;q=0.9',
	});
	if (page.status !== 200) {
		throw new Error(`the page is ${page.status}: ${page.text}`);
	}

	installation.expect(1);
	const headers = Object.fromEntries(
		Object.entries(page.headers).filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
	);
	const file = path.join(folder, 'page.json');
	await writeFile(file, JSON.stringify({headers, body: page.text}));
	return file;
};

/** A bare server that answers the sampled page. */
export const startBare = async (kind: 'http' | 'koa', file: string, port = 0): Promise<Server> => {
	const {child, pid, ready, startedAt} = await startNode(
		[path.join(packageRoot, 'bench', 'performance', 'bare.js'), kind, file, String(port)],
		{},
		/ready at (\S+)/,
	);
	return {
		url: new URL(ready[1] ?? ''),
		pid,
		startedAt,
		stop: (signal: NodeJS.Signals = 'SIGTERM') => stop(child, signal),
	};
};

/** As `Installation.measure`, of a bare server. */
export const measureBare = async ({url, pid}: Server, given: Omit<Load, 'request'>): Promise<Sample> => {
	const before = cpuSeconds([pid], null);
	const measured = await load(url, {...given, request: (n) => visit(url, '/bare/page', n)});
	const used = cpuSeconds([pid], null) - before;
	return {...measured, rate: measured.answered / measured.seconds, cpu: (used * 1e6) / measured.answered, database: 0};
};
