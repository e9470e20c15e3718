import {access, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {exampleAppConfig, organization, type TestOrganization} from '../helpers/builders.ts';
import {serviceOf} from '../helpers/service.ts';
import {folderOf} from './_folder.ts';
import {hasPty, runOnTerminal} from './_pty.ts';
import {type CommandLine, ends, runCli} from './_run-cli.ts';

const service = serviceOf(test);

type Shell = {
	/** Runs a command in a folder of its own, with the admin token; `more` adds to the environment. */
	cli: (argv: CommandLine, more?: {stdin?: string; env?: Record<string, string>}) => ReturnType<typeof runCli>;
	file: (name: string) => string;
};

const shell = async (t: ExecutionContext): Promise<Shell> => {
	const folder = await folderOf(t);
	return {
		cli: (argv, {stdin = '', env = {}} = {}) =>
			runCli(argv, {
				stdin,
				env: {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken, ...env},
				// The service's clock stands still, so waiting for a limit must move it.
				io: {cwd: folder, sleep: async (seconds) => service.clock.advance(seconds)},
			}),
		file: (name) => path.join(folder, name),
	};
};

const withKey = ({serverKey}: TestOrganization) => ({env: {OPLINK_API_KEY: serverKey}});
const json = ({stdout}: {stdout: string}) => JSON.parse(stdout);

(hasPty ? test : test.skip)('on a terminal a deletion says what goes, and y with Enter does it', async (t) => {
	const acme = await organization(service, {plan: null});
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const {screen} = ends(
		t,
		await runOnTerminal(t, ['orgs', 'delete', acme.orgKey], {
			env,
			answers: [['[y/N]', 'y\r']],
		}),
		0,
	);
	const text = stripVTControlCharacters(screen).replace(/\s+/g, ' ');
	t.true(text.includes(': 0 links, 2 keys, 0 clicks? [y/N] y'), screen);
	t.true(screen.includes(`Deleted organization ${acme.orgKey}`));
});

test('the CLI covers an organization from creation to deletion', async (t) => {
	const {cli} = await shell(t);
	const created = json(await cli('orgs create --name Life --contact-email ops@life.example --json'));
	const {id, orgKey} = created;
	t.deepEqual(json(await cli(`orgs show ${orgKey} --json`)), created);
	t.is((await cli(`links create --org ${orgKey} --path /x`)).exitCode, 6);
	t.is(json(await cli(`plan set --org ${id} growth --json`)).plan, 'GROWTH');
	ends(t, await cli(`links create --org ${orgKey} --path /x`), 6, {
		stderr: /Next: Register the apps: oplink app-config set/,
	});
	t.is((await cli(`app-config show --org ${orgKey}`)).exitCode, 4);
	t.is((await cli(`app-config set --org ${orgKey} --file -`, {stdin: JSON.stringify(exampleAppConfig)})).exitCode, 0);
	t.is((await cli(`links create --org ${orgKey} --path /x`)).exitCode, 0);
	t.is(json(await cli(['orgs', 'update', id, '--contact-email', '', '--json'])).contactEmail, null);
	t.is(json(await cli(`orgs suspend ${id} --yes --json`)).status, 'SUSPENDED');
	t.is(json(await cli(`orgs activate ${id} --json`)).status, 'ACTIVE');
	t.regex((await cli(`audit --org ${orgKey}`)).stdout, /SUSPEND +Organization/);
	ends(t, await cli(`orgs delete ${id} --yes`), 5);
	t.is((await cli(`plan set --org ${id} none`)).exitCode, 0);
	t.deepEqual(json(await cli(`orgs delete ${id} --yes --json`)), {id, deleted: true});
	t.is((await cli(`orgs show ${id}`)).exitCode, 4);
});

test('a link is created, read, changed and deleted with the admin token and with a SERVER key alike', async (t) => {
	const {cli, file} = await shell(t);
	const acme = await organization(service);
	for (const [suffix, env] of [
		[['--org', acme.orgKey], {}],
		[[], withKey(acme)],
	] as const) {
		const argv = ['--path', '/sale', '--tag', 'a', '--param', 'coupon=A1', '--og-title', 'OT', '--channel', 'email'];
		const link = json(await cli(['links', 'create', ...argv, ...suffix, '--json'], env));
		t.like(link, {path: '/sale', tags: ['a'], params: {coupon: 'A1'}, og: {title: 'OT'}, channel: 'email'});
		const update = ['links', 'update', link.id, '--inactive', '--clear', 'channel', '--clear', 'og.title'];
		t.like(json(await cli([...update, ...suffix, '--json'], env)), {isActive: false, channel: null, path: '/sale'});
		t.is(json(await cli(['links', 'list', '--inactive', ...suffix, '--json'], env)).total, 1);
		t.regex((await cli(['links', 'show', link.id, ...suffix], env)).stdout, /^domain\.status +VERIFIED$/m);
		t.is((await cli(['qr', 'export', link.id, '--output', 'code.png', ...suffix], env)).exitCode, 0);
		t.deepEqual([...(await readFile(file('code.png'))).subarray(1, 4)], [...Buffer.from('PNG')]);
		t.deepEqual(json(await cli(['links', 'delete', link.id, '--yes', ...suffix, '--json'], env)), {
			id: link.id,
			deleted: true,
		});
		t.is((await cli(['links', 'show', link.id, ...suffix], env)).exitCode, 4);
	}
});

test('refusals of the server end with their exit codes', async (t) => {
	const {cli} = await shell(t);
	const acme = await organization(service);
	const create = ['links', 'create', '--org', acme.orgKey, '--path', '/x'];
	t.is((await cli([...create, '--short-code', 'taken'])).exitCode, 0);
	t.is((await cli([...create, '--short-code', 'taken'])).exitCode, 5);
	ends(t, await cli([...create, '--short-code', 'not valid', '--expiry', 'tomorrow']), 1, {
		stderr: /Error: Validation failed\n {2}shortCode .*\n {2}expiry .*\nRequest id: /,
	});
	t.is((await cli('status', {env: {OPLINK_ADMIN_TOKEN: 'x'.repeat(40)}})).exitCode, 3);
	t.is((await cli('links list', {env: {OPLINK_API_KEY: acme.clientKey}})).exitCode, 3);
	const starter = await organization(service, {plan: 'STARTER'});
	t.is((await cli(`domains add --org ${starter.orgKey} go.starter.example`)).exitCode, 6);
});

test('a refusal for the plan names the next larger plan, or the first that has the feature', async (t) => {
	const {cli} = await shell(t);
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

test('keys are shown whole, and a regenerated SERVER key ends the old one', async (t) => {
	const {cli} = await shell(t);
	const acme = await organization(service);
	t.true((await cli(`keys show --org ${acme.orgKey}`)).stdout.includes(acme.serverKey));
	const {rawKey} = json(await cli(`keys regenerate --org ${acme.orgKey} SERVER --yes --json`));
	t.is((await cli('links list', withKey(acme))).exitCode, 3);
	t.is((await cli('links list', {env: {OPLINK_API_KEY: rawKey}})).exitCode, 0);
});

test('a domain is added, approved, rejected and removed by its hostname', async (t) => {
	const {cli} = await shell(t);
	const acme = await organization(service);
	t.is((await cli(`domains add --org ${acme.orgKey} go.cli.example`)).exitCode, 0);
	t.is(json(await cli(`domains approve --org ${acme.orgKey} go.cli.example --json`)).status, 'VERIFIED');
	t.is(json(await cli(`domains reject --org ${acme.orgKey} go.cli.example --json`)).status, 'REJECTED');
	t.regex((await cli(`domains list --org ${acme.orgKey}`)).stdout, /go\.cli\.example +REJECTED/);
	t.is((await cli(`domains remove --org ${acme.orgKey} go.cli.example --yes`)).exitCode, 0);
	t.notRegex((await cli(`domains list --org ${acme.orgKey}`)).stdout, /go\.cli\.example/);
});

test('status and stats show the server’s figures', async (t) => {
	const {cli} = await shell(t);
	const acme = await organization(service);
	t.regex((await cli('status')).stdout, /^status +ok$/m);
	t.regex((await cli(`stats --org ${acme.orgKey}`)).stdout, /^clicks +0$/m);
	t.is(json(await cli(`stats --org ${acme.orgKey} --interval month --json`)).interval, 'month');
});

/** A CSV file of which two rows are wrong: an unknown channel in line 101, no path in line 201. */
const catalogue = (rows: number): string =>
	`path,shortCode,title,tags,channel,params.coupon\n${Array.from({length: rows}, (_, index) => {
		const row = index + 1;
		const itemPath = row === 200 ? '' : `/item/${row}`;
		return `${itemPath},g${row},"Item ${row}",catalog;bulk,${row === 100 ? 'pigeon' : 'email'},C${row}\n`;
	}).join('')}`;

test('an import creates what it can, and a second run changes nothing', async (t) => {
	const {cli, file} = await shell(t);
	const acme = await organization(service);
	await writeFile(file('links.csv'), catalogue(1000));
	const argv = ['links', 'import', 'links.csv', '--org', acme.orgKey, '--json'];
	const rehearsed = await cli([...argv, '--dry-run']);
	t.like(json(rehearsed), {created: 998, skipped: 0, failed: 2});
	await t.throwsAsync(access(file('links.csv.failed')));
	const first = ends(t, await cli(argv), 1);
	t.like(json(first), {created: 998, updated: 0, skipped: 0, failed: 2});
	t.is(
		first.stderr.split('\n').slice(0, 2).join('\n'),
		"line 101: Unknown channel 'pigeon'\nline 201: path is required",
	);
	const before = json(await cli(`links list --org ${acme.orgKey} --all --json`));
	t.like(json(await cli(argv)), {created: 0, updated: 0, skipped: 998, failed: 2});
	t.deepEqual(json(await cli(`links list --org ${acme.orgKey} --all --json`)), before);
	const failed = await readFile(file('links.csv.failed'), 'utf8');
	t.is(failed.trim().split('\n').length, 3);
	await writeFile(file('mended.csv'), failed.replace('pigeon', 'sms').replace('\n,', '\n/item/200,'));
	t.like(json(await cli(`links import mended.csv --org ${acme.orgKey} --json`)), {created: 2, failed: 0});
});

test('an import with a SERVER key has the same result, also at the rate limit', async (t) => {
	const {cli, file} = await shell(t);
	const acme = await organization(service);
	// The limit of 100 a second is met twice, and both wrong rows are among them.
	await writeFile(file('links.csv'), catalogue(210));
	const argv = ['links', 'import', 'links.csv', '--json'];
	const first = ends(t, await cli(argv, withKey(acme)), 1);
	t.like(json(first), {created: 208, updated: 0, skipped: 0, failed: 2});
	t.like(json(await cli(argv, withKey(acme))), {created: 0, updated: 0, skipped: 208, failed: 2});
	t.is(json(await cli('links list --json', withKey(acme))).total, 208);
});

test('rows without a name are the same links in a second run, and on the other surface', async (t) => {
	const {cli} = await shell(t);
	const acme = await organization(service);
	const stdin = '{"path":"/a"}\n{"path":"/b","params":{"x":"1"}}\n';
	for (const [suffix, env, created] of [
		[['--org', acme.orgKey], {}, 2],
		[[], withKey(acme), 0],
	] as const) {
		const argv = ['links', 'import', '-', '--format', 'ndjson', '--json', ...suffix];
		t.like(json(await cli(argv, {stdin, ...env})), {created, skipped: 2 - created, failed: 0});
		t.like(json(await cli(argv, {stdin, ...env})), {created: 0, skipped: 2, failed: 0});
	}
});

for (const format of ['ndjson', 'json', 'csv']) {
	test(`a ${format} export is imported into another organization as the same links`, async (t) => {
		const {cli, file} = await shell(t);
		const [from, to] = [await organization(service), await organization(service)];
		await writeFile(file('links.csv'), catalogue(50));
		t.like(json(await cli(`links import links.csv --org ${from.orgKey} --json`)), {created: 50});
		const name = `export.${format}`;
		t.is((await cli(['links', 'export', '--org', from.orgKey, '--format', format, '--output', name])).exitCode, 0);
		t.like(json(await cli(['links', 'import', name, '--org', to.orgKey, '--json'])), {created: 50, failed: 0});
		const own = ({shortCode, path: p, title, tags, channel, params}: Record<string, unknown>) => ({
			shortCode,
			path: p,
			title,
			tags,
			channel,
			params,
		});
		const linksOf = async (org: TestOrganization) => {
			const {data} = json(await cli(`links list --org ${org.orgKey} --all --json`));
			return (data as Array<Record<string, unknown>>)
				.map(own)
				.sort((a, b) => String(a['shortCode']).localeCompare(String(b['shortCode'])));
		};
		t.deepEqual(await linksOf(to), await linksOf(from));
	});
}

test('what app kit prints for an organization with a domain passes app check, until the domain is another', async (t) => {
	const {cli, file} = await shell(t);
	const {orgKey} = await organization(service);
	const hostname = `go.${orgKey.toLowerCase()}.example.com`;
	await cli(`domains add --org ${orgKey} ${hostname}`);
	await cli(`domains approve --org ${orgKey} ${hostname}`);
	const kit = ends(t, await cli(`app kit --org ${orgKey} --for android`), 0, {
		stderr: 'Add these lines to app/src/main/AndroidManifest.xml\n',
	});
	await writeFile(file('AndroidManifest.xml'), kit.stdout);
	const check = () => cli(`app check --org ${orgKey} --android AndroidManifest.xml --host ${hostname}`);
	const passed = ends(t, await check(), 0);
	t.true(passed.stdout.includes(`links on ${hostname} open the app (AndroidManifest.xml:`), passed.stdout);
	await writeFile(file('AndroidManifest.xml'), kit.stdout.replace(hostname, 'go.acme.example'));
	const failed = ends(t, await check(), 1);
	t.true(failed.stdout.includes(`no filter has the host ${hostname} (AndroidManifest.xml:`), failed.stdout);
});
