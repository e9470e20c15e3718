import test, {type ExecutionContext} from 'ava';
import {send} from '../../helpers/callers.ts';
import {databaseOf} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {ask} from '../../helpers/redis-groups.ts';
import {createRedisServer, until} from '../../helpers/redis-server.ts';
import {tlsFile} from '../../helpers/tls-file.ts';
import {freePort} from '../../setup/free-port.ts';
import {
	admitted,
	isAway,
	limit,
	type Machine,
	OUTAGE,
	RECOVERY,
	startMachine,
	startMachines,
	undisturbed,
	untilUsed,
} from './_machines.ts';

/** A Redis, and two machines that it decides for. */
const startRedis = async (t: ExecutionContext) => {
	const server = await createRedisServer(t);
	await server.start();
	return {server, machines: await startMachines(t, `redis://127.0.0.1:${server.port}`)};
};

/**
 * What each of them logged: an outage once when it begins and once when it ends. On a busy machine an answer may come
 * too late once more, which is an outage of its own.
 */
const assertLogged = (t: ExecutionContext, machines: Machine[], last: typeof OUTAGE | typeof RECOVERY): void => {
	for (const {logged} of machines) {
		t.deepEqual(
			logged,
			logged.map((_, index) => (index % 2 === 0 ? OUTAGE : RECOVERY)),
		);
		t.is(logged.at(-1), last);
	}
};

test('a Redis that was never there: limits hold on this machine, and the log says so once', async (t) => {
	const machine = startMachine(t, `redis://127.0.0.1:${await freePort()}`);
	await until(() => isAway(machine));
	t.is(await admitted([machine], 'caller', 20), limit.max);
	await t.throwsAsync(machine.limiter.ping());
	t.deepEqual(machine.logged, [OUTAGE]);
});

test('a Redis that is killed and started again: no request fails, and the windows are shared again', async (t) => {
	const {server, machines} = await startRedis(t);
	t.is((await undisturbed(machines, 4)).count, limit.max);

	await server.kill();
	t.is(await admitted(machines, 'during', 20), 2 * limit.max);
	assertLogged(t, machines, OUTAGE);

	await server.start();
	t.is((await undisturbed(machines, 4)).count, limit.max);
	assertLogged(t, machines, RECOVERY);
});

test('a hanging Redis delays nobody', async (t) => {
	const {server, machines} = await startRedis(t);
	const {subject} = await undisturbed(machines, 1);
	await server.pause();
	t.is(await admitted(machines, subject, 20), 2 * limit.max);
	t.is(await admitted(machines, 'another', 20), 2 * limit.max);

	server.resume();
	await untilUsed(machines);
	assertLogged(t, machines, RECOVERY);
});

test('a read-only Redis counts as unavailable, and is reported once', async (t) => {
	const {server, machines} = await startRedis(t);
	await ask(server, 'REPLICAOF', '127.0.0.1', `${server.port}`);
	t.is(await admitted(machines, 'caller', 20), 2 * limit.max);
	t.is(await admitted(machines, 'another', 20), 2 * limit.max);
	assertLogged(t, machines, OUTAGE);

	await ask(server, 'REPLICAOF', 'NO', 'ONE');
	await untilUsed(machines);
	assertLogged(t, machines, RECOVERY);
});

/** A Redis that speaks TLS alone, with a certificate that no authority known to Node has signed. */
const startPrivate = async (t: ExecutionContext): Promise<string> => {
	const redis = await createRedisServer(t, {tls: true});
	await redis.start();
	return `rediss://localhost:${redis.port}`;
};

test('a rediss:// server with a private authority decides limits if NODE_EXTRA_CA_CERTS names that authority', async (t) => {
	const database = await databaseOf(t);
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
	const machine = startMachine(t, await startPrivate(t));
	await until(() => isAway(machine));
	t.is(await admitted([machine], 'caller', 20), limit.max);
	assertLogged(t, [machine], OUTAGE);
	t.regex(
		machine.reasons.join(),
		/self-signed certificate in certificate chain|unable to verify the first certificate/,
	);
});
