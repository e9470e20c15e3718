import test from 'ava';
import {createFaultSampler, createLog} from '../../../src/start/log.ts';
import {admin} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';

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
	const logged = {write: (text: string) => written.push(text)};
	const service = await startService({LOG_LEVEL: 'warn'}, clock, {...database, url}, logged);
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

/** Has the process warn at a signal, as Node and packages do when they please. */
const preload = `data:text/javascript,process.on('SIGUSR2',()=>process.emitWarning('old%20ways',{code:'OLD'}))`;

test('with DATABASE_URL there is no demo; process warnings are log lines, and a stop counts suppressed ones', async (t) => {
	const database = await createTestDatabase();
	const {line, url} = await openDatabaseLine(database.url);
	t.teardown(async () => {
		await line.close();
		await database.drop();
	});
	const adminToken = 'a-token-of-32-characters-or-more';
	const {child, ended, printed, stdout, stderr} = oplink(t, ['serve'], {
		PORT: '0',
		ADMIN_TOKEN: adminToken,
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: url,
		NODE_OPTIONS: `--import=${preload}`,
	});
	const [, address = ''] = await printed(ready);
	const service = {url: address, adminToken};
	t.is((await admin(service).get('/health/ready')).body.checks.database, 'ok');
	t.false(stdout().includes('demo'));
	child.kill('SIGUSR2');
	await printed(/a warning of the process/);
	await line.cut();
	for (let sent = 0; sent < 10; sent += 1) {
		t.is((await admin(service).get('/admin/organizations')).status, 503);
	}

	const lines = () => stderr().trim().split('\n');
	t.true(failuresIn(lines()).length < 10);
	await line.mend();
	child.kill('SIGTERM');
	t.is(await ended, 0);
	t.is(requestsOf(failuresIn(lines())), 10);
	const warnings = lines()
		.map((text) => JSON.parse(text))
		.filter(({msg}) => msg === 'a warning of the process');
	t.like(warnings, {length: 1, 0: {level: 'warn', err: {message: 'old ways', code: 'OLD'}}});
});

/** A log by a fake clock: its lines, and a summary of each, its origin and how many lines it stands for. */
const open = () => {
	const clock = createFakeClock();
	const sampler = createFaultSampler(clock);
	const written: string[] = [];
	const log = createLog({logLevel: 'debug', logFormat: 'json'}, sampler, {write: (line) => written.push(line)});
	const lines = () => written.map((line) => JSON.parse(line));
	const summaries = () => lines().map(({requestId, msg, repeated = '-'}) => `${requestId ?? msg} ${repeated}`);
	return {clock, sampler, log, lines, summaries};
};

type Opened = ReturnType<typeof open>;

const failureOf = (code?: string, message = 'away'): Error => Object.assign(new Error(message), {code});
const one = failureOf('ECONNREFUSED');
const sameAgain = failureOf('ECONNREFUSED', 'away again');
sameAgain.stack = one.stack ?? '';

/** Repeated log calls, and the expected number of lines. */
const pairs: Array<[string, number, (opened: Opened) => void]> = [
	['the same message', 1, ({log}) => [0, 1].map(() => log.warn('away'))],
	['the same fields', 1, ({log}) => [0, 1].map(() => log.error({status: 500}, 'refused'))],
	['errors with other messages', 1, ({log}) => [one, sameAgain].map((err) => log.error({err}, 'failed'))],
	['requests with other ids', 1, ({log}) => ['a', 'b'].map((requestId) => log.child({requestId}).warn('away'))],
	['calls that differ in their path', 1, ({log}) => ['/a', '/b'].map((path) => log.warn({path}, 'away'))],
	['clicks', 1, ({log}) => ['a', 'b'].map((click) => log.warn({err: one, click}, 'refused'))],
	['an error without a message of ours', 1, ({log}) => [0, 1].map(() => log.error(one))],
	['two messages', 2, ({log}) => ['away', 'full'].map((message) => log.warn(message))],
	['two levels', 2, ({log}) => [log.warn('away'), log.error('away')]],
	['two codes', 2, ({log}) => ['EPIPE', 'ECONNRESET'].map((code) => log.warn({err: failureOf(code)}, 'failed'))],
	['two classes', 2, ({log}) => [new RangeError('a'), new TypeError('a')].map((err) => log.warn({err}, 'failed'))],
	['two places', 2, ({log}) => [log.warn({err: failureOf()}, 'failed'), log.warn({err: new Error('away')}, 'failed')]],
	['two payments', 2, ({log}) => ['a', 'b'].map((attemptId) => log.error({attemptId}, 'a payment is given back'))],
	['info', 2, ({log}) => [0, 1].map(() => log.info('ready'))],
	['debug', 2, ({log}) => [0, 1].map(() => log.debug({err: one}, 'request'))],
];

for (const [what, count, write] of pairs) {
	test(`${what}: ${count === 1 ? 'one line, the other is suppressed' : 'two lines'}`, (t) => {
		const opened = open();
		write(opened);
		t.is(opened.lines().length, count);
		opened.sampler.flush();
		t.is(opened.lines().length, 2);
	});
}

test('a fault that lasts is one line a minute, the last of them with the number of those it stands for', (t) => {
	const {clock, sampler, log, lines, summaries} = open();
	for (let second = 0; second <= 130; second += 1) {
		log.child({requestId: `r${second}`}).error({err: one}, 'request failed');
		clock.advance(1);
	}

	sampler.flush();
	sampler.flush();
	t.deepEqual(summaries(), ['r0 -', 'r60 60', 'r120 60', 'r130 10']);
	t.like(lines()[1], {level: 'error', msg: 'request failed', err: {message: 'away', code: 'ECONNREFUSED'}});
});

test('suppressed lines of an ended fault are written with the next one', (t) => {
	const {clock, log, summaries} = open();
	for (const message of ['away', 'away', 'away']) {
		log.warn(message);
	}

	clock.advance(60);
	log.warn('full');
	clock.advance(60);
	log.warn('away');
	t.deepEqual(summaries(), ['away -', 'full -', 'away 2', 'away -']);
});

test('a clock that is set back holds nothing back for longer', (t) => {
	const {clock, log, summaries} = open();
	log.warn('away');
	log.warn('away');
	t.deepEqual(summaries(), ['away -']);
	clock.advance(-3600);
	log.warn('away');
	t.deepEqual(summaries(), ['away -', 'away 2']);
});

test('endless kinds of fault are tracked up to a limit, and none is lost', (t) => {
	const {sampler, log, lines} = open();
	for (let attemptId = 0; attemptId < 2000; attemptId += 1) {
		log.error({attemptId}, 'a payment is given back');
		log.error({attemptId}, 'a payment is given back');
	}

	t.is(lines().length, 3500);
	sampler.flush();
	t.is(lines().length, 4000);
});
