import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import test from 'ava';
import {Redis} from 'ioredis';
import {createClock} from '../../../src/platform/clock.ts';
import {limits} from '../../../src/platform/config/limits.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {type IdentityProvider, startIdentityProvider} from '../../fakes/identity-provider/identity-provider.ts';
import {organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, anonymous, send} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {databaseOf} from '../../helpers/database.ts';
import {createRedisServer, until} from '../../helpers/redis-server.ts';
import {startedIn} from '../../helpers/started.ts';
import {redisOfOwn, startWorkers, type Workers} from '../../helpers/workers.ts';

/** Statuses of concurrent requests, and the milliseconds from the first request to the last answer. */
type Burst = {statuses: number[]; lasted: number};

type Asked = {method: string; path: string; headers?: Record<string, string>; body?: unknown};

/** Enough connections for several per worker. */
const CONNECTIONS = 16;

const requestText = ({method, path, headers = {}, body}: Asked): string => {
	const text = body === undefined ? '' : JSON.stringify(body);
	const lines = Object.entries({
		Host: 'localhost',
		...headers,
		...(body === undefined
			? {}
			: {'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text))}),
	}).map(([name, value]) => `${name}: ${value}\r\n`);
	return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
};

/**
 * The same request many times at once, written without waiting for answers. Hundreds arrive within a moment, also on a
 * busy machine, where a usual client would need seconds.
 */
const burst = async (url: string, count: number, asked: Asked): Promise<Burst> => {
	const {hostname, port} = new URL(url);
	const sockets = Array.from({length: CONNECTIONS}, () => connect(Number(port), hostname).setEncoding('latin1'));
	await Promise.all(sockets.map((socket) => once(socket, 'connect')));
	const text = requestText({...asked, headers: {Host: `localhost:${port}`, ...asked.headers}});
	const started = performance.now();
	const statuses = await Promise.all(
		sockets.map(async (socket, index) => {
			const share = Math.floor(count / CONNECTIONS) + (index < count % CONNECTIONS ? 1 : 0);
			socket.write(text.repeat(share));
			let received = '';
			const found = () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
			for await (const chunk of share === 0 ? [] : socket) {
				received += chunk;
				if (found().length === share) {
					break;
				}
			}

			return found();
		}),
	);
	const lasted = performance.now() - started;
	for (const socket of sockets) {
		socket.destroy();
	}

	return {statuses: statuses.flat(), lasted};
};

type World = {workers: Workers; provider: IdentityProvider; acme: TestOrganization};

const bearer = (credential: string) => ({Authorization: `Bearer ${credential}`});

/** A request under each limit of contract/requests 13, of an address, and with a key, that nobody else has. */
const rows: Record<keyof typeof limits, (world: World) => Promise<Asked> | Asked> = {
	resolution: async ({acme}) => {
		const {body} = await acme.server.post('/links', {path: '/sale'});
		return {method: 'GET', path: new URL(body.url).pathname};
	},
	match: () => ({method: 'POST', path: '/match', body: {}}),
	// Limits precede validation (contract/requests 4), and the refused requests need no database.
	linkReads: ({acme}) => ({method: 'GET', path: '/links?limit=none', headers: bearer(acme.serverKey)}),
	linkWrites: ({acme}) => ({method: 'POST', path: '/links', headers: bearer(acme.serverKey), body: {}}),
	sdkDevices: ({acme}) => ({method: 'POST', path: '/sdk/session', headers: bearer(acme.clientKey), body: {}}),
	sdkEvents: ({acme}) => ({method: 'POST', path: '/sdk/events', headers: bearer(acme.clientKey), body: {}}),
	sdkLinks: ({acme}) => ({method: 'POST', path: '/sdk/links', headers: bearer(acme.clientKey), body: {}}),
	portal: () => ({method: 'GET', path: '/portal/billing/pricing'}),
	documents: () => ({method: 'GET', path: '/docs'}),
	webhooks: () => ({method: 'POST', path: '/webhooks/idp', body: {filler: 'x'.repeat(20_000)}}),
	reports: () => ({method: 'POST', path: '/report', body: {}}),
	regenerateKey: async ({provider}) => {
		// A session of an organization that is not mirrored: its limit precedes the lookup.
		const user = provider.user({});
		const organization = provider.organization({name: 'Acme'});
		provider.member({organization, user, role: 'owner'});
		const headers = bearer(await provider.token({user, organization}));
		return {method: 'POST', path: '/portal/api-keys/client/regenerate', headers, body: {}};
	},
};

/**
 * On a busy machine a burst may take longer than a second, in which more is right, and Redis longer than it is waited
 * for, where the supervisor goes on by itself.
 */
const ATTEMPTS = 5;

const plans = JSON.parse(readFileSync(path.join(packageRoot, 'config', 'plans.json'), 'utf8'));
const raised = {...plans.SCALE, limits: {sdkDevices: {max: 90, seconds: 60}}};
const plansFile = path.join(mkdtempSync(path.join(tmpdir(), 'oplink-plans-')), 'plans.json');
writeFileSync(plansFile, JSON.stringify({...plans, RAISED: raised}));
test.after.always(() => rmSync(path.dirname(plansFile), {recursive: true}));

for (const {name, env} of [
	{name: 'without Redis', env: {}},
	{name: 'with Redis', env: {REDIS_URL: redisOfOwn(1)}},
]) {
	let workers: Workers;
	let provider: IdentityProvider;
	const outages = () => [...workers.stderr().matchAll(/Redis (is unavailable; enforcing|is back; sharing)/g)].length;
	test.serial.before(async () => {
		provider = await startIdentityProvider({clock: createClock(0)});
		const abuse = {ABUSE_CONTACT: 'mailto:abuse@example.com'};
		workers = await startWorkers({...provider.env, ...env, ...abuse, PLANS_FILE: plansFile});
	});
	test.after.always(async () => {
		await workers?.stop();
		await provider?.stop();
	});

	test.serial(`two workers ${name}: of a burst a plan's own limit admits that, to the request`, async (t) => {
		const acme = await organization(workers.service, {plan: 'RAISED'});
		const asked = await rows.sdkDevices({workers, provider, acme});
		const before = outages();
		const {statuses} = await burst(workers.url, 120, asked);
		if (before === outages()) {
			t.is(statuses.filter((status) => status !== 429).length, 90);
		} else {
			t.pass('Redis was away for a moment, and each machine counted by itself');
		}
	});

	for (const limit of Object.values(limits)) {
		test.serial(`two workers ${name}: of a burst ${limit.name} admits the limit, to the request`, async (t) => {
			const windowMs = limit.windowSeconds * 1000;
			for (let attempt = 1, isOver = false; !isOver && attempt <= ATTEMPTS; attempt += 1) {
				const acme = await organization(workers.service);
				const asked = await rows[limit.name]({workers, provider, acme});
				const visitor = anonymous(workers.service);
				const headers = {'X-Forwarded-For': visitor.address, ...asked.headers};
				const before = outages();
				const {statuses, lasted} = await burst(workers.url, Math.ceil(limit.max * 1.2) + 40, {...asked, headers});
				const admitted = statuses.filter((status) => status !== 429).length;
				t.log(`${admitted} of ${statuses.length} in ${Math.round(lasted)} ms`, new Set(statuses));
				await visitor.get('/health/ready');
				if (before === outages()) {
					t.true(admitted >= limit.max);
					t.true(admitted <= limit.max * Math.ceil(lasted / windowMs));
					isOver = lasted < windowMs;
				}
			}
		});
	}
}

const {max} = limits.match;

/** A burst of matches of one address, over both workers. */
const matches = async ({url}: Workers, address: string) => {
	const headers = {'X-Forwarded-For': address};
	const {statuses} = await burst(url, 2 * max, {method: 'POST', path: '/match', headers, body: {}});
	return statuses.filter((status) => status === 200).length;
};

test('a worker that is replaced takes no window along, and waits agree between workers', async (t) => {
	const workers = await startedIn(t, startWorkers());
	const caller = anonymous(workers.service);
	t.is(await matches(workers, caller.address), max);
	const [victim = 0] = workers.workers();
	process.kill(victim, 'SIGKILL');
	await workers.printed(/another one takes its place[\s\S]*"msg":"ready"/);
	t.is(await matches(workers, caller.address), 0);
	const began = performance.now();
	const refused = Array.from({length: 12}, () => caller.post('/match', {}, {Connection: 'close'}));
	const waits = (await Promise.all(refused)).map(({body}) => Number(/(\d+) second/.exec(body.message)?.[1]));
	const lasted = Math.ceil((performance.now() - began) / 1000);
	t.true(Math.max(...waits) - Math.min(...waits) <= lasted, String(waits));
});

test('a hanging supervisor delays no request', async (t) => {
	const workers = await startWorkers();
	t.teardown(async () => {
		workers.child.kill('SIGCONT');
		await workers.stop();
	});
	const caller = anonymous(workers.service);
	// The supervisor hands connections out, so this one is kept.
	t.is((await caller.post('/match', {})).status, 200);
	workers.child.kill('SIGSTOP');
	t.is((await caller.post('/match', {})).status, 200);
});

const turnings: Array<
	[name: string, fail: (redis: Redis) => Promise<unknown>, mend: (redis: Redis) => Promise<unknown>]
> = [
	['full', (redis) => redis.config('SET', 'maxmemory', '1'), (redis) => redis.config('SET', 'maxmemory', '0')],
	['read-only', (redis) => redis.replicaof('127.0.0.1', 1), (redis) => redis.replicaof('NO', 'ONE')],
];

for (const [name, fail, mend] of turnings) {
	test(`two workers on a Redis that is ${name}: limits hold across them, and readiness and doctor name it`, async (t) => {
		const server = await createRedisServer(t);
		await server.start();
		const workers = await startedIn(t, startWorkers({REDIS_URL: `redis://127.0.0.1:${server.port}`}));
		const {service} = workers;
		const untilRedisIs = async (state: 'ok' | 'unavailable'): Promise<void> => {
			const {status, body} = await anonymous(service).get('/health/ready');
			t.is(status, 200);
			return body.checks.redis === state ? undefined : untilRedisIs(state);
		};
		const redis = new Redis({port: server.port, host: '127.0.0.1'});
		t.teardown(() => redis.disconnect());
		await untilRedisIs('ok');
		await fail(redis);
		await untilRedisIs('unavailable');
		const during = anonymous(workers.service).address;
		t.is(await matches(workers, during), max);
		t.is(await matches(workers, during), 0);
		const {body} = await admin(service).get('/admin/doctor');
		const finding = body.findings.find(({check}: {check: string}) => check === 'redis.reachable');
		t.is(finding?.status, 'fail');
		await mend(redis);
		await untilRedisIs('ok');
	});
}

test('two workers without the Redis that is configured: limits hold across them', async (t) => {
	const workers = await startedIn(t, startWorkers({REDIS_URL: 'redis://127.0.0.1:1'}));
	t.is(await matches(workers, anonymous(workers.service).address), max);
	const {status, body} = await anonymous(workers.service).get('/health/ready');
	t.deepEqual([status, body.checks.redis], [200, 'unavailable']);
	t.is([...workers.stderr().matchAll(/Redis is unavailable; enforcing/g)].length, 1);
});

/** How long a process answers from memory after it last heard PostgreSQL (docs/internals.md). */
const TRUST_MS = 2500;

test('two workers without Redis answer known links from memory while PostgreSQL is unavailable to both', async (t) => {
	const database = await databaseOf(t);
	const {line, url: through} = await openDatabaseLine(database.url);
	t.teardown(line.close);
	const {url, service, stop} = await startWorkers({DATABASE_URL: through});
	t.teardown(stop);
	const acme = await organization(service);
	const made = await acme.operator.post('/links', {path: '/old'});
	const {pathname} = new URL(made.body.url);
	/** Asks both workers, which take connections in turn. */
	const answers = async () => {
		const both = [1, 2].map(() => send(url, 'GET', `${pathname}/data`, {Connection: 'close'}));
		return (await Promise.all(both)).map(({status, body}) => `${status} ${body.path}`);
	};
	const known = ['200 /old', '200 /old'];
	const readiness = async () => (await send(url, 'GET', '/health/ready', {Connection: 'close'})).status;

	// They know each other after some heartbeats by the machine's clock.
	const knowing = performance.now();
	await until(async () => {
		t.deepEqual(await answers(), known);
		return performance.now() - knowing > 2000;
	});
	await line.cut();
	const began = performance.now();
	let seen: unknown;
	// On a busy machine a promise may come late for a moment.
	await until(async () => {
		seen = await answers();
		const outage = performance.now() - began;
		return outage > 2 * TRUST_MS && (isDeepStrictEqual(seen, known) || outage > 10 * TRUST_MS);
	});
	t.deepEqual(seen, known);
	t.is(await readiness(), 503);

	await line.mend();
	await until(async () => (await readiness()) === 200 && (await readiness()) === 200);
	const changed = await acme.operator.patch(`/links/${made.body.id}`, {path: '/new'});
	t.is(changed.status, 200);
	t.deepEqual(await answers(), ['200 /new', '200 /new']);
});
