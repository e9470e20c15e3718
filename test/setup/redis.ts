import {once} from 'node:events';
import {setTimeout as delay} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {spawnTethered} from '../../src/platform/embedded/tether.ts';
import {freePort} from './free-port.ts';
import {findRedisBinary} from './redis-binary.ts';
import type {Teardown} from './teardown.ts';

const answers = async (url: string): Promise<boolean> => {
	const client = new Redis(url, {lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000});
	client.on('error', () => {});
	try {
		await client.connect();
		return (await client.ping()) === 'PONG';
	} catch {
		return false;
	} finally {
		client.disconnect();
	}
};

/** Starts it on a free port; null if that port was taken meanwhile. */
const startOnFreePort = async (command: string, folder: string, teardown: Teardown) => {
	const port = await freePort();
	const storage = ['--save', '', '--appendonly', 'no', '--dir', folder];
	const {child} = spawnTethered([command, '--bind', '127.0.0.1', '--port', String(port), ...storage], {
		signal: 'TERM',
		output: 'ignore',
	});
	const url = `redis://127.0.0.1:${port}`;
	while (child.exitCode === null && child.signalCode === null) {
		if (await answers(url)) {
			teardown.add(async () => {
				child.ref();
				const exited = once(child, 'exit');
				if (child.exitCode === null && child.kill('SIGTERM')) {
					await exited;
				}
			});
			return url;
		}

		await delay(5);
	}

	return null;
};

/** The address of a real Redis for this run: TEST_REDIS_URL if set, else a new one. */
export const prepareRedis = async (folder: string, teardown: Teardown): Promise<string> => {
	const given = process.env['TEST_REDIS_URL'];
	if (given) {
		if (await answers(given)) {
			return given;
		}

		throw new Error('The Redis that TEST_REDIS_URL names does not answer.');
	}

	const command = await findRedisBinary();
	for (let attempt = 0; attempt < 3; attempt++) {
		const url = await startOnFreePort(command, folder, teardown);
		if (url !== null) {
			return url;
		}
	}

	throw new Error(`${command} could not be started`);
};
