import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {organization} from '../helpers/builders.ts';
import {startService, type TestService} from '../helpers/service.ts';
import {runCli} from './_run-cli.ts';
import {finish, start} from './_spawn-cli.ts';

let service: TestService;

test.serial.before(async () => {
	service = await startService();
});
test.after.always(async () => {
	await service?.stop();
});

const rows = [
	{path: '/a', shortCode: 'va', params: {x: '1'}},
	{path: '/b', shortCode: 'vb', isActive: false},
	{path: '/c', shortCode: 'vc', expiry: '2020-01-01T00:00:00Z'},
	{path: '/d'},
	{path: '/e', externalId: 've', title: 'E'},
];

const setUp = async (t: ExecutionContext, more: object[] = []) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-verify-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const acme = await organization(service);
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const file = path.join(folder, 'links.json');
	const write = (all: object[]) => writeFile(file, `[\n${all.map((row) => JSON.stringify(row)).join(',\n')}\n]`);
	await write([...rows, ...more]);
	const links = (words: string[], more: Record<string, string> = {}) =>
		runCli(['links', ...words], {env: {...env, ...more}, io: {cwd: folder}});
	t.is((await links(['import', 'links.json', '--org', acme.orgKey])).exitCode, 0);
	return {acme, env, file, links, write, verify: () => links(['import', 'verify', 'links.json', '--org', acme.orgKey])};
};

test('verify asks the short URL of every row: all resolve, or are gone as the row says', async (t) => {
	// More than the concurrent requests, so that a warning about listeners would appear in the output.
	const more = Array.from({length: 24}, (_, index) => ({path: `/${index}`, shortCode: `many${index}`}));
	const {acme, env, file} = await setUp(t, more);
	const {exitCode, stdout, stderr} = await finish(
		start(t, ['links', 'import', 'verify', file, '--org', acme.orgKey, '--json'], env),
	);
	t.deepEqual(JSON.parse(stdout), {resolved: 27, gone: 2, failed: 0, failures: []});
	t.regex(stderr, /^(?:\d+ rows.*\n)*$/);
	t.is(exitCode, 0);
});

test('verify counts no click and changes nothing', async (t) => {
	const {acme, links, verify} = await setUp(t);
	const exported = async () => (await links(['export', '--org', acme.orgKey])).stdout;
	const before = await exported();
	t.is((await verify()).exitCode, 0);
	t.is(await exported(), before);
	const {body} = await acme.server.get('/links?limit=1');
	t.is(body.total, rows.length);
	t.deepEqual(await service.services.db('clicks').where({organization_id: acme.id}), []);
});

test('verify reports by line which links are missing, lead elsewhere, or do not resolve as expected', async (t) => {
	const {acme, verify, write} = await setUp(t);
	await write([
		{...rows[0], path: '/elsewhere'},
		{...rows[1], isActive: true},
		{path: '/f', shortCode: 'vf'},
		{title: 'no path'},
		{...rows[4], title: 'another title'},
	]);
	const {exitCode, stdout, stderr} = await verify();
	t.is(exitCode, 1);
	t.is(stdout, '1 resolve, 0 gone as the file says, 4 failed\n');
	const url = (code: string) => `http://localhost:\\d+/${acme.orgKey}/${code}`;
	const lines = stderr.trim().split('\n');
	t.is(lines.length, 4);
	t.regex(
		lines[0] ?? '',
		new RegExp(`^line 2 \\(item 1\\): ${url('va')} leads to another path, or with other parameters$`),
	);
	t.regex(lines[1] ?? '', new RegExp(`^line 3 \\(item 2\\): ${url('vb')} answers 410$`));
	t.is(lines[2], 'line 4 (item 3): is not imported');
	t.is(lines[3], 'line 5 (item 4): path is required');
});

test('a reactivated link is reported if the row says that it is gone', async (t) => {
	const {acme, verify} = await setUp(t);
	// The codes of rows without one are different each time, and may have these letters, too.
	const {body} = await acme.server.get('/links?q=vb');
	const {id} = body.data.find(({shortCode}: {shortCode: string}) => shortCode === 'vb');
	await acme.server.patch(`/links/${id}`, {isActive: true});
	const {exitCode, stderr} = await verify();
	t.is(exitCode, 1);
	t.regex(stderr, /^line 3 \(item 2\): \S+\/vb answers 200 where the row is no longer active\n$/);
});

test('verify with a SERVER key requests short codes, and reports rows without one', async (t) => {
	const {acme, links, write} = await setUp(t);
	await write([{shortCode: 'va', path: '/a'}, {shortCode: 'nope', path: '/n'}, {path: '/d'}]);
	const {exitCode, stdout, stderr} = await links(['import', 'verify', 'links.json'], {OPLINK_API_KEY: acme.serverKey});
	t.is(exitCode, 1);
	t.is(stdout, '1 resolve, 0 gone as the file says, 2 failed\n');
	t.regex(
		stderr,
		/^line 3 \(item 2\): \S+\/nope answers 404\nline 4 \(item 3\): has no short code, which an API key needs/,
	);
});

test('the help of verify is its own', async (t) => {
	const {exitCode, stdout} = await runCli(['links', 'import', 'verify', '--help']);
	t.is(exitCode, 0);
	t.regex(stdout, /^Usage: oplink links import verify \[options\] <file>/);
	t.true(stdout.includes('$ oplink links import verify links.csv --org Ab12'));
	t.false(stdout.includes('--on-conflict'));
});
