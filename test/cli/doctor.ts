import test from 'ava';
import stringWidth from 'string-width';
import {judgeVersion} from '../../src/cli/doctor/ask-server.ts';
import {findingsText, summaryText} from '../../src/cli/doctor/report.ts';
import {terminalText} from '../../src/cli/terminal/printable.ts';
import {compareClocks, type Finding, findingsOf} from '../../src/operations/finding.ts';
import {packageVersion} from '../../src/platform/package-root.ts';
import {organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {folderOf} from '../helpers/folder.ts';
import {createRunningClock} from '../helpers/service.ts';
import {closedAddress, startRecordingServer} from './_recording-server.ts';
import {ends, runCli} from './_run-cli.ts';
import {serviceCli} from './_service-cli.ts';

const {service, cli} = serviceCli(test, createRunningClock());

const findingsIn = ({stdout}: {stdout: string}): Finding[] => JSON.parse(stdout).findings;
const statusOf = (findings: Finding[], check: string) => findings.find((one) => one.check === check)?.status;

test.serial(
	'a healthy server has no failure, and warns only of a local link domain and of keys in the clear',
	async (t) => {
		await organization(service);
		const result = ends(t, await cli('doctor --json'), 0);
		t.is(JSON.parse(result.stdout).status, 'warn');
		const checksOf = (fine: boolean) =>
			findingsIn(result).flatMap(({check, status}) => ((status === 'ok') === fine ? [check] : []));
		// The embedded PostgreSQL grows old with the calendar.
		const warnings = checksOf(false).filter((check) => check !== 'database.age');
		t.deepEqual(warnings, ['configuration.keySecret', 'host.https']);
		const fine = `server.address server.ready server.clock server.token server.version public.answer
		database.version database.clock database.migrations redis.reachable disk.space identity.configured
		stripe.configured paymob.configured host.address host.apple host.android`;
		const found = fine.split(/\s+/).filter((check) => !checksOf(true).includes(check));
		t.deepEqual(found, []);
	},
);

test.serial(
	'for people each area has a title, every line fits 80 columns, and with --strict a warning ends with 1',
	async (t) => {
		const {stdout} = ends(t, await cli('doctor --strict'), 1, {stderr: ''});
		t.regex(stdout, /^Server\n {2}ok {4}http:\/\/127\.0\.0\.1:\d+\n {2}ok {4}it answers and is ready\n/);
		t.regex(stdout, /\nDatabase\n {2}ok {4}PostgreSQL /);
		t.regex(stdout, /\n {2}warn {2}links on it work on this machine only\n {8}Next: Set LINK_DOMAIN /);
		t.regex(stdout, /\n\n0 failures, [23] warnings, \d+ ok\n$/);
		t.is(stdout.match(/^Server$/gm)?.length, 1);
		t.true(Math.max(...stdout.split('\n').map((line) => stringWidth(line))) <= 80, stdout);
	},
);

test('only the named organizations are examined, and an unknown one ends with 4', async (t) => {
	const {orgKey, id} = await organization(service);
	for (const named of [`${orgKey} ${id}`, `${id} --org ${orgKey}`]) {
		t.is(statusOf(findingsIn(await cli(`doctor ${named} --json`)), 'host.apple'), 'ok');
	}

	for (const unknown of ['Nope1', '--org Nope1']) {
		t.is((await cli(`doctor ${unknown}`)).exitCode, 4);
	}
});

test('a refused or missing token is a failure with the next step', async (t) => {
	for (const [env, message] of [
		[{OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: 'x'.repeat(40)}, 'it refuses the admin token'],
		[{OPLINK_URL: service.url}, 'No admin token is given'],
	] as const) {
		const result = ends(t, await runCli('doctor --json', {env}), 1);
		const found = findingsIn(result).find(({check}) => check === 'server.token');
		t.like(found, {status: 'fail', message});
		t.regex(found?.next ?? '', /oplink login/);
	}
});

test('an unreachable remote server ends with 7, without findings about this machine', async (t) => {
	const result = ends(t, await runCli('doctor --json --url http://127.0.0.1.example.invalid --token x'), 7);
	const found = findingsIn(result).map(({check, status}) => [check, status]);
	t.deepEqual(found, [
		['server.address', 'ok'],
		['server.reachable', 'fail'],
	]);
});

test('if the server of this machine is down, its environment and database are examined', async (t) => {
	const folder = await folderOf(t);
	const url = closedAddress;
	const env = {OPLINK_URL: url, DATABASE_URL: service.databaseUrl, DATA_DIR: folder, REDIS_URL: 'redis://127.0.0.1:1'};
	const result = ends(t, await runCli('doctor --json', {env}), 7);
	for (const [check, status] of [
		['database.version', 'ok'],
		['database.migrations', 'ok'],
		['disk.space', 'ok'],
		['redis.reachable', 'fail'],
	] as const) {
		t.is(statusOf(findingsIn(result), check), status, check);
	}

	const wrong = await runCli('doctor --json', {env: {OPLINK_URL: url, PORT: 'many', WORKERS: '0'}});
	const found = findingsIn(wrong).flatMap(({check, message}) =>
		check === 'configuration.fault' ? [message.split(' ')[0]] : [],
	);
	t.deepEqual(found, ['PORT', 'WORKERS']);
	const fresh = await runCli('doctor --json', {env: {OPLINK_URL: url, DATA_DIR: folder}});
	const database = findingsIn(fresh).find(({area}) => area === 'Database');
	t.is(database?.message, 'there is none yet; the first start creates one in DATA_DIR');
});

test('a server that is not ready and a foreign server are failures', async (t) => {
	const checks = {database: 'ok', migrations: 'pending'};
	const pending = await startRecordingServer(t, {
		'GET /health/ready': {status: 503, body: {status: 'unavailable', checks}},
	});
	const other = await startRecordingServer(t, {'GET /health/ready': {body: Buffer.from('<html>')}});
	for (const [{env}, message] of [
		[pending, 'it answers but is not ready: migrations pending'],
		[other, 'the server there (status 200) is not Oplink, or this is not its API host'],
	] as const) {
		const result = ends(t, await runCli('doctor --json', {env}), 1);
		t.is(findingsIn(result).find(({check}) => check === 'server.ready')?.message, message);
		t.is(statusOf(findingsIn(result), 'server.doctor'), 'fail');
	}
});

test('a token without the scope is a failure that says which token is needed', async (t) => {
	const {body} = await admin(service).post('/admin/tokens', {name: 'viewer', scopes: ['viewer']});
	const result = ends(t, await cli('doctor --json', {env: {OPLINK_ADMIN_TOKEN: body.token}}), 1);
	const found = findingsIn(result).find(({check}) => check === 'server.token');
	t.like(found, {
		status: 'fail',
		message: 'it refuses this token: The token lacks the scope system:read',
		next: 'Use a token of the preset support that is not bound to an organization',
	});
});

test('Ctrl-C ends it with 130', async (t) => {
	const interruption = new AbortController();
	const {cli} = await startRecordingServer(t, {'GET /health/ready': {raw: () => interruption.abort()}});
	ends(t, await cli('doctor', {io: {interruption: interruption.signal}}), 130, {stderr: 'Interrupted\n'});
});

test('clocks that differ are warnings, and a slow answer is not', (t) => {
	const at = (time: string) => new Date(`2026-03-10T${time}Z`);
	const judge = (read: string) => {
		const reading = {read: at(read), asked: at('12:00:00'), answered: at('12:00:30')};
		return compareClocks(findingsOf('Server'), 'server.clock', reading, 'this machine');
	};
	for (const fine of ['11:59:56', '12:00:15', '12:00:35']) {
		t.is(judge(fine).status, 'ok', fine);
	}

	t.like(judge('12:01:30'), {status: 'warn', message: 'its clock is 60 s ahead of that of this machine'});
	t.like(judge('11:59:00'), {status: 'warn', message: 'its clock is 60 s behind that of this machine'});
});

test('the server’s clock is that of its Date header', async (t) => {
	const clockOf = async (date: string) => {
		const {cli} = await startRecordingServer(t, {'GET /health/ready': {body: {status: 'ok'}, headers: {date}}});
		return findingsIn(await cli('doctor --json')).find(({check}) => check === 'server.clock');
	};
	t.like(await clockOf(new Date(Date.now() - 3_600_000).toUTCString()), {status: 'warn'});
	t.is(await clockOf('yesterday'), undefined);
});

test('versions that differ are a warning', (t) => {
	t.is(judgeVersion(packageVersion(), packageVersion()).status, 'ok');
	t.like(judgeVersion('9.0.0', '0.1.0'), {status: 'warn', message: 'it is version 9.0.0, this program 0.1.0'});
});

test('verdicts are coloured on a terminal, and no text of a finding can steer it', (t) => {
	const {ok, fail} = findingsOf('Server');
	const findings = [ok('a', 'fine'), fail('b', 'odd \u001B[2J', 'Mend it')];
	const found = findingsText(findings, {width: 80, isColoured: false});
	t.is(found, 'Server\n  ok    fine\n  fail  odd  [2J\n        Next: Mend it');
	t.true(terminalText(findingsText(findings, {width: 80, isColoured: true})).includes('\u001B[31mfail'));
	t.is(summaryText(findings), '1 failure, 0 warnings, 1 ok');
});
