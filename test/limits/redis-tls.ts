import test, {type ExecutionContext} from 'ava';
import {send} from '../helpers/callers.ts';
import {createTestDatabase} from '../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../helpers/process.ts';
import {createRedisServer} from '../helpers/redis-server.ts';
import {tlsFile} from '../helpers/tls-file.ts';

/** A server whose Redis speaks TLS alone, with a certificate that no authority known to Node has signed. */
const startServer = async (t: ExecutionContext, env: Record<string, string>) => {
	const redis = await createRedisServer(t, {tls: true});
	await redis.start();
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const server = oplink(t, ['serve'], {
		PORT: '0',
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: database.url,
		REDIS_URL: `rediss://localhost:${redis.port}`,
		...env,
	});
	const [, url = ''] = await server.printed(ready);
	return {...server, url};
};

test('a rediss:// server with a private authority decides limits if NODE_EXTRA_CA_CERTS names that authority', async (t) => {
	const {url, child, ended, stderr} = await startServer(t, {NODE_EXTRA_CA_CERTS: tlsFile('authority')});
	// The connection to Redis may come up after the server is ready.
	let readiness = await send(url, 'GET', '/health/ready');
	while (readiness.body.checks.redis !== 'ok') {
		readiness = await send(url, 'GET', '/health/ready');
	}

	t.is(readiness.status, 200);
	child.kill('SIGTERM');
	t.is(await ended, 0);
	t.notRegex(stderr(), /certificate/);
});

test('without its authority a rediss:// server is not used: limits are local, and the log says why', async (t) => {
	const {url, child, ended, printed, stderr} = await startServer(t, {});
	await printed(/Redis is unavailable; enforcing/);
	const {status, body} = await send(url, 'GET', '/health/ready');
	t.deepEqual([status, body.checks.redis], [200, 'unavailable']);
	child.kill('SIGTERM');
	t.is(await ended, 0);
	t.regex(stderr(), /self-signed certificate in certificate chain|unable to verify the first certificate/);
});
