import {access, copyFile, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';
import {approvedDomain, organization, type TestOrganization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {folderOf} from '../helpers/folder.ts';
import {serviceCli, withKey} from './_service-cli.ts';

const {service, cli} = serviceCli(test);

const excerpts = path.join(packageRoot, 'test/fixtures/import/');

/** A folder with an excerpt, and imports of it into a new organization; `stderr` is its lines. */
const setUp = async (t: ExecutionContext, excerpt: string) => {
	const folder = await folderOf(t);
	const acme = await organization(service);
	const file = (name: string) => path.join(folder, name);
	await copyFile(path.join(excerpts, excerpt), file(excerpt));
	const run = async (words: string[], env: Record<string, string> = {}) => {
		const {stderr, ...ended} = await cli(['links', 'import', ...words], {env});
		return {...ended, stderr: stderr.split('\n').slice(0, -1)};
	};
	return {
		acme,
		file,
		imports: (...words: string[]) => run([...words, '--org', acme.orgKey]),
		importsByKey: (...words: string[]) => run(words, withKey(acme).env),
	};
};

const linksOf = async ({server}: TestOrganization) => {
	const {data} = (await server.get('/links?limit=100')).body;
	return new Map<string, Record<string, unknown>>(data.map((link: {shortCode: string}) => [link.shortCode, link]));
};

test('the export of Firebase Dynamic Links comes in, its faults by line; corrected they come in too', async (t) => {
	const {acme, file, imports} = await setUp(t, 'firebase.csv');
	await approvedDomain(acme, 'links.acme.test');
	const first = await imports(file('firebase.csv'));
	t.is(first.exitCode, 1);
	t.is(first.stdout, '8 created, 0 updated, 0 skipped, 8 failed\n');
	t.deepEqual(first.stderr.slice(0, 3), [
		`Reading ${file('firebase.csv')} as the CSV export of Firebase Dynamic Links (--format firebase)`,
		'Not carried over (docs/importing.md lists what is):',
		'  7 × the domain acme.page.link',
	]);
	const found = first.stderr.filter((line) => line.startsWith('line '));
	t.deepEqual(found, [
		"line 9: short code 'bFoNyM2ojIqgWXunv' is also used in line 8, by another link",
		'line 10: has no deep link',
		"line 11: deep link 'javascript:alert(1)' is not an http or https URL",
		'line 12: fallbackUrl must be an http or https URL of a public host (ofl, else link)',
		"line 13: short code 'with space' must be 1 to 64 letters, digits, _ or -",
		'line 14: og.imageUrl must be an http or https URL of a public host (si)',
		'line 15: og.title must be shorter than or equal to 255 characters (st)',
		'line 16: has 12 cells where 29 are expected',
	]);
	const links = await linksOf(acme);
	t.like(links.get('UG1R'), {isActive: false, path: '/', fallbackUrl: 'https://www.acme.test/'});
	t.is(links.get('spring')?.['url'], `https://links.acme.test/${acme.orgKey}/spring`);

	const failed = await readFile(file('firebase.csv.failed'), 'utf8');
	t.true(failed.startsWith('\uFEFFShort link,Deep link (link),'));
	t.is(failed.split('\r\n').length, 10);
	const mended = failed
		.replace('bFoNyM2ojIqgWXunv', 'boots')
		.replace('D1CVbLtUfezjoxGZy,', 'D1CVbLtUfezjoxGZy,https://www.acme.test/cap')
		.replace('javascript:alert(1)', 'https://www.acme.test/alert')
		.replace('https:evil.test', 'https://www.acme.test/')
		.replace('with space', 'with-space')
		.replace('ftp://cdn', 'https://cdn')
		.replace(/T{300}/, 'T')
		.replace(/^.*W3lb32HR1Xg4Y6PhX.*$/m, (row) => row.trimEnd() + ','.repeat(17));
	await writeFile(file('firebase.csv.failed'), mended);
	const second = await imports(file('firebase.csv.failed'));
	t.is(second.stdout, '8 created, 0 updated, 0 skipped, 0 failed\n', second.stderr.join('\n'));
	t.is(second.exitCode, 0);
	t.is((await linksOf(acme)).size, 16);
});

test('links of Branch come in; an unknown channel is mapped, or corrected in the file of failed rows', async (t) => {
	const {acme, file, imports} = await setUp(t, 'branch.json');
	const first = await imports(file('branch.json'));
	t.is(first.exitCode, 1);
	t.is(first.stdout, '3 created, 0 updated, 0 skipped, 1 failed\n');
	const refusal = first.stderr.find((line) => line.startsWith('line '));
	t.regex(refusal ?? '', /^line \d+ \(item 3\): Unknown channel 'facebook'$/);
	t.true(first.stderr.some((line) => line.startsWith('Next: Use --map-channel ')));
	t.like((await linksOf(acme)).get('branch-0'), {channel: 'referral', params: {item_id: '0', nested: '{"a":1}'}});

	const failed = await readFile(file('branch.json.failed'), 'utf8');
	const channels = JSON.parse(failed).map(({channel}: {channel: string}) => channel);
	t.deepEqual(channels, ['facebook']);
	const mapped = await imports(file('branch.json.failed'), '--map-channel', 'facebook=social', '--dry-run');
	t.is(mapped.stdout, 'Would be: 1 created, 0 updated, 0 skipped, 0 failed\n');
	await writeFile(file('branch.json.failed'), failed.replace('"facebook"', '"paid"'));
	t.is((await imports(file('branch.json.failed'))).stdout, '1 created, 0 updated, 0 skipped, 0 failed\n');
});

test('links of Bitly come in with their custom codes, failed rows are a list again', async (t) => {
	const {acme, file, imports} = await setUp(t, 'bitly.json');
	const text = await readFile(file('bitly.json'), 'utf8');
	await writeFile(file('bitly.json'), text.replace('go.acme.test/bitly-0', 'go.acme.test/bitly.0'));
	t.is((await imports(file('bitly.json'))).stdout, '2 created, 0 updated, 0 skipped, 1 failed\n');
	const failed = await readFile(file('bitly.json.failed'), 'utf8');
	t.is(JSON.parse(failed).links.length, 1);
	await writeFile(file('bitly.json.failed'), failed.replace('bitly.0', 'bitly-0'));
	t.is((await imports(file('bitly.json.failed'))).stdout, '1 created, 0 updated, 0 skipped, 0 failed\n');
	t.like((await linksOf(acme)).get('bitly-0'), {isActive: false, utmSource: 'bitly', tags: ['print']});
});

test('links of Dub come in with expiry and tags; for keys with a slash a prefix is proposed', async (t) => {
	const {acme, file, imports} = await setUp(t, 'dub.ndjson');
	const {id} = await approvedDomain(acme, 'dub.acme.test', {pathPrefixes: ['promos']});
	const first = await imports(file('dub.ndjson'));
	t.is(first.stdout, '4 created, 0 updated, 0 skipped, 0 failed\n');
	const next = `oplink domains set --org ${acme.orgKey} dub.acme.test --path-prefix promos --path-prefix dub`;
	t.deepEqual(first.stderr.slice(1), [`Next: ${next}, for the old addresses with a prefix`]);
	t.like((await linksOf(acme)).get('0'), {expiry: '2031-01-01T00:00:00.000Z', tags: ['dub'], utmCampaign: 'migrate'});

	const old = () => anonymous(service).get('/dub/0/data', {Host: 'dub.acme.test'});
	t.is((await old()).status, 400);
	await acme.operator.patch(`/domains/${id}`, {pathPrefixes: ['promos', 'dub']});
	t.is((await old()).body.path, '/p/0');
	const again = await imports(file('dub.ndjson'));
	t.is(again.stdout, '0 created, 0 updated, 4 skipped, 0 failed\n');
	t.is(again.stderr.length, 1);
});

test('without an app configuration an import stops with that one sentence and its next step, whatever the file and credential', async (t) => {
	const {acme, file, imports, importsByKey} = await setUp(t, 'bitly.json');
	await service.services.db('app_configs').where({organization_id: acme.id}).delete();
	await writeFile(file('own.csv'), `path\n${'/a\n'.repeat(30)}`);
	for (const name of ['bitly.json', 'own.csv']) {
		for (const ended of [
			await imports(file(name)),
			await imports(file(name), '--dry-run'),
			await importsByKey(file(name)),
		]) {
			const said = ended.stderr.filter((line) => !/^(?:Reading |With an API key)/.test(line));
			t.is(said[0], 'Error: Register an app configuration before the first link');
			t.true(said.at(-1)?.startsWith('Next: Register the apps: oplink app-config set'));
			t.true(said.length <= 3, said.join('\n'));
			t.like(ended, {exitCode: 6, stdout: ''});
		}

		await t.throwsAsync(access(file(`${name}.failed`)));
	}

	await acme.operator.put('/plan', {plan: null});
	t.regex((await imports(file('own.csv'))).stderr[0] ?? '', /^Error: Select a plan first$/);
});

test('an unknown channel of our own file names the option that maps it, with each credential', async (t) => {
	const {file, imports, importsByKey} = await setUp(t, 'bitly.json');
	await writeFile(file('own.csv'), 'path;channel\n/a;fax\n');
	for (const {stderr} of [await imports(file('own.csv'), '--dry-run'), await importsByKey(file('own.csv'))]) {
		t.true(stderr.includes("line 2: Unknown channel 'fax'"), stderr.join('\n'));
		t.true(stderr.some((line) => line.startsWith('Next: Use --map-channel NAME=CHANNEL ')));
	}

	const found = (await imports(file('own.csv'), '--map-channel', 'fax=email')).stdout;
	t.is(found, '1 created, 0 updated, 0 skipped, 0 failed\n');
});

test('a file that is not a list of links is named by its format', async (t) => {
	const {file, imports} = await setUp(t, 'bitly.json');
	const zip = (name: string) => `PK\x03\x04\x14\0\x06\0\x08\0${'\0'.repeat(18)}${name}${'\xff'.repeat(9000)}`;
	for (const [content, what] of [
		[zip('[Content_Types].xml'), 'an Excel workbook (.xlsx)'],
		[zip('mimetypeapplication/vnd.oasis.opendocument.spreadsheet'), 'an OpenDocument spreadsheet (.ods)'],
		[zip('links.csv'), 'a ZIP archive'],
		['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'an Excel workbook (.xls)'],
		['\x1f\x8b\x08', 'a gzip file'],
		['%PDF-1.7', 'a PDF document'],
		['\n<!DOCTYPE html><title>Log in</title>', 'a page of HTML or XML'],
	] as const) {
		for (const words of [['links.csv'], ['links.csv', '--format', 'csv'], ['links.xlsx']]) {
			const [name = '', ...options] = words;
			await writeFile(file(name), content, 'latin1');
			const {exitCode, stderr} = await imports(file(name), ...options);
			t.is(exitCode, 2);
			t.is(stderr[0], `Error: '${file(name)}' is ${what}, not CSV or JSON`);
			t.regex(stderr[1] ?? '', /^Next: /);
		}
	}
});

test('rows of another app are refused with the next step, and imported on request', async (t) => {
	const {acme, file, imports} = await setUp(t, 'dub.ndjson');
	const {body} = await acme.operator.get('/app-config');
	await acme.operator.put('/app-config', {ios: {...body.ios, appStoreId: '987654321'}, android: body.android});
	const refused = await imports(file('dub.ndjson'), '--dry-run');
	t.is(refused.stdout, 'Would be: 0 created, 0 updated, 0 skipped, 4 failed\n');
	const found = refused.stderr.find((line) => line.startsWith('line 2'));
	t.is(found, "line 2: App Store id 123456789 is not the organization's (987654321)");
	t.true(refused.stderr.some((line) => /^Next: .*--any-app/.test(line)));
	const taken = await imports(file('dub.ndjson'), '--dry-run', '--any-app');
	t.is(taken.stdout, 'Would be: 4 created, 0 updated, 0 skipped, 0 failed\n');
	t.true(taken.stderr.includes('  4 × App Store id 123456789'));
	await t.throwsAsync(access(file('dub.ndjson.failed')));
});

test('with a SERVER key foreign rows are imported, with a note that their apps are not checked', async (t) => {
	const {file, importsByKey} = await setUp(t, 'bitly.json');
	const {exitCode, stdout, stderr} = await importsByKey(file('bitly.json'), '--json');
	t.is(exitCode, 0);
	t.like(JSON.parse(stdout), {
		created: 3,
		failed: 0,
		notCarriedOver: {'the domain bit.ly': 2, 'the domain go.acme.test': 1},
	});
	t.true(stderr.some((line) => line.startsWith('With an API key, the apps and domains')));
});
