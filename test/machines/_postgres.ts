import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync, readFileSync} from 'node:fs';
import {chmod, chown, mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {execute} from '../helpers/database.ts';
import {freePort} from '../setup/free-port.ts';
import type {Teardown} from '../setup/teardown.ts';
import type {Programs} from './_programs.ts';

/** Seconds. The primary's lease, how often Patroni looks, and how long it tries; the least that go together. */
export const PATRONI = {ttl: 10, loop_wait: 1, retry_timeout: 4} as const;

const PASSWORD = 'machines';

/** PostgreSQL and PgBouncer refuse to run as root. */
const NOBODY = process.getuid?.() === 0 ? {uid: 65_534, gid: 65_534} : {};

/** A node: Patroni, and the PostgreSQL that it runs. */
export type Node = {name: string; port: number; api: number; child: ChildProcess; folder: string};

const answers = async (url: string, method = 'GET'): Promise<boolean> => {
	try {
		return (await fetch(url, {method, signal: AbortSignal.timeout(1000)})).ok;
	} catch {
		return false;
	}
};

export const until = async (what: string, condition: () => Promise<boolean>, seconds = 90): Promise<void> => {
	for (const began = performance.now(); !(await condition()); ) {
		if (performance.now() - began > seconds * 1000) {
			throw new Error(`waited ${seconds} s until ${what}`);
		}

		await delay(100);
	}
};

/** The processes of a node's PostgreSQL, its postmaster first. */
const processesOf = ({folder}: Node): number[] => {
	const [postmaster] = readFileSync(path.join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
	const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], {encoding: 'utf8'});
	return [Number(postmaster), ...children.split('\n').filter(Boolean).map(Number)];
};

const signal = (node: Node, name: NodeJS.Signals): void => {
	for (const pid of [node.child.pid ?? 0, ...processesOf(node)]) {
		try {
			process.kill(pid, name);
		} catch {
			// It has ended by itself.
		}
	}
};

/** Starts programs whose output goes to a file each. */
export const createStarter = async (folder: string, teardown: Teardown) => {
	await chmod(folder, 0o755);
	const own = async (name: string): Promise<string> => {
		const made = path.join(folder, name);
		await mkdir(made, {mode: 0o700});
		await chown(made, NOBODY.uid ?? process.getuid?.() ?? 0, NOBODY.gid ?? process.getgid?.() ?? 0);
		return made;
	};
	const start = (name: string, file: string, args: string[], end: NodeJS.Signals = 'SIGKILL'): ChildProcess => {
		const log = openSync(path.join(folder, `${name}.log`), 'a', 0o666);
		const child = spawn(file, args, {
			...NOBODY,
			cwd: '/',
			stdio: ['ignore', log, log],
			env: {PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8'},
		});
		closeSync(log);
		const ended = once(child, 'exit');
		teardown.add(async () => {
			if (child.exitCode === null && child.signalCode === null) {
				child.kill('SIGCONT');
				child.kill(end);
				await ended;
			}
		});
		return child;
	};
	const write = async (name: string, text: string): Promise<string> => {
		const file = path.join(folder, name);
		await writeFile(file, text, {mode: 0o644});
		return file;
	};
	return {own, start, write, folder};
};

export type Starter = Awaited<ReturnType<typeof createStarter>>;

const startEtcd = async ({own, start}: Starter, {etcd}: Programs): Promise<number> => {
	const [client, peer] = [await freePort(), await freePort()];
	const [here, there] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
	const places = [`--listen-client-urls=${here}`, `--advertise-client-urls=${here}`, `--listen-peer-urls=${there}`];
	const cluster = [`--initial-advertise-peer-urls=${there}`, `--initial-cluster=default=${there}`];
	start('etcd', etcd, [`--data-dir=${await own('etcd')}`, '--enable-v2=true', ...places, ...cluster]);
	await until('etcd answers', () => answers(`${here}/health`));
	return client;
};

const patroniOf = (node: Omit<Node, 'child'>, etcdPort: number, bin: string) => ({
	scope: 'oplink',
	name: node.name,
	restapi: {listen: `127.0.0.1:${node.api}`, connect_address: `127.0.0.1:${node.api}`},
	// Not etcd3: Patroni 3.0 with that takes the lock back unasked when a primary that was frozen goes on (docs/operating/scaling.md).
	etcd: {host: `127.0.0.1:${etcdPort}`},
	bootstrap: {
		dcs: {
			...PATRONI,
			maximum_lag_on_failover: 1_048_576,
			// A write is acknowledged when it is on the disk of a standby, and only that standby takes over.
			synchronous_mode: true,
			synchronous_mode_strict: true,
			postgresql: {
				use_pg_rewind: true,
				parameters: {synchronous_commit: 'on', wal_log_hints: 'on', max_connections: 100},
			},
		},
		initdb: [{encoding: 'UTF8'}, {locale: 'C.UTF-8'}],
		pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256'],
	},
	postgresql: {
		listen: `127.0.0.1:${node.port}`,
		connect_address: `127.0.0.1:${node.port}`,
		data_dir: path.join(node.folder, 'data'),
		bin_dir: bin,
		pgpass: path.join(node.folder, 'pgpass'),
		authentication: {
			superuser: {username: 'postgres', password: PASSWORD},
			replication: {username: 'replicator', password: PASSWORD},
			rewind: {username: 'rewinder', password: PASSWORD},
		},
		parameters: {unix_socket_directories: node.folder, shared_buffers: '64MB'},
	},
	watchdog: {mode: 'off'},
});

const startNode = async (starter: Starter, programs: Programs, etcdPort: number, name: string): Promise<Node> => {
	const folder = await starter.own(name);
	const node = {name, folder, port: await freePort(), api: await freePort()};
	// JSON is YAML.
	const settings = patroniOf(node, etcdPort, path.dirname(programs.postgres));
	const file = await starter.write(`${name}.yml`, JSON.stringify(settings, null, 1));
	return {...node, child: starter.start(name, programs.patroni, [file], 'SIGTERM')};
};

/** `on-marked-down shutdown-sessions`: a statement sent to a former primary that hangs would never be answered. */
const haproxyOf = (port: number, nodes: readonly Node[]): string => `global
	maxconn 400
defaults
	mode tcp
	timeout connect 1s
	timeout client 1h
	timeout server 1h
	timeout check 1s
listen postgres
	bind 127.0.0.1:${port}
	option httpchk OPTIONS /primary
	http-check expect status 200
	default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map((node) => `	server ${node.name} 127.0.0.1:${node.port} check port ${node.api}`).join('\n')}
`;

const pgbouncerOf = (port: number, primary: number, users: string): string => `[databases]
* = host=127.0.0.1 port=${primary}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 20
max_client_conn = 200
server_login_retry = 1
server_connect_timeout = 2
query_wait_timeout = 5
`;

/** Three nodes, the way to whichever is primary, and a pooler before that. */
export const startPostgres = async (starter: Starter, programs: Programs, teardown: Teardown) => {
	const etcdPort = await startEtcd(starter, programs);
	const first = await startNode(starter, programs, etcdPort, 'one');
	await until('the first node is primary', () => answers(`http://127.0.0.1:${first.api}/primary`));
	const nodes = [
		first,
		...(await Promise.all(['two', 'three'].map((name) => startNode(starter, programs, etcdPort, name)))),
	];
	teardown.add(() => {
		for (const node of nodes) {
			try {
				signal(node, 'SIGKILL');
			} catch {
				// It has no PostgreSQL any more.
			}
		}
	});
	/** Which of these nodes say yes to a question of Patroni's API. */
	const saying = async (what: 'primary' | 'synchronous' | 'health', some: readonly Node[] = nodes) => {
		const said = await Promise.all(some.map(({api}) => answers(`http://127.0.0.1:${api}/${what}`)));
		return some.filter((_, index) => said[index]);
	};
	const isWhole = async () =>
		(await saying('synchronous')).length > 0 && (await saying('health')).length === nodes.length;
	await until('a standby is synchronous', isWhole);

	const [primary, pooler] = [await freePort(), await freePort()];
	const balancer = await starter.write('haproxy.cfg', haproxyOf(primary, nodes));
	starter.start('haproxy', programs.haproxy, ['-db', '-f', balancer]);
	const users = await starter.write('users', `"postgres" "${PASSWORD}"\n`);
	const pooling = await starter.write('pgbouncer.ini', pgbouncerOf(pooler, primary, users));
	starter.start('pgbouncer', programs.pgbouncer, [pooling]);
	const urlAt = (port: number) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;

	const primaryNow = async (): Promise<Node | null> => (await saying('primary'))[0] ?? null;

	/** Whether writes can be acknowledged: another node is primary, and a standby is synchronous. */
	const canWrite = async (former: Node): Promise<boolean> => {
		const now = await primaryNow();
		const others = nodes.filter((node) => node !== former && node !== now);
		return now !== null && now !== former && (await saying('synchronous', others)).length > 0;
	};

	return {
		canWrite,
		createDatabase: (name: string) =>
			until(`database ${name} can be created`, () =>
				execute(urlAt(primary), `CREATE DATABASE ${name}`).then(
					() => true,
					() => false,
				),
			),
		primaryUrl: urlAt(primary),
		poolerUrl: urlAt(pooler),
		primaryNow,
		untilWhole: () => until('all nodes are well and one standby is synchronous', isWhole),
		/** Ends a node at once, as when its machine loses power. */
		kill: (node: Node) => signal(node, 'SIGKILL'),
		/** Starts what was killed again. */
		restart: (node: Node) => {
			const file = path.join(starter.folder, `${node.name}.yml`);
			node.child = starter.start(node.name, programs.patroni, [file], 'SIGTERM');
		},
		/** A node that answers nobody, while its connections stay open, as when it is cut off from the network. */
		cutOff: (node: Node) => signal(node, 'SIGSTOP'),
		mend: (node: Node) => signal(node, 'SIGCONT'),
	};
};
