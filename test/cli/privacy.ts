import {mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {organization} from '../helpers/builders.ts';
import {serviceOf} from '../helpers/service.ts';
import {hasPty, runOnTerminal} from './_pty.ts';
import {startRecordingServer} from './_recording-server.ts';
import {finish, start} from './_spawn-cli.ts';

const service = serviceOf(test);

const env = () => ({OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken});
const run = (t: ExecutionContext, ...argv: string[]) => finish(start(t, ['privacy', ...argv], env()));

const folderOf = async (t: ExecutionContext): Promise<string> => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-privacy-'));
	t.teardown(() => rm(folder, {recursive: true}));
	return folder;
};

const withUser = async (externalUserId: string) => {
	const acme = await organization(service);
	await acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	await acme.client.post('/sdk/identity', {deviceId: 'device-0001', externalUserId});
	return acme;
};

test('an export goes to standard output, or to a file that only its owner may read', async (t) => {
	const {orgKey} = await withUser('customer 77');
	const printed = await run(t, 'export', orgKey, '--user', 'customer 77');
	t.is(printed.exitCode, 0);
	t.is(JSON.parse(printed.stdout).devices[0].externalUserId, 'customer 77');
	const folder = await folderOf(t);
	const file = path.join(folder, 'customer.json');
	const written = await run(t, 'export', orgKey, '--device', 'device-0001', '--output', file);
	t.is(written.exitCode, 0);
	t.is(written.stdout, '');
	t.is(written.stderr, `Data of device device-0001 written to ${file}\n`);
	t.is(JSON.parse(await readFile(file, 'utf8')).devices.length, 1);
	t.is((await stat(file)).mode & 0o777, 0o600);
});

test('erase needs --yes without a terminal, reports what it erased, and ends with 4 the second time', async (t) => {
	const {orgKey} = await withUser('customer-78');
	const asked = await run(t, 'erase', orgKey, '--user', 'customer-78');
	t.is(asked.exitCode, 2);
	t.regex(asked.stderr, /Add --yes/);
	const first = await run(t, 'erase', orgKey, '--user', 'customer-78', '--yes', '--json');
	t.is(first.exitCode, 0);
	t.deepEqual(JSON.parse(first.stdout), {
		externalUserId: 'customer-78',
		erased: {devices: 1, events: 0, matchAttempts: 0, clicks: 0},
	});
	const second = await run(t, 'erase', orgKey, '--user', 'customer-78', '--yes');
	t.is(second.exitCode, 4);
	t.regex(second.stderr, /^Error: Nothing is stored about this user$/m);
});

(hasPty ? test : test.skip)('on a terminal erase asks first', async (t) => {
	const {orgKey} = await withUser('customer-79');
	const argv = ['privacy', 'erase', orgKey, '--user', 'customer-79'];
	const {screen, exitCode} = await runOnTerminal(t, argv, {env: env(), answers: [['Erase all', 'y\r']]});
	t.is(exitCode, 0);
	t.true(screen.includes('Erased the user customer-79: 1 device(s), 0 event(s), 0 match attempt(s), 0 click(s)'));
});

test('whose data it is has to be said, once', async (t) => {
	for (const argv of [
		['export', 'Ab12'],
		['erase', 'Ab12', '--yes'],
		['export', 'Ab12', '--user', 'a', '--device', 'b'],
	]) {
		t.is((await run(t, ...argv)).exitCode, 2, argv.join(' '));
	}
});

test('an interrupted or refused export does not touch an older file', async (t) => {
	const folder = await folderOf(t);
	const file = path.join(folder, 'data.json');
	await writeFile(file, 'older');
	const {env: broken} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/users/a/data': {
			raw: (_, response) => {
				response.writeHead(200, {'content-type': 'application/json'});
				response.write('{"devices":[');
				setImmediate(() => response.destroy());
			},
		},
	});
	const argv = ['privacy', 'export', 'Ab12', '--output', file, '--user'];
	t.is((await finish(start(t, [...argv, 'a'], broken))).exitCode, 7);
	t.is((await finish(start(t, [...argv, 'b'], broken))).exitCode, 4);
	t.is(await readFile(file, 'utf8'), 'older');
	t.deepEqual(await readdir(folder), ['data.json']);
});
