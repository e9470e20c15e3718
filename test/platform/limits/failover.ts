import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {type AddressInfo, createServer, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {ask, type Node, replicated, startCluster, startSentinels} from '../../helpers/redis-groups.ts';
import {createRedisServer, until} from '../../helpers/redis-server.ts';
import {admitted, isAway, limit, startMachines, undisturbed, untilUsed} from './_machines.ts';

const bulks = (...values: string[]): string =>
	`*${values.length}\r\n${values.map((value) => `$${value.length}\r\n${value}\r\n`).join('')}`;

/** @param primaryOf the server with a subject's window. */
const assertBound = async (t: ExecutionContext, redisUrl: string, primaryOf: (tag: string) => Promise<Node>) => {
	const machines = await startMachines(t, redisUrl);
	const {subject, count: before} = await undisturbed(machines, limit.max);
	t.is(before, limit.max);
	const tag = `{${limit.name}:${subject}}`;
	const primary = await primaryOf(tag);
	await replicated(primary, `test:${tag}`);
	primary.child.kill('SIGKILL');
	// Each machine counts by itself meanwhile, from nothing.
	let meanwhile = 0;
	while (!machines.every(isAway)) {
		meanwhile += await admitted(machines, subject, limit.max);
	}

	t.is(meanwhile, machines.length * limit.max);
	await untilUsed(machines);
	// The replica knows what was admitted before.
	t.is(await admitted(machines, subject, limit.max), 0);
	t.is((await undisturbed(machines, limit.max)).count, limit.max);
};

test('under Sentinel the limits of a window hold through a failover, but for one more on each machine', async (t) => {
	const {url, primary} = await startSentinels(t);
	await assertBound(t, url, async () => primary);
});

test('a Redis that hangs is replaced by the Sentinels too', async (t) => {
	const {url, primary} = await startSentinels(t);
	const machines = await startMachines(t, url);
	primary.child.kill('SIGSTOP');
	await until(async () => {
		await admitted(machines, randomUUID(), 1);
		return machines.every(isAway);
	});
	t.is((await undisturbed(machines, limit.max)).count, limit.max);
});

/** A Sentinel that announces a failover to all who listen, just before it next says where the primary is. */
const startHastySentinel = async (t: ExecutionContext, {port}: Pick<Node, 'port'>) => {
	let isHasty = false;
	const listeners = new Set<Socket>();
	// RESP3 marks what nobody asked for by `>`.
	const announcement = bulks('message', '+switch-master', 'mymaster').replace('*', '>');
	const server = createServer((socket) => {
		socket.on('error', () => {});
		socket.on('close', () => listeners.delete(socket));
		socket.on('data', (data) => {
			for (const command of data.toString().match(/\*\d+\r\n(?:\$\d+\r\n.*\r\n)+/g) ?? []) {
				answer(socket, command);
			}
		});
	});
	const answer = (socket: Socket, command: string) => {
		if (command.includes('get-master-addr-by-name')) {
			for (const listener of isHasty ? listeners : []) {
				listener.write(announcement);
			}

			isHasty = false;

			// Those who listen read it first.
			setImmediate(() => setImmediate(() => socket.write(bulks('127.0.0.1', `${port}`))));
		} else if (command.includes('subscribe')) {
			listeners.add(socket);
			socket.write('>3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n');
		} else if (command.includes('sentinels')) {
			socket.write('*0\r\n');
		} else {
			socket.write('+OK\r\n');
		}
	};
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => server.close());
	return {
		url: `redis-sentinel://127.0.0.1:${(server.address() as AddressInfo).port}/mymaster`,
		hasten: () => {
			isHasty = true;
		},
	};
};

test('a failover that is announced while a connection is being made does not end it', async (t) => {
	const redis = await createRedisServer(t);
	await redis.start();
	const {url, hasten} = await startHastySentinel(t, redis);
	const machines = await startMachines(t, url);
	for (let round = 0; round < 3; round += 1) {
		hasten();
		await ask(redis, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
		t.is((await undisturbed(machines, limit.max)).count, limit.max);
	}
});

test('as a Cluster the limits of a window hold through a failover, but for one more on each machine', async (t) => {
	const {url, primaryOf} = await startCluster(t);
	await assertBound(t, url, primaryOf);
});
