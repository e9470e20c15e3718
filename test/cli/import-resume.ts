import {once} from 'node:events';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {organization, type TestOrganization} from '../helpers/builders.ts';
import {startService, type TestService} from '../helpers/service.ts';
import {finish, type Program, start} from './_spawn-cli.ts';

let service: TestService;

test.serial.before(async () => {
	service = await startService();
});
test.after.always(async () => {
	await service?.stop();
});

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
	const program = start(
		t,
		['links', 'import', '-', '--format', 'ndjson', '--org', acme.orgKey, '--failed', failed],
		env,
	);
	program.stdin.write(`${catalogue.slice(0, ROWS / 2).join('\n')}\n`);
	while ((await totalOf(acme)) === 0) {
		// Each turn is a request.
	}

	return program;
};

const setUp = async (t: ExecutionContext) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-resume-'));
	t.teardown(() => rm(folder, {recursive: true}));
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
	const {exitCode, stdout} = await importAll();
	t.is(exitCode, 1);
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
	const {exitCode, stdout, stderr} = await finish(program);
	t.is(exitCode, 130);
	t.is(stdout, '');
	t.regex(
		stderr,
		/(?:^|\n)Interrupted\n\d+ row\(s\) of standard input are confirmed, and more may be imported \(.*links that exist are skipped\.\n$/,
	);
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
