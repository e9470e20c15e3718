import {randomUUID} from 'node:crypto';
import test, {type ExecutionContext} from 'ava';
import {Redis} from 'ioredis';
import {createClock} from '../../../src/platform/clock.ts';
import {limits} from '../../../src/platform/limits/limits.ts';
import {createWindows} from '../../../src/platform/limits/windows.ts';
import {send} from '../../helpers/callers.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {createRedisServer, until} from '../../helpers/redis-server.ts';
import {tlsFile} from '../../helpers/tls-file.ts';
import {freePort} from '../../setup/free-port.ts';

/** A limiter with the real clock on that Redis, its log, and the reasons that it gives there. */
const startLimiter = (t: ExecutionContext, redisUrl: string) => {
	const logged: string[] = [];
	const reasons: string[] = [];
	const log = {
		warn: ({err}: {err?: Error}, message: string) => {
			logged.push(`warn: ${message}`);
			reasons.push(`${err}`);
		},
		info: (message: string) => logged.push(`info: ${message}`),
	};
	const limiter = createWindows({redisUrl, clock: createClock(0), log: log as never});
	t.teardown(() => limiter.close());
	return {limiter, logged, reasons};
};

type Started = ReturnType<typeof startLimiter>;

const isReachable = async ({limiter}: Started): Promise<boolean> =>
	(await Promise.allSettled([limiter.ping()])).every(({status}) => status === 'fulfilled');

/** A Redis, and two limiters that have found it. */
const startRedis = async (t: ExecutionContext) => {
	const server = await createRedisServer(t);
	await server.start();
	const start = () => startLimiter(t, `redis://127.0.0.1:${server.port}`);
	const [one, other] = [start(), start()];
	await until(async () => (await isReachable(one)) && (await isReachable(other)));
	return {server, one, other};
};

/** Requests come in until the limiter has noticed that Redis is back. */
const untilShared = async ({limiter, logged}: Started) =>
	until(async () => {
		await limiter.take(limits.sdkEvents, randomUUID());
		return logged.at(-1)?.startsWith('info') ?? false;
	});

const admittedOf = async ({limiter}: Started, subject: string, count: number): Promise<number> => {
	const waits = await Promise.all(Array.from({length: count}, () => limiter.take(limits.regenerateKey, subject)));
	return waits.filter((wait) => wait === 0).length;
};

const OUTAGE = 'warn: Redis is unavailable; enforcing rate limits on this machine';
const RECOVERY = 'info: Redis is back; sharing rate limits';

/**
 * What was logged: each outage once when it begins and once when it ends. On a busy machine an answer may come too late
 * once more, which is an outage of its own.
 */
const assertLogged = (t: ExecutionContext, {logged}: Started, last: typeof OUTAGE | typeof RECOVERY): void => {
	t.deepEqual(
		logged,
		logged.map((_, index) => (index % 2 === 0 ? OUTAGE : RECOVERY)),
	);
	t.is(logged.at(-1), last);
};

/** What `work` gives in a run of it without an outage of any of them: on a busy machine an answer may come too late. */
const undisturbed = async <T>(all: Started[], work: (subject: string) => Promise<T>): Promise<T> => {
	const outages = () => all.map(({logged}) => logged.length).join();
	for (;;) {
		await Promise.all(all.filter(({logged}) => logged.at(-1) === OUTAGE).map(untilShared));
		const before = outages();
		const result = await work(randomUUID());
		if (outages() === before) {
			return result;
		}
	}
};

/** What several admit together of 4 requests each to one subject. */
const admittedTogether = (...all: Started[]): Promise<number> =>
	undisturbed(all, async (subject) => {
		const admitted = await Promise.all(all.map((one) => admittedOf(one, subject, 4)));
		return admitted.reduce((sum, count) => sum + count, 0);
	});

test('a Redis that was never there: limits hold on this machine, and the log says so once', async (t) => {
	const started = startLimiter(t, `redis://127.0.0.1:${await freePort()}`);
	await until(() => started.logged.length > 0);
	t.is(await admittedOf(started, 'caller', 20), 5);
	await t.throwsAsync(started.limiter.ping());
	t.deepEqual(started.logged, [OUTAGE]);
});

test('a Redis that is killed and started again: no request fails, and the windows are shared again', async (t) => {
	const {server, one, other} = await startRedis(t);
	t.is(await admittedTogether(one, other), 5);

	await server.kill();
	t.is(await admittedOf(one, 'during', 20), 5);
	t.is(await admittedOf(other, 'during', 20), 5);
	assertLogged(t, one, OUTAGE);

	await server.start();
	await Promise.all([untilShared(one), untilShared(other)]);
	t.is(await admittedTogether(one, other), 5);
	assertLogged(t, one, RECOVERY);
	assertLogged(t, other, RECOVERY);
});

test('a hanging Redis delays nobody', async (t) => {
	const {server, one} = await startRedis(t);
	const caller = await undisturbed([one], async (subject) => {
		t.is(await admittedOf(one, subject, 3), 3);
		return subject;
	});

	await server.pause();
	t.is(await admittedOf(one, caller, 20), 5);
	t.is(await admittedOf(one, 'another', 20), 5);

	server.resume();
	await untilShared(one);
	assertLogged(t, one, RECOVERY);
});

test('a read-only Redis counts as unavailable, and is reported once', async (t) => {
	const {server, one} = await startRedis(t);
	const admin = new Redis({port: server.port, host: '127.0.0.1'});
	t.teardown(() => admin.disconnect());

	await admin.replicaof('127.0.0.1', server.port);
	t.is(await admittedOf(one, 'caller', 20), 5);
	t.is(await admittedOf(one, 'another', 20), 5);
	assertLogged(t, one, OUTAGE);

	await admin.replicaof('NO', 'ONE');
	await untilShared(one);
	assertLogged(t, one, RECOVERY);
});

/** A Redis that speaks TLS alone, with a certificate that no authority known to Node has signed. */
const startPrivate = async (t: ExecutionContext): Promise<string> => {
	const redis = await createRedisServer(t, {tls: true});
	await redis.start();
	return `rediss://localhost:${redis.port}`;
};

test('a rediss:// server with a private authority decides limits if NODE_EXTRA_CA_CERTS names that authority', async (t) => {
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const {child, ended, printed, stderr} = oplink(t, ['serve'], {
		PORT: '0',
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: database.url,
		REDIS_URL: await startPrivate(t),
		NODE_EXTRA_CA_CERTS: tlsFile('authority'),
	});
	const [, url = ''] = await printed(ready);
	// The connection to Redis may come up after the server is ready.
	let readiness = await send(url, 'GET', '/health/ready');
	while (readiness.body.checks.redis !== 'ok') {
		readiness = await send(url, 'GET', '/health/ready');
	}

	t.is(readiness.status, 200);
	child.kill('SIGTERM');
	t.is(await ended, 0, stderr());
	t.notRegex(stderr(), /certificate/);
});

test('without its authority a rediss:// server is not used: limits are local, and the log says why', async (t) => {
	const started = startLimiter(t, await startPrivate(t));
	await until(() => started.logged.length > 0);
	t.is(await admittedOf(started, 'caller', 20), 5);
	assertLogged(t, started, OUTAGE);
	t.regex(
		started.reasons.join(),
		/self-signed certificate in certificate chain|unable to verify the first certificate/,
	);
});
