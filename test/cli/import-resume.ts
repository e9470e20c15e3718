import {once} from 'node:events';
import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {organization, type TestOrganization} from '../helpers/builders.ts';
import {serviceOf} from '../helpers/service.ts';
import {folderOf} from './_folder.ts';
import {ends} from './_run-cli.ts';
import {finish, type Program, start} from './_spawn-cli.ts';

const service = serviceOf(test);

const ROWS = 600;

/** Rows of which every second one has no name, and the first one is wrong. */
const catalogue = Array.from({length: ROWS}, (_, index) =>
	JSON.stringify(
		index === 0 ? {title: 'no path'} : {path: `/item/${index}`, ...(index % 2 ? {shortCode: `r${index}`} : {})},
	),
);

const totalOf = async ({server}: TestOrganization): Promise<number> => (await server.get('/links?limit=1')).body.total;

/** Half of the rows through standard input, which stays open, until the first of them are links. */
const startHalfway = async (t: ExecutionContext, acme: TestOrganization, failed: string) => {
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const program = start(t, `links import - --format ndjson --org ${acme.orgKey} --failed ${failed}`, env);
	program.stdin.write(`${catalogue.slice(0, ROWS / 2).join('\n')}\n`);
	while ((await totalOf(acme)) === 0) {
		// Each turn is a request.
	}

	return program;
};

const setUp = async (t: ExecutionContext) => {
	const folder = await folderOf(t);
	const file = path.join(folder, 'links.ndjson');
	await writeFile(file, `${catalogue.join('\n')}\n`);
	const acme = await organization(service, {plan: 'ENTERPRISE'});
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const importAll = () => finish(start(t, ['links', 'import', file, '--org', acme.orgKey, '--json'], env));
	return {acme, folder, file, importAll};
};

/** The whole file after a part of it: existing links are skipped, the rest is created, nothing twice. */
const resumes = async (t: ExecutionContext, {acme, file, importAll}: Awaited<ReturnType<typeof setUp>>) => {
	const before = await totalOf(acme);
	t.true(before > 0 && before < ROWS - 1);
	const {stdout} = ends(t, await importAll(), 1);
	const summary = JSON.parse(stdout);
	t.like(summary, {updated: 0, failed: 1, failures: [{line: 1}]});
	t.is(summary.created + summary.skipped, ROWS - 1);
	t.true(summary.skipped >= before);
	t.is(await totalOf(acme), ROWS - 1);
	t.is(await readFile(`${file}.failed`, 'utf8'), `${catalogue[0]}\n`);
};

test('an import interrupted by Ctrl-C resumes without duplicates', async (t) => {
	const given = await setUp(t);
	const failed = path.join(given.folder, 'again.ndjson');
	const program = await startHalfway(t, given.acme, failed);
	program.kill('SIGINT');
	ends(t, await finish(program), 130, {
		stdout: '',
		stderr:
			/(?:^|\n)Interrupted\nThe server confirmed \d+ rows of standard input, and more may be imported \(.*links that exist are skipped\.\n$/,
	});
	await resumes(t, given);
});

test('a killed import resumes without duplicates', async (t) => {
	const given = await setUp(t);
	const program: Program = await startHalfway(t, given.acme, path.join(given.folder, 'again.ndjson'));
	program.kill('SIGKILL');
	await once(program, 'close');
	await resumes(t, given);
});

test('a row without a name is one link, whether a SERVER key or the admin token imports it', async (t) => {
	const {acme, file, importAll} = await setUp(t);
	const rows = [
		{path: '/a', title: null, fallbackUrl: 'https://EXAMPLE.org', matchWindowHours: 72, params: {b: '1', a: '2'}},
		{url: 'https://old.example/x', tags: ['ü'], og: {title: 'T', imageUrl: null}, path: '/b', externalId: null},
	];
	const reordered = {matchWindowHours: 72, path: '/a', params: {a: '2', b: '1'}, fallbackUrl: 'https://EXAMPLE.org'};
	await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
	const byKey = async () => {
		const env = {OPLINK_URL: service.url, OPLINK_API_KEY: acme.serverKey};
		return JSON.parse((await finish(start(t, ['links', 'import', file, '--json'], env))).stdout);
	};
	t.like(await byKey(), {created: 2, failed: 0});
	t.like(JSON.parse((await importAll()).stdout), {created: 0, skipped: 2, failed: 0});

	await writeFile(file, [{path: '/c'}, reordered].map((row) => `${JSON.stringify(row)}\n`).join(''));
	t.like(JSON.parse((await importAll()).stdout), {created: 1, skipped: 1});
	t.like(await byKey(), {created: 0, skipped: 2});
	t.is(await totalOf(acme), 3);
});

/** Imports bytes as a file with the admin token and returns the outcomes. */
const setUpImport = async (t: ExecutionContext) => {
	const folder = await folderOf(t);
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
		const {acme, imports} = await setUpImport(t);
		const {summary, failed} = ends(t, await imports(`links.${name}`, text), 1);
		t.like(summary, {created: 2, failed: 1});
		t.deepEqual(summary.failures, [{...place, message: 'is longer than 1048576 bytes'}]);
		t.deepEqual(await titles(acme), ['A', 'B']);
		t.true((await readFile(failed, 'utf8')).length > 2_500_000);
	});
}

test('a truncated file shows its figures, without a hint to continue', async (t) => {
	const {acme, imports} = await setUpImport(t);
	const rows = Array.from({length: 500}, (_, index) => `{"path":"/${index}","title":"t"}`).join(',\n');
	for (const [name, text, fault] of [
		['links.json', `[${rows},\nnope]`, /^Error: The JSON file cannot be read beyond line 501/m],
		['links.csv', `path,title\n${'/a,t\n'.repeat(500)}/b,"open`, /^Error: The CSV file cannot be read: .*502/m],
	] as const) {
		const {summary, stderr} = ends(t, await imports(name, text), 1);
		t.is(summary.created + summary.skipped, 500);
		t.is(summary.failed, 0);
		t.regex(stderr, fault);
		t.regex(stderr, /was read as far as 500 rows\. Fix it/);
		t.notRegex(stderr, /same command/);
	}

	t.is((await acme.server.get('/links?limit=1')).body.total, 501);
});

test('text that is not UTF-8 is refused by its line, and imported with its encoding named', async (t) => {
	const {acme, imports} = await setUpImport(t);
	const csv = 'path,title,shortCode\n/a,A,a\n/b,Müller,b\n';
	const latin = Buffer.from(csv, 'latin1');
	const refused = ends(t, await imports('links.csv', latin), 1);
	t.like(refused.summary, {created: 0});
	t.regex(refused.stderr, /^Error: Line 3 is not UTF-8\nNext: .*--encoding latin1/m);
	t.like((await imports('links.csv', latin, '--encoding', 'latin1')).summary, {created: 2});
	t.deepEqual(await titles(acme), ['A', 'Müller']);
	t.like((await imports('links.ndjson', Buffer.from('{"path":"/c","title":"é"}\n', 'latin1'))).summary, {created: 0});

	const wide = Buffer.from(
		`\uFEFF${csv.replaceAll('/', '/w').replace(',b\n', ',w\n').replace(',a\n', ',v\n')}`,
		'utf16le',
	);
	ends(t, await imports('links.csv', wide), 2, {stderr: /begins as UTF-16LE\nNext: Add --encoding utf-16le/});
	t.like((await imports('links.csv', wide, '--encoding', 'utf-16le')).summary, {created: 2});
	t.is((await imports('links.csv', csv, '--encoding', 'klingon')).exitCode, 2);
});
