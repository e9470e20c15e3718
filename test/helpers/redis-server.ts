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
import {tlsFile} from './tls-file.ts';

export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
	while (!(await condition())) {
		await delay(5);
	}
};

/** Where it listens. By TLS, its certificate is for `localhost`. */
const listenOn = (port: number, tls: boolean): string[] =>
	tls
		? [
				['--port', '0', '--tls-port', `${port}`, '--tls-auth-clients', 'no'],
				['--tls-cert-file', tlsFile('localhost'), '--tls-key-file', tlsFile('key')],
				['--tls-ca-cert-file', tlsFile('authority')],
			].flat()
		: ['--port', `${port}`];

/** A Redis for one test, which can kill, stop and restart it on the same port. */
export const createRedisServer = async (t: ExecutionContext, {tls = false} = {}) => {
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
		const storage = ['--save', '', '--appendonly', 'no', '--dir', folder];
		const options = [...listenOn(port, tls), '--bind', '127.0.0.1', ...storage];
		child = spawn(await findRedisBinary(), options, {stdio: ['ignore', 'pipe', 'inherit']});
		let printed = '';
		for await (const chunk of child.stdout ?? []) {
			printed += chunk;
			if (printed.includes('Ready to accept connections')) {
				return;
			}
		}

		throw new Error(`Redis ended instead of starting${tls ? ' (can it do TLS?)' : ''}: ${printed}`);
	};

	/** A process continues until it has received the signal: Linux shows when it is stopped. */
	const pause = async () => {
		child?.kill('SIGSTOP');
		const stat = `/proc/${child?.pid}/stat`;
		await until(() => process.platform !== 'linux' || readFileSync(stat, 'latin1').includes(') T '));
	};

	return {port, start, kill, pause, resume: () => child?.kill('SIGCONT')};
};
