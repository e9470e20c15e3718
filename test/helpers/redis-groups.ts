import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {Redis} from 'ioredis';
import {freePort} from '../setup/free-port.ts';
import {findRedisBinary} from '../setup/redis-binary.ts';
import {until} from './redis-server.ts';

type Teardown = Pick<ExecutionContext, 'teardown'>;

/** A server of a group. */
export type Node = {port: number; child: ChildProcess};

/** How long a server is silent before the others replace it. */
const SILENT_MS = 500;

const NAME = 'mymaster';

const STORAGE = ['save ""', 'repl-diskless-sync-delay 0'];

/** Starts servers in one folder, and ends and removes all of them with the test. */
const openGroup = async (t: Teardown) => {
	const binary = await findRedisBinary();
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-redis-'));
	const children: ChildProcess[] = [];
	t.teardown(async () => {
		await Promise.all(
			children.map(async (child) => {
				if (child.exitCode === null && child.signalCode === null) {
					const gone = once(child, 'exit');
					child.kill('SIGKILL');
					await gone;
				}
			}),
		);
		await rm(folder, {recursive: true, force: true});
	});

	/** @param linesOf its configuration, which it may rewrite; read again where a port was taken. */
	const start = async (linesOf: () => Promise<string[]>, mode: string[] = []): Promise<Node> => {
		for (;;) {
			const node = await startOnce(await linesOf(), mode);
			if (node !== null) {
				return node;
			}
		}
	};

	/** Null if the port was taken meanwhile. */
	const startOnce = async (lines: string[], mode: string[]): Promise<Node | null> => {
		const port = await freePort();
		const file = path.join(folder, `${port}.conf`);
		const own = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, `dbfilename ${port}.rdb`];
		await writeFile(file, `${[...own, ...lines].join('\n')}\n`);
		const child = spawn(binary, [file, ...mode], {stdio: 'ignore'});
		children.push(child);
		const isGone = () => child.exitCode !== null || child.signalCode !== null;
		const isThere = () =>
			ask({port}, 'PING').then(
				() => true,
				() => false,
			);
		await until(async () => isGone() || isThere());
		return isGone() ? null : {port, child};
	};
	return start;
};

/** One command, on a connection of its own. */
export const ask = async (
	{port}: Pick<Node, 'port'>,
	command: string,
	...values: Array<string | number>
): Promise<unknown> => {
	const client = new Redis({port, host: '127.0.0.1', retryStrategy: () => null, maxRetriesPerRequest: 0});
	client.on('error', () => {});
	try {
		return await client.call(command, ...values);
	} finally {
		client.disconnect();
	}
};

/** Waits until the replica of a node has what was written until now. */
export const replicated = async ({port}: Node, key: string): Promise<void> => {
	const client = new Redis({port, host: '127.0.0.1'});
	await client.set(key, '');
	await client.wait(1, 0);
	client.disconnect();
};

const follows = async (node: Node): Promise<boolean> =>
	/role:slave[\s\S]*master_link_status:up/.test(String(await ask(node, 'INFO', 'replication')));

/** A Redis with a replica and three Sentinels. */
export const startSentinels = async (t: Teardown) => {
	const start = await openGroup(t);
	const primary = await start(async () => STORAGE);
	const replica = await start(async () => [...STORAGE, `replicaof 127.0.0.1 ${primary.port}`]);
	await until(() => follows(replica));
	const watch = [
		`sentinel monitor ${NAME} 127.0.0.1 ${primary.port} 2`,
		`sentinel down-after-milliseconds ${NAME} ${SILENT_MS}`,
		`sentinel failover-timeout ${NAME} 2000`,
	];
	const sentinels = await Promise.all([1, 2, 3].map(() => start(async () => watch, ['--sentinel'])));
	const knowsAll = async (sentinel: Node) => {
		const text = String(await ask(sentinel, 'INFO', 'sentinel'));
		return /slaves=1,sentinels=3/.test(text);
	};
	await until(async () => (await Promise.all(sentinels.map(knowsAll))).every(Boolean));
	return {
		url: `redis-sentinel://${sentinels.map(({port}) => `127.0.0.1:${port}`).join(',')}/${NAME}`,
		primary,
		replica,
	};
};

const PRIMARIES = 3;
const SLOTS = 16_384;

/** Three nodes of a Cluster that share the keys, and a replica of each. */
export const startCluster = async (t: Teardown) => {
	const start = await openGroup(t);
	const node = async () => {
		let bus = 0;
		const made = await start(async () => {
			bus = await freePort();
			const own = [`cluster-port ${bus}`, `cluster-config-file nodes-${bus}.conf`];
			return [...STORAGE, 'cluster-enabled yes', `cluster-node-timeout ${SILENT_MS}`, ...own];
		});
		return {...made, bus};
	};
	const nodes = await Promise.all(Array.from({length: 2 * PRIMARIES}, node));
	const [first] = nodes;
	if (first === undefined) {
		throw new Error('a Cluster has nodes');
	}

	const ids = await Promise.all(nodes.map(async (one) => String(await ask(one, 'CLUSTER', 'MYID'))));
	for (const [index, {port, bus}] of nodes.entries()) {
		await ask(first, 'CLUSTER', 'MEET', '127.0.0.1', port, bus);
		await ask(nodes[index] ?? first, 'CLUSTER', 'SET-CONFIG-EPOCH', index + 1).catch(() => {});
	}

	const knowsAll = async (one: Node) =>
		String(await ask(one, 'CLUSTER', 'INFO')).includes(`cluster_known_nodes:${nodes.length}`);
	await until(async () => (await Promise.all(nodes.map(knowsAll))).every(Boolean));
	for (const [index, one] of nodes.slice(0, PRIMARIES).entries()) {
		const from = Math.floor((index * SLOTS) / PRIMARIES);
		await ask(one, 'CLUSTER', 'ADDSLOTSRANGE', from, Math.floor(((index + 1) * SLOTS) / PRIMARIES) - 1);
	}

	for (const [index, one] of nodes.slice(PRIMARIES).entries()) {
		await ask(one, 'CLUSTER', 'REPLICATE', ids[index] ?? '');
	}

	const isWell = async (one: Node) => String(await ask(one, 'CLUSTER', 'INFO')).includes('cluster_state:ok');
	await until(async () => (await Promise.all(nodes.map(isWell))).every(Boolean));
	await until(async () => (await Promise.all(nodes.slice(PRIMARIES).map(follows))).every(Boolean));
	return {
		url: `redis://${nodes.map(({port}) => `127.0.0.1:${port}`).join(',')}`,
		/** The node with a key, before any failover. */
		primaryOf: async (key: string) =>
			nodes[Math.floor((Number(await ask(first, 'CLUSTER', 'KEYSLOT', key)) * PRIMARIES) / SLOTS)] ?? first,
	};
};
