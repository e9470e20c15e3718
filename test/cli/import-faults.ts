import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {organization, type TestOrganization} from '../helpers/builders.ts';
import {startService, type TestService} from '../helpers/service.ts';
import {finish, start} from './_spawn-cli.ts';

let service: TestService;

test.serial.before(async () => {
	service = await startService();
});
test.after.always(async () => {
	await service?.stop();
});

/** Imports bytes as a file with the admin token and returns the outcomes. */
const setUp = async (t: ExecutionContext) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-faults-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const acme = await organization(service, {plan: 'ENTERPRISE'});
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const imports = async (name: string, bytes: string | Buffer, ...more: string[]) => {
		const file = path.join(folder, name);
		await writeFile(file, bytes);
		const argv = ['links', 'import', file, '--org', acme.orgKey, '--json', ...more];
		const ended = await finish(start(t, argv, env));
		return {...ended, summary: ended.stdout === '' ? null : JSON.parse(ended.stdout), failed: `${file}.failed`};
	};
	return {acme, imports};
};

const titles = async ({server}: TestOrganization): Promise<unknown[]> => {
	const {body} = await server.get('/links?limit=100');
	return body.data.map(({title}: {title: unknown}) => title).sort();
};

const long = 'x'.repeat(5_000_000);
const lines = '\\n'.repeat(2_500_000);

for (const [name, text, place] of [
	['csv', `path,title\n/a,A\n/long,"${long}"\n/b,B\n`, {line: 3}],
	['csv', `path,title\n/a,A\n/long,"${'\n'.repeat(2_500_000)}"\n/b,B\n`, {line: 3}],
	[
		'json',
		`[{"path":"/a","title":"A"},\n{"path":"/long","title":"${long}"},\n{"path":"/b","title":"B"}]`,
		{line: 2, item: 2},
	],
	['ndjson', `{"path":"/a","title":"A"}\n{"path":"/long","title":"${lines}"}\n{"path":"/b","title":"B"}\n`, {line: 2}],
] as const) {
	test(`a row of ${name} that is far too long, ${text.length} characters, is refused by its line and the rest comes in`, async (t) => {
		const {acme, imports} = await setUp(t);
		const {exitCode, summary, failed} = await imports(`links.${name}`, text);
		t.is(exitCode, 1);
		t.like(summary, {created: 2, failed: 1});
		t.deepEqual(summary.failures, [{...place, message: 'is longer than 1048576 bytes'}]);
		t.deepEqual(await titles(acme), ['A', 'B']);
		t.true((await readFile(failed, 'utf8')).length > 2_500_000);
	});
}

test('a truncated file shows its figures, without a hint to continue', async (t) => {
	const {acme, imports} = await setUp(t);
	const rows = Array.from({length: 500}, (_, index) => `{"path":"/${index}","title":"t"}`).join(',\n');
	for (const [name, text, fault] of [
		['links.json', `[${rows},\nnope]`, /^Error: The JSON file cannot be read beyond line 501/m],
		['links.csv', `path,title\n${'/a,t\n'.repeat(500)}/b,"open`, /^Error: The CSV file cannot be read: .*502/m],
	] as const) {
		const {exitCode, summary, stderr} = await imports(name, text);
		t.is(exitCode, 1);
		t.is(summary.created + summary.skipped, 500);
		t.is(summary.failed, 0);
		t.regex(stderr, fault);
		t.regex(stderr, /was read as far as 500 row\(s\)\. Fix it/);
		t.notRegex(stderr, /same command/);
	}

	t.is((await acme.server.get('/links?limit=1')).body.total, 501);
});

test('text that is not UTF-8 is refused by its line, and imported with its encoding named', async (t) => {
	const {acme, imports} = await setUp(t);
	const csv = 'path,title,shortCode\n/a,A,a\n/b,Müller,b\n';
	const latin = Buffer.from(csv, 'latin1');
	const refused = await imports('links.csv', latin);
	t.is(refused.exitCode, 1);
	t.like(refused.summary, {created: 0});
	t.regex(refused.stderr, /^Error: Line 3 is not UTF-8\nNext: .*--encoding latin1/m);
	t.like((await imports('links.csv', latin, '--encoding', 'latin1')).summary, {created: 2});
	t.deepEqual(await titles(acme), ['A', 'Müller']);
	t.like((await imports('links.ndjson', Buffer.from('{"path":"/c","title":"é"}\n', 'latin1'))).summary, {created: 0});

	const wide = Buffer.from(
		`\uFEFF${csv.replaceAll('/', '/w').replace(',b\n', ',w\n').replace(',a\n', ',v\n')}`,
		'utf16le',
	);
	const unnamed = await imports('links.csv', wide);
	t.is(unnamed.exitCode, 2);
	t.regex(unnamed.stderr, /begins as UTF-16LE\nNext: Add --encoding utf-16le/);
	t.like((await imports('links.csv', wide, '--encoding', 'utf-16le')).summary, {created: 2});
	t.is((await imports('links.csv', csv, '--encoding', 'klingon')).exitCode, 2);
});
