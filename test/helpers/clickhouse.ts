import {type ChildProcess, spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {readClickHouseUrl} from '../../src/platform/config/database-url.ts';
import {type ClickHouse, createClickHouse} from '../../src/visits/click-stores/clickhouse/clickhouse.ts';
import {freePort} from '../setup/free-port.ts';
import {findProgram} from './find-program.ts';

/** Null where none is installed. */
const program = findProgram('/usr/sbin/clickhouse-server');

export const hasClickHouse = program !== null;

const settings = (folder: string, http: number, tcp: number): string => `<yandex>
	<logger><level>warning</level><log>${folder}/log</log><errorlog>${folder}/errors</errorlog></logger>
	<http_port>${http}</http_port><tcp_port>${tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
	<path>${folder}/data/</path><tmp_path>${folder}/data/tmp/</tmp_path><users_config>users.xml</users_config>
	<default_profile>default</default_profile><default_database>default</default_database>
	<mark_cache_size>67108864</mark_cache_size><uncompressed_cache_size>0</uncompressed_cache_size>
</yandex>`;

const users = `<yandex>
	<profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
	<users><oplink><password>p@ss</password><networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile><quota>default</quota></oplink></users>
	<quotas><default/></quotas>
</yandex>`;

/** A clickhouse-server on loopback with its own folder. */
export type ClickHouseServer = {
	/** For CLICKS_URL; a database of its own. */
	url: string;
	/** A database of its own in the same server. */
	database(): Promise<string>;
	clickHouse: ClickHouse;
	pid(): number;
	/** Ends it as a power failure of the process does. */
	kill(): Promise<void>;
	start(): Promise<void>;
	/** Lets it accept connections and answer nothing. */
	pause(isPaused: boolean): void;
	stop(): Promise<void>;
};

export const startClickHouse = async (): Promise<ClickHouseServer> => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-clickhouse-'));
	const [http, tcp] = [await freePort(), await freePort()];
	await writeFile(path.join(folder, 'config.xml'), settings(folder, http, tcp));
	await writeFile(path.join(folder, 'users.xml'), users);
	let child: ChildProcess | null = null;
	const urlOf = (database: string): string => `clickhouse://oplink:p%40ss@127.0.0.1:${http}/${database}`;
	const root = createClickHouse(readClickHouseUrl(urlOf('default')));
	const start = async (): Promise<void> => {
		child = spawn(program ?? '', [`--config-file=${folder}/config.xml`], {stdio: 'ignore', cwd: folder});
		for (let tries = 0; ; tries += 1) {
			try {
				await root.run('SELECT 1');
				return;
			} catch (error) {
				if (tries > 600) {
					throw error;
				}

				await delay(50);
			}
		}
	};
	const kill = async (): Promise<void> => {
		if (child !== null && child.exitCode === null && child.signalCode === null) {
			const ended = once(child, 'close');
			child.kill('SIGKILL');
			await ended;
		}
	};
	const database = async (): Promise<string> => {
		const name = `test_${randomBytes(8).toString('hex')}`;
		await root.run(`CREATE DATABASE ${name}`);
		return urlOf(name);
	};
	await start();
	const url = await database();
	return {
		url,
		database,
		clickHouse: createClickHouse(readClickHouseUrl(url)),
		pid: () => child?.pid ?? 0,
		kill,
		start,
		pause: (isPaused) => void child?.kill(isPaused ? 'SIGSTOP' : 'SIGCONT'),
		stop: async () => {
			await kill();
			await rm(folder, {recursive: true, force: true});
		},
	};
};
