import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {freePort} from '../setup/free-port.ts';
import {findRedisBinary} from '../setup/redis-binary.ts';

export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
	while (!(await condition())) {
		await delay(5);
	}
};

/** A Redis of this test alone, that can be killed, stopped and started again on the same port. */
export const createRedisServer = async (t: ExecutionContext) => {
	const port = await freePort();
	const folder = await mkdtemp(join(tmpdir(), 'oplink-redis-'));
	let child: ChildProcess | null = null;
	const kill = async () => {
		if (child !== null && child.exitCode === null && child.signalCode === null) {
			const gone = once(child, 'exit');
			child.kill('SIGKILL');
			await gone;
		}
	};
	t.teardown(async () => {
		await kill();
		await rm(folder, {recursive: true, force: true});
	});

	const start = async () => {
		const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
		child = spawn(await findRedisBinary(), options, {stdio: ['ignore', 'pipe', 'inherit']});
		for await (const chunk of child.stdout ?? []) {
			if (String(chunk).includes('Ready to accept connections')) {
				break;
			}
		}
	};

	/** A process goes on until it has noticed the signal: Linux tells when it stands. */
	const pause = async () => {
		child?.kill('SIGSTOP');
		const stat = `/proc/${child?.pid}/stat`;
		await until(() => process.platform !== 'linux' || readFileSync(stat, 'latin1').includes(') T '));
	};

	return {port, start, kill, pause, resume: () => child?.kill('SIGCONT')};
};
