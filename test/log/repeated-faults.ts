import test from 'ava';
import {admin} from '../helpers/callers.ts';
import {openDatabaseLine} from '../helpers/cut-off.ts';
import {createTestDatabase} from '../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../helpers/process.ts';
import {createFakeClock, startService} from '../helpers/service.ts';

type Line = {msg: string; requestId: string; repeated?: number; err: {type: string; code?: string; stack: string}};

const failuresIn = (lines: readonly string[]): Line[] =>
	lines
		.filter((line) => line.startsWith('{'))
		.map((line): Line => JSON.parse(line))
		.filter(({msg}) => msg === 'request failed');

/** A lost database may cause several kinds of error in turn. */
const kindsOf = (lines: readonly Line[]): string[] =>
	lines.map(({err}) => `${err.type} ${err.code} ${/^ {4}at .*$/m.exec(err.stack)?.[0]}`);

/** How many requests the lines stand for. */
const requestsOf = (lines: readonly Line[]): number => lines.reduce((sum, {repeated}) => sum + (repeated ?? 1), 0);

test('requests that fail for one reason are one line a minute, and each is counted until the stop', async (t) => {
	const database = await createTestDatabase();
	const {line, url} = await openDatabaseLine(database.url);
	const clock = createFakeClock();
	const written: string[] = [];
	const service = await startService(
		{LOG_LEVEL: 'warn'},
		clock,
		{...database, url},
		{
			write: (text) => written.push(text),
		},
	);
	t.teardown(() => line.close());
	await line.cut();
	const fail = async (times: number): Promise<void> => {
		for (let sent = 0; sent < times; sent += 1) {
			t.is((await admin(service).get('/admin/organizations')).status, 503);
		}
	};

	await fail(20);
	const first = failuresIn(written);
	t.true(first.length > 0);
	t.deepEqual(kindsOf(first), [...new Set(kindsOf(first))]);
	t.true(first.every(({repeated, requestId}) => repeated === undefined && requestId !== undefined));

	clock.advance(60);
	await fail(10);
	const second = failuresIn(written).slice(first.length);
	t.deepEqual(kindsOf(second), [...new Set(kindsOf(second))]);
	t.true(second.some(({repeated = 0}) => repeated > 1));

	await line.mend();
	await service.stop();
	t.is(requestsOf(failuresIn(written)), 30);
});

test('the number of suppressed lines is written when the program stops', async (t) => {
	const database = await createTestDatabase();
	const {line, url} = await openDatabaseLine(database.url);
	t.teardown(async () => {
		await line.close();
		await database.drop();
	});
	const adminToken = 'a-token-of-32-characters-or-more';
	const {child, ended, printed, stderr} = oplink(t, ['serve'], {
		PORT: '0',
		ADMIN_TOKEN: adminToken,
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: url,
		LOG_FORMAT: 'json',
	});
	const [, port] = await printed(/"url":"[^"]*:(\d+)".*"msg":"ready"/);
	await printed(ready);
	await line.cut();
	for (let sent = 0; sent < 10; sent += 1) {
		const {status} = await admin({url: `http://127.0.0.1:${port}`, adminToken}).get('/admin/organizations');
		t.is(status, 503);
	}

	t.true(failuresIn(stderr().split('\n')).length < 10);
	await line.mend();
	child.kill('SIGTERM');
	t.is(await ended, 0);
	t.is(requestsOf(failuresIn(stderr().split('\n'))), 10);
});
