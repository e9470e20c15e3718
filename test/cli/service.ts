import {access, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import test from 'ava';
import {exampleAppConfig, organization, type TestOrganization} from '../helpers/builders.ts';
import {folderOf} from '../helpers/folder.ts';
import {hasPty, runOnTerminal} from './_pty.ts';
import {type CommandLine, ends} from './_run-cli.ts';
import {environment, serviceCli, withKey} from './_service-cli.ts';

const {service, cli, json} = serviceCli(test);

(hasPty ? test : test.skip)('on a terminal a deletion says what goes, and y with Enter does it', async (t) => {
	const {orgKey} = await organization(service, {plan: null});
	const asked = {env: environment(service), answers: [['[y/N]', 'y\r'] as [string, string]]};
	const {screen} = ends(t, await runOnTerminal(t, ['orgs', 'delete', orgKey], asked), 0);
	const text = stripVTControlCharacters(screen).replace(/\s+/g, ' ');
	t.true(text.includes(': 0 links, 2 keys, 0 clicks? [y/N] y'), screen);
	t.true(screen.includes(`Deleted organization ${orgKey}`));
});

test('the CLI covers an organization from creation to deletion', async (t) => {
	const created = await json('orgs create --name Life --contact-email ops@life.example');
	const {id, orgKey} = created;
	t.deepEqual(await json(`orgs show ${orgKey}`), created);
	t.is((await cli(`links create --org ${orgKey} --path /x`)).exitCode, 6);
	t.is((await json(`plan set --org ${id} growth`)).plan, 'GROWTH');
	ends(t, await cli(`links create --org ${orgKey} --path /x`), 6, {
		stderr: /Next: Register the apps: oplink app-config set/,
	});
	t.is((await cli(`app-config show --org ${orgKey}`)).exitCode, 4);
	t.is((await cli(`app-config set --org ${orgKey} --file -`, {stdin: JSON.stringify(exampleAppConfig)})).exitCode, 0);
	t.is((await cli(`links create --org ${orgKey} --path /x`)).exitCode, 0);
	t.regex((await cli(`stats --org ${orgKey}`)).stdout, /^clicks +0$/m);
	t.is((await json(['orgs', 'update', id, '--contact-email', ''])).contactEmail, null);
	t.is((await json(`orgs suspend ${id} --yes`)).status, 'SUSPENDED');
	t.is((await json(`orgs activate ${id}`)).status, 'ACTIVE');
	t.regex((await cli(`audit --org ${orgKey}`)).stdout, /SUSPEND +Organization/);
	ends(t, await cli(`orgs delete ${id} --yes`), 5);
	t.is((await cli(`plan set --org ${id} none`)).exitCode, 0);
	t.deepEqual(await json(`orgs delete ${id} --yes`), {id, deleted: true});
	t.is((await cli(`orgs show ${id}`)).exitCode, 4);
});

test('a link is created, read, changed and deleted with the admin token and with a SERVER key alike', async (t) => {
	const acme = await organization(service);
	const io = {cwd: await folderOf(t)};
	for (const [suffix, env] of [
		[['--org', acme.orgKey], {}],
		[[], withKey(acme)],
	] as const) {
		const run = (...argv: string[]) => cli([...argv, ...suffix], {...env, io});
		const read = (...argv: string[]) => json([...argv, ...suffix], {...env, io});
		const fields = ['--path', '/sale', '--tag', 'a', '--param', 'coupon=A1', '--og-title', 'OT', '--channel', 'email'];
		const link = await read('links', 'create', ...fields);
		t.like(link, {path: '/sale', tags: ['a'], params: {coupon: 'A1'}, og: {title: 'OT'}, channel: 'email'});
		const changed = await read('links', 'update', link.id, '--inactive', '--clear', 'channel', '--clear', 'og.title');
		t.like(changed, {isActive: false, channel: null, path: '/sale'});
		t.is((await read('links', 'list', '--inactive')).total, 1);
		t.regex((await run('links', 'show', link.id)).stdout, /^domain\.status +VERIFIED$/m);
		t.is((await run('qr', 'export', link.id, '--output', 'code.png')).exitCode, 0);
		t.is((await readFile(path.join(io.cwd, 'code.png'))).subarray(1, 4).toString(), 'PNG');
		t.deepEqual(await read('links', 'delete', link.id, '--yes'), {id: link.id, deleted: true});
		t.is((await run('links', 'show', link.id)).exitCode, 4);
	}
});

test('refusals of the server end with their exit codes', async (t) => {
	const acme = await organization(service);
	const create = ['links', 'create', '--org', acme.orgKey, '--path', '/x'];
	t.is((await cli([...create, '--short-code', 'taken'])).exitCode, 0);
	t.is((await cli([...create, '--short-code', 'taken'])).exitCode, 5);
	ends(t, await cli([...create, '--short-code', 'not valid', '--expiry', 'tomorrow']), 1, {
		stderr: /Error: Validation failed\n {2}--short-code must .*\n {2}--expiry must .*\nRequest id: /,
	});
	t.regex((await cli('status')).stdout, /^status +ok$/m);
	t.is((await cli('status', {env: {OPLINK_ADMIN_TOKEN: 'x'.repeat(40)}})).exitCode, 3);
	t.is((await cli('links list', {env: {OPLINK_API_KEY: acme.clientKey}})).exitCode, 3);
});

test('a refusal for the plan names the next larger plan, or the first that has the feature', async (t) => {
	const {orgKey} = await organization(service, {plan: 'STARTER'});
	const added = (name: string) => cli(`domains add --org ${orgKey} ${name}.${orgKey.toLowerCase()}.example`);
	ends(t, await added('a'), 6, {
		stderr: new RegExp(`\\nNext: Set a plan that has it: oplink plan set --org ${orgKey} GROWTH\\n`),
	});
	await cli(`plan set --org ${orgKey} GROWTH`);
	t.is((await added('a')).exitCode, 0);
	ends(t, await added('b'), 6, {
		stderr: new RegExp(`\\nNext: Set a larger plan: oplink plan set --org ${orgKey} SCALE\\n`),
	});
});

/** A CSV file of which two rows are wrong: an unknown channel in line 11, no path in line 21. */
const catalogue = (rows: number): string =>
	`path,shortCode,title,tags,channel,params.coupon\n${Array.from({length: rows}, (_, index) => {
		const row = index + 1;
		const itemPath = row === 20 ? '' : `/item/${row}`;
		return `${itemPath},g${row},"Item ${row}",catalog;bulk,${row === 10 ? 'pigeon' : 'email'},C${row}\n`;
	}).join('')}`;

const allLinks = ({orgKey}: TestOrganization) => json(`links list --org ${orgKey} --all`);

test('an import creates what it can, and a second run changes nothing', async (t) => {
	const folder = await folderOf(t);
	const at = (name: string) => path.join(folder, name);
	const acme = await organization(service);
	await writeFile(at('links.csv'), catalogue(30));
	const argv = ['links', 'import', at('links.csv'), '--org', acme.orgKey];
	t.like(await json([...argv, '--dry-run']), {created: 28, skipped: 0, failed: 2});
	await t.throwsAsync(access(at('links.csv.failed')));
	const first = ends(t, await cli([...argv, '--json']), 1, {
		stderr: /^line 11: Unknown channel 'pigeon'\nline 21: path is required\n/,
	});
	t.like(JSON.parse(first.stdout), {created: 28, updated: 0, skipped: 0, failed: 2});
	const before = await allLinks(acme);
	t.like(await json(argv), {created: 0, updated: 0, skipped: 28, failed: 2});
	t.deepEqual(await allLinks(acme), before);
	const failed = await readFile(at('links.csv.failed'), 'utf8');
	t.is(failed.trim().split('\n').length, 3);
	await writeFile(at('mended.csv'), failed.replace('pigeon', 'sms').replace('\n,', '\n/item/20,'));
	t.like(await json(['links', 'import', at('mended.csv'), '--org', acme.orgKey]), {created: 2, failed: 0});
});

test('an import with a SERVER key has the same result, also at the rate limit', async (t) => {
	const acme = await organization(service);
	// The limit of 100 a second is met, after both wrong rows.
	const stdin = catalogue(105);
	const argv = 'links import - --format csv --json';
	const first = ends(t, await cli(argv, {stdin, ...withKey(acme)}), 1);
	t.like(JSON.parse(first.stdout), {created: 103, updated: 0, skipped: 0, failed: 2});
	t.like(await json(argv, {stdin, ...withKey(acme)}), {created: 0, updated: 0, skipped: 103, failed: 2});
	t.is((await json('links list', withKey(acme))).total, 103);
});

const linesOf = (rows: object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

test('a row without a name is one link, whether a SERVER key or the admin token imports it', async (t) => {
	const acme = await organization(service);
	const imports = (rows: object[], {org = [] as string[], env = {}}) =>
		json(['links', 'import', '-', '--format', 'ndjson', ...org], {stdin: linesOf(rows), env});
	const [byKey, byToken] = [withKey(acme), {org: ['--org', acme.orgKey]}];
	const rows = [
		{path: '/a', title: null, fallbackUrl: 'https://EXAMPLE.org', matchWindowHours: 72, params: {b: '1', a: '2'}},
		{url: 'https://old.example/x', tags: ['ü'], og: {title: 'T', imageUrl: null}, path: '/b', externalId: null},
	];
	t.like(await imports(rows, byKey), {created: 2, skipped: 0, failed: 0});
	t.like(await imports(rows, byKey), {created: 0, skipped: 2, failed: 0});
	t.like(await imports(rows, byToken), {created: 0, skipped: 2, failed: 0});

	const reordered = {matchWindowHours: 72, path: '/a', params: {a: '2', b: '1'}, fallbackUrl: 'https://EXAMPLE.org'};
	t.like(await imports([{path: '/c'}, reordered], byToken), {created: 1, skipped: 1});
	t.like(await imports([{path: '/c'}, reordered], byToken), {created: 0, skipped: 2});
	t.like(await imports([{path: '/c'}, reordered], byKey), {created: 0, skipped: 2});
	t.is((await allLinks(acme)).total, 3);
});

test('an export in any format is imported into another organization as the same links', async (t) => {
	const folder = await folderOf(t);
	const from = await organization(service);
	t.like(await json(`links import - --format csv --org ${from.orgKey}`, {stdin: catalogue(9)}), {
		created: 9,
		failed: 0,
	});
	const contentsOf = async (acme: TestOrganization) => {
		const {data} = await allLinks(acme);
		return (data as Array<Record<string, unknown>>)
			.map(({shortCode, path: p, title, tags, channel, params}) => ({shortCode, path: p, title, tags, channel, params}))
			.sort((a, b) => String(a.shortCode).localeCompare(String(b.shortCode)));
	};
	const expected = await contentsOf(from);
	for (const format of ['ndjson', 'json', 'csv']) {
		const to = await organization(service);
		const file = path.join(folder, `export.${format}`);
		const argv: CommandLine = ['links', 'export', '--org', from.orgKey, '--format', format, '--output', file];
		t.is((await cli(argv)).exitCode, 0, format);
		t.like(await json(['links', 'import', file, '--org', to.orgKey]), {created: 9, failed: 0}, format);
		t.deepEqual(await contentsOf(to), expected, format);
	}
});

test('what app kit prints for an organization with a domain passes app check, until the domain is another', async (t) => {
	const cwd = await folderOf(t);
	const file = path.join(cwd, 'AndroidManifest.xml');
	const {orgKey} = await organization(service);
	const hostname = `go.${orgKey.toLowerCase()}.example.com`;
	await cli(`domains add --org ${orgKey} ${hostname}`);
	await cli(`domains approve --org ${orgKey} ${hostname}`);
	const kit = ends(t, await cli(`app kit --org ${orgKey} --for android`), 0, {
		stderr: 'Add these lines to app/src/main/AndroidManifest.xml\n',
	});
	await writeFile(file, kit.stdout);
	const check = () => cli(`app check --org ${orgKey} --android AndroidManifest.xml --host ${hostname}`, {io: {cwd}});
	const passed = ends(t, await check(), 0);
	t.true(passed.stdout.includes(`links on ${hostname} open the app (AndroidManifest.xml:`), passed.stdout);
	await writeFile(file, kit.stdout.replace(hostname, 'go.acme.example'));
	const failed = ends(t, await check(), 1);
	t.true(failed.stdout.includes(`no filter has the host ${hostname} (AndroidManifest.xml:`), failed.stdout);
});
