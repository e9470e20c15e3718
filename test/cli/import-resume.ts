import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {organization, type TestOrganization} from '../helpers/builders.ts';
import {folderOf} from '../helpers/folder.ts';
import {ends} from './_run-cli.ts';
import {environment, serviceCli} from './_service-cli.ts';
import {finish, start} from './_spawn-cli.ts';

const {service, cli} = serviceCli(test);

const totalOf = async ({server}: TestOrganization): Promise<number> => (await server.get('/links?limit=1')).body.total;

/** An organization, and imports of bytes as a file of this name with the admin token. */
const setUp = async (t: ExecutionContext) => {
	const folder = await folderOf(t);
	const acme = await organization(service, {plan: 'ENTERPRISE'});
	const imports = async (name: string, bytes: string | Buffer, ...more: string[]) => {
		const file = path.join(folder, name);
		await writeFile(file, bytes);
		const ended = await cli(['links', 'import', file, '--org', acme.orgKey, '--json', ...more]);
		return {...ended, summary: ended.stdout === '' ? null : JSON.parse(ended.stdout), failed: `${file}.failed`};
	};
	return {acme, folder, imports};
};

const ROWS = 600;

/** Rows of which every second one has no name, and the first one is wrong. */
const catalogue = Array.from({length: ROWS}, (_, index) =>
	JSON.stringify(
		index === 0 ? {title: 'no path'} : {path: `/item/${index}`, ...(index % 2 ? {shortCode: `r${index}`} : {})},
	),
);

for (const [what, signal] of [
	['an import interrupted by Ctrl-C', 'SIGINT'],
	['a killed import', 'SIGKILL'],
] as const) {
	test(`${what} resumes without duplicates`, async (t) => {
		const {acme, folder, imports} = await setUp(t);
		const failedFile = path.join(folder, 'again.ndjson');
		const argv = `links import - --format ndjson --org ${acme.orgKey} --failed ${failedFile}`;
		const program = start(t, argv, environment(service));
		// Half of the rows through standard input, which stays open, until the first of them are links.
		program.stdin.write(`${catalogue.slice(0, ROWS / 2).join('\n')}\n`);
		while ((await totalOf(acme)) === 0) {
			// Each turn is a request.
		}

		program.kill(signal);
		const ended = await finish(program);
		if (signal === 'SIGINT') {
			ends(t, ended, 130, {
				stdout: '',
				stderr:
					/(?:^|\n)Interrupted\nThe server confirmed \d+ rows of standard input, and more may be imported \(.*links that exist are skipped\.\n$/,
			});
		}

		// The whole file after a part of it: existing links are skipped, the rest is created, nothing twice.
		const before = await totalOf(acme);
		t.true(before > 0 && before < ROWS - 1);
		const {summary, failed} = ends(t, await imports('links.ndjson', `${catalogue.join('\n')}\n`), 1);
		t.like(summary, {updated: 0, failed: 1, failures: [{line: 1}]});
		t.is(summary.created + summary.skipped, ROWS - 1);
		t.true(summary.skipped >= before);
		t.is(await totalOf(acme), ROWS - 1);
		t.is(await readFile(failed, 'utf8'), `${catalogue[0]}\n`);
	});
}

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
		const {summary, failed} = ends(t, await imports(`links.${name}`, text), 1);
		t.like(summary, {created: 2, failed: 1});
		t.deepEqual(summary.failures, [{...place, message: 'is longer than 1048576 bytes'}]);
		t.deepEqual(await titles(acme), ['A', 'B']);
		t.true((await readFile(failed, 'utf8')).length > 2_500_000);
	});
}

test('a truncated file shows its figures, without a hint to continue', async (t) => {
	const {acme, imports} = await setUp(t);
	const rows = Array.from({length: 50}, (_, index) => `{"path":"/${index}","title":"t"}`).join(',\n');
	for (const [name, text, fault] of [
		['links.json', `[${rows},\nnope]`, /^Error: The JSON file cannot be read beyond line 51/m],
		['links.csv', `path,title\n${'/a,t\n'.repeat(50)}/b,"open`, /^Error: The CSV file cannot be read: .*52/m],
	] as const) {
		const {summary, stderr} = ends(t, await imports(name, text), 1, {
			stderr: [fault, /was read as far as 50 rows\. Fix it/],
		});
		t.is(summary.created + summary.skipped, 50);
		t.is(summary.failed, 0);
		t.notRegex(stderr, /same command/);
	}

	t.is(await totalOf(acme), 51);
});

test('text that is not UTF-8 is refused by its line, and imported with its encoding named', async (t) => {
	const {acme, imports} = await setUp(t);
	const csv = 'path,title,shortCode\n/a,A,a\n/b,Müller,b\n';
	const latin = Buffer.from(csv, 'latin1');
	const refused = ends(t, await imports('links.csv', latin), 1, {
		stderr: /^Error: Line 3 is not UTF-8\nNext: .*--encoding latin1/m,
	});
	t.like(refused.summary, {created: 0});
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
