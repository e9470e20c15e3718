import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {organization} from '../helpers/builders.ts';
import {folderOf} from '../helpers/folder.ts';
import {pageOf, type RecordedRequest, type Responder, startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';
import {environment, serviceCli, withKey} from './_service-cli.ts';
import {finish, start} from './_spawn-cli.ts';

type Row = Record<string, unknown>;
const created = {status: 201, body: {id: 'link'}};
const refusal = (status: number, message: string, more: object = {}, code = 'unknown') => ({
	status,
	headers: {'X-Error-Code': code},
	body: {statusCode: status, message, ...more},
});

const setUp = async (t: ExecutionContext, post: Responder, more: Record<string, Responder> = {}) => {
	const {cli, requests} = await startRecordingServer(t, {'POST /links': post, ...more});
	const waits: number[] = [];
	const sleep = async (seconds: number) => void waits.push(seconds);
	const imports = async (rows: Row[], flags = '') => {
		const argv = `links import - --format json --json --api-key opl_api_key${flags}`;
		const ended = await cli(argv, {stdin: JSON.stringify(rows), io: {sleep}});
		return {...ended, summary: ended.stdout === '' ? null : JSON.parse(ended.stdout)};
	};
	const keys = () => new Set(requests.map(({headers}) => headers['idempotency-key']));
	return {imports, requests, waits, keys};
};

const bodyOf = ({body}: RecordedRequest): Row => body as Row;

test('with a SERVER key rows are created one by one, without read-only fields', async (t) => {
	const {imports, requests} = await setUp(t, () => created);
	const exported = {id: 'x', url: 'u', organizationId: 'o', domain: {}, createdAt: 'c', updatedAt: 'u', title: null};
	const rows = [
		{path: '/a', shortCode: 'a'},
		{path: '/b', externalId: 'b'},
	];
	t.is(ends(t, await imports([{...exported, ...rows[0]}, {...rows[1]}]), 0).summary.created, 2);
	const found = requests.map(bodyOf).sort((a, b) => String(a['path']).localeCompare(String(b['path'])));
	t.deepEqual(found, rows);
	t.true(requests.every(({authorization}) => authorization === 'Bearer opl_api_key'));
});

test('an exported row of a domain that is not there is created on the default one', async (t) => {
	const {imports, requests, keys} = await setUp(t, ({body}) =>
		(body as Row)['domainId'] === undefined ? created : refusal(404, 'Domain not found'),
	);
	const row = {path: '/a', shortCode: 'a', domainId: 'd'};
	t.like((await imports([{...row, organizationId: 'o'}, row])).summary, {created: 1, failed: 1});
	t.is(requests.map(bodyOf).filter(({domainId}) => domainId === undefined).length, 1);
	t.is(keys().size, 3);
});

test('a 429 is waited for as its message says, and the row is tried again', async (t) => {
	const refusals = Array.from({length: 5}, () => refusal(429, 'Rate limit exceeded. Retry after 3 second(s).'));
	const {imports, waits} = await setUp(t, () => refusals.shift() ?? created);
	t.is(ends(t, await imports([{path: '/a', shortCode: 'a'}]), 0).summary.created, 1);
	t.deepEqual(waits, [3, 3, 3, 3, 3]);
});

const validation = {details: [{field: 'path', message: 'path is required'}]};
const inProgress = 'A request with this Idempotency-Key is still in progress';
const inUse = "Short code 'a' is already in use";

for (const [what, answer, flags, line, waited] of [
	['a lost answer, asked for again a few times', refusal(500, 'Internal server error'), '', null, [0.5, 1, 2]],
	// Nobody knows whether it was created.
	[
		'a first try that does not end in time',
		refusal(409, inProgress, {}, 'idempotency_key_in_progress'),
		'',
		null,
		[0.5, 1, 1.5],
	],
	['a short code in use', refusal(409, inUse, {}, 'short_code_taken'), ' --on-conflict fail', null, []],
	['an exhausted quota', refusal(402, "You've reached your links limit.", {code: 'QUOTA_EXCEEDED'}), '', null, []],
	['a bad field', refusal(400, 'Validation failed', validation), '', 'path is required', []],
] satisfies Array<[string, ReturnType<typeof refusal>, string, string | null, number[]]>) {
	test(`a row fails with the reason for ${what}, and with one Idempotency-Key`, async (t) => {
		const {imports, waits, keys} = await setUp(t, () => answer);
		const {message} = answer.body;
		const {summary} = ends(t, await imports([{path: '/a', shortCode: 'a'}], flags), 1, {
			stderr: `line 1 (item 1): ${line ?? message}\n`,
		});
		t.like(summary.failures, [{line: 1, item: 1, message}]);
		t.deepEqual(waits, waited);
		t.is(keys().size, 1);
	});
}

test('a short code in use is skipped', async (t) => {
	const {imports} = await setUp(t, () => refusal(409, inUse, {}, 'short_code_taken'));
	t.is(ends(t, await imports([{path: '/a', shortCode: 'a'}]), 0).summary.skipped, 1);
});

test('a row without a name gets its short code from its content, so that it is the same link in every run', async (t) => {
	const {imports, requests, keys} = await setUp(t, () => created);
	await imports([{path: '/a'}, {path: '/b'}]);
	await imports([{path: '/b'}, {path: '/a'}, {path: '/c', externalId: 'c'}]);
	const codesOf = (path: string) =>
		requests.map(bodyOf).flatMap((body) => (body['path'] === path ? [body['shortCode']] : []));
	const [first, second] = codesOf('/a');
	t.regex(String(first), /^[A-Za-z0-9]{12}$/);
	t.is(second, first);
	t.not(codesOf('/b')[0], first);
	t.deepEqual(codesOf('/c'), [undefined]);
	t.is(keys().size, 5);
});

test('--on-conflict update changes the link that the external id or the short code belongs to', async (t) => {
	const others = Array.from({length: 100}, (_, index) => ({id: `other-${index}`, shortCode: `a-${index}`}));
	const {imports, requests} = await setUp(t, () => refusal(409, 'in use', {}, 'external_id_taken'), {
		'GET /links': ({url}) => {
			const query = new URL(url, 'http://x').searchParams;
			if (query.get('externalId') !== null) {
				return {body: pageOf([{id: 'by-external-id', externalId: query.get('externalId')}], {limit: 100})};
			}

			const all = [...others, {id: 'by-code', shortCode: 'a'}];
			const page = Number(query.get('page'));
			return {body: pageOf(all.slice((page - 1) * 100, page * 100), {total: 101, page, limit: 100})};
		},
		'PATCH /links/by-code': () => ({body: {}}),
		'PATCH /links/by-external-id': () => refusal(400, 'Validation failed', {details: [{message: 'title is bad'}]}),
	});
	const rows = [
		{path: '/a', shortCode: 'a'},
		{path: '/b', externalId: 'e'},
	];
	const {summary} = ends(t, await imports(rows, ' --on-conflict update'), 1, {
		stderr: 'line 1 (item 2): title is bad\n',
	});
	t.is(summary.updated, 1);
	t.deepEqual(requests.find(({method, url}) => method === 'PATCH' && url === '/links/by-code')?.body, rows[0]);
});

test('a refused credential ends the import instead of failing every row, and so does an unavailable database', async (t) => {
	const rows = Array.from({length: 100}, (_, index) => ({path: `/${index}`}));
	for (const [status, message, exitCode, most] of [
		[401, 'Invalid API key', 3, 16],
		// Eight at once, with three retries each.
		[503, 'Database unavailable', 1, 32],
	] as const) {
		const {imports, requests} = await setUp(t, () => refusal(status, message));
		ends(t, await imports(rows), exitCode, {stdout: '', stderr: new RegExp(`Error: ${message}`)});
		t.true(requests.length <= most, message);
	}
});

test('a dry run with a SERVER key is a usage error', async (t) => {
	const {imports, requests} = await setUp(t, () => created);
	ends(t, await imports([{path: '/a'}], ' --dry-run'), 2, {stderr: /needs the admin token/});
	t.deepEqual(requests, []);
});

test('at most eight requests run at once', async (t) => {
	let underWay = 0;
	let most = 0;
	const {cli} = await startRecordingServer(t, {
		'POST /links': {
			raw: (request, response) => {
				underWay += 1;
				most = Math.max(most, underWay);
				request.resume().on('end', () => {
					setImmediate(() => {
						underWay -= 1;
						response.writeHead(201).end('{}');
					});
				});
			},
		},
	});
	const stdin = JSON.stringify(Array.from({length: 60}, (_, index) => ({path: `/${index}`})));
	ends(t, await cli('links import - --format json --api-key k', {stdin}), 0, {
		stdout: '60 created, 0 updated, 0 skipped, 0 failed\n',
	});
	t.true(most > 1 && most <= 8, `${most} at once`);
});

const {service, cli} = serviceCli(test);

const rows = [
	{path: '/a', shortCode: 'va', params: {x: '1'}},
	{path: '/b', shortCode: 'vb', isActive: false},
	{path: '/c', shortCode: 'vc', expiry: '2020-01-01T00:00:00Z'},
	{path: '/d'},
	{path: '/e', externalId: 've', title: 'E'},
];

/** An organization with these links, and the verification of a file with these rows, or others. */
const setUpVerify = async (t: ExecutionContext, imported: object[] = rows) => {
	const file = path.join(await folderOf(t), 'links.json');
	const acme = await organization(service);
	const write = (all: object[]) => writeFile(file, `[\n${all.map((row) => JSON.stringify(row)).join(',\n')}\n]`);
	await write(imported);
	t.is((await cli(['links', 'import', file, '--org', acme.orgKey])).exitCode, 0);
	const words = ['links', 'import', 'verify', file];
	return {
		acme,
		write,
		words,
		verify: () => cli([...words, '--org', acme.orgKey]),
		verifyByKey: () => cli(words, withKey(acme)),
	};
};

test('verify asks the short URL of every row: all resolve, or are gone as the row says', async (t) => {
	// More than the concurrent requests, so that a warning about listeners would appear in the output.
	const more = Array.from({length: 24}, (_, index) => ({path: `/${index}`, shortCode: `many${index}`}));
	const {acme, words} = await setUpVerify(t, [...rows, ...more]);
	ends(t, await finish(start(t, [...words, '--org', acme.orgKey, '--json'], environment(service))), 0, {
		json: {resolved: 27, gone: 2, failed: 0, failures: []},
		stderr: /^(?:\d+ rows?, .*\n)*$/,
	});
});

test('verify counts no click and changes nothing', async (t) => {
	const {acme, verify} = await setUpVerify(t);
	const exported = async () => (await cli(`links export --org ${acme.orgKey}`)).stdout;
	const before = await exported();
	t.is((await verify()).exitCode, 0);
	t.is(await exported(), before);
	t.is(before.trimEnd().split('\n').length, rows.length);
	t.deepEqual(await service.services.db('clicks').where({organization_id: acme.id}), []);
});

test('verify reports by line which links are missing, lead elsewhere, or do not resolve as expected', async (t) => {
	const {acme, verify, write} = await setUpVerify(t);
	await write([
		{...rows[0], path: '/elsewhere'},
		{...rows[1], isActive: true},
		{path: '/f', shortCode: 'vf'},
		{title: 'no path'},
		{...rows[4], title: 'another title'},
	]);
	const {stderr} = ends(t, await verify(), 1, {stdout: '1 resolve, 0 gone as the file says, 4 failed\n'});
	const faults = stderr.trim().replaceAll(/http:\/\/localhost:\d+/g, '');
	t.deepEqual(faults.split('\n'), [
		`line 2 (item 1): /${acme.orgKey}/va leads to another path, or with other parameters`,
		`line 3 (item 2): /${acme.orgKey}/vb answers 410`,
		'line 4 (item 3): is not imported',
		'line 5 (item 4): path is required',
	]);
});

test('a reactivated link is reported if the row says that it is gone', async (t) => {
	const {acme, verify} = await setUpVerify(t);
	const {body} = await acme.server.get('/links?shortCode=vb');
	await acme.server.patch(`/links/${body.data[0].id}`, {isActive: true});
	ends(t, await verify(), 1, {stderr: /^line 3 \(item 2\): \S+\/vb answers 200 where the row is no longer active\n$/});
});

test('verify with a SERVER key requests short codes, and reports rows without one', async (t) => {
	const {verifyByKey, write} = await setUpVerify(t);
	await write([{shortCode: 'va', path: '/a'}, {shortCode: 'nope', path: '/n'}, {path: '/d'}]);
	ends(t, await verifyByKey(), 1, {
		stdout: '1 resolve, 0 gone as the file says, 2 failed\n',
		stderr: /^line 3 \(item 2\): \S+\/nope answers 404\nline 4 \(item 3\): has no short code, which an API key needs/,
	});
});

test('the help of verify is its own', async (t) => {
	const {stdout} = ends(t, await cli('links import verify --help'), 0, {
		stdout: /^Usage: oplink links import verify \[options\] <file>/,
	});
	t.true(stdout.includes('$ oplink links import verify links.csv --org Ab12'));
	t.false(stdout.includes('--on-conflict'));
});
