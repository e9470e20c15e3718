import test, {type ExecutionContext} from 'ava';
import {CLIENTS, createLoad, type Sent} from './_load.ts';
import {send} from './helpers/callers.ts';
import {createTestDatabase} from './helpers/database.ts';
import {dataDirectory, oplink, ready} from './helpers/process.ts';

const adminToken = 'a-token-of-32-characters-or-more';

/** A server over a database of its own, as soon as its first process answers. */
const start = async (t: ExecutionContext, env: Record<string, string>) => {
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const program = oplink(t, ['serve'], {
		PORT: '0',
		ADMIN_TOKEN: adminToken,
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: database.url,
		LOG_FORMAT: 'json',
		// A machine that is busy cuts no request off.
		SHUTDOWN_TIMEOUT: '100',
		...env,
	});
	t.teardown(() => program.child.kill('SIGTERM'));
	const [, port] = await program.printed(/"url":"[^"]*:(\d+)".*"msg":"ready"/);
	return {...program, port: Number(port)};
};

/** How requests ended that no answer came for, and answers that a client must not get. */
const failures = (sent: readonly Sent[]): string[] =>
	sent.flatMap(({outcome, status}) => (outcome === 'answered' && status < 500 ? [] : [`${outcome} ${status}`]));

for (const WORKERS of ['1', '2']) {
	test(`a SIGTERM under load leaves no request without an answer that came before, with WORKERS=${WORKERS}`, async (t) => {
		const {child, ended, port, printed} = await start(t, {WORKERS});
		await printed(ready);
		const load = createLoad(port);
		await load.ends(500);
		const before = load.sent();
		child.kill('SIGTERM');
		t.is(await ended, 0);
		await load.ended;
		t.deepEqual(failures(before), []);
	});
}

test('a worker that starts, or takes the place of another one, gets no request before it can answer', async (t) => {
	const {child, ended, port, printed, stderr} = await start(t, {WORKERS: '2'});
	const load = createLoad(port);
	await printed(ready);
	await load.ends(100);
	t.deepEqual(failures(load.sent().filter(({outcome}) => outcome !== 'under way')), []);
	const [, victim] = /"pid":(\d+),"msg":"ready"/.exec(stderr()) ?? [];
	process.kill(Number(victim), 'SIGKILL');
	await printed(/another one takes its place[\s\S]*"msg":"ready"/);
	await load.ends(100);
	const sent = load.sent().filter(({outcome}) => outcome !== 'under way');
	t.deepEqual(
		sent.filter(({status}) => status >= 500),
		[],
	);
	// The dead worker's requests are lost: at most one per client.
	t.true(failures(sent).length <= CLIENTS);
	child.kill('SIGTERM');
	t.is(await ended, 0);
	await load.ended;
});

test('a stop while workers still start, or greet, waits for nothing and leaves no fault in the log', async (t) => {
	const program = oplink(t, ['serve'], {
		PORT: '0',
		WORKERS: '2',
		DATA_DIR: await dataDirectory(t),
		LOG_FORMAT: 'json',
		// A longer wait would not end the test.
		SHUTDOWN_TIMEOUT: '3600',
	});
	const [, port] = await program.printed(/"url":"[^"]*:(\d+)".*"msg":"ready"/);
	t.is((await send(`http://127.0.0.1:${port}`, 'GET', '/health/ready', {Connection: 'close'})).status, 200);
	program.child.kill('SIGTERM');
	t.is(await program.ended, 0);
	const faults = program
		.stderr()
		.split('\n')
		.filter((line) => /"level":"(?:error|warn)"|Error/.test(line));
	t.deepEqual(
		faults.filter((line) => !line.includes('without REDIS_URL')),
		[],
	);
});
