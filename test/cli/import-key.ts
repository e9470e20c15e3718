import test, {type ExecutionContext} from 'ava';
import {pageOf, type RecordedRequest, type Responder, startRecordingServer} from './_recording-server.ts';
import {runCli} from './_run-cli.ts';

type Row = Record<string, unknown>;
const created = {status: 201, body: {id: 'link'}};
const refusal = (status: number, message: string, more: object = {}) => ({
	status,
	body: {statusCode: status, message, ...more},
});

const setUp = async (t: ExecutionContext, post: Responder, more: Record<string, Responder> = {}) => {
	const {url, requests} = await startRecordingServer(t, {'POST /links': post, ...more});
	const waits: number[] = [];
	const imports = (rows: Row[], argv: string[] = []) =>
		runCli(['links', 'import', '-', '--format', 'json', '--json', ...argv], {
			env: {OPLINK_URL: url, OPLINK_API_KEY: 'opl_api_key'},
			stdin: JSON.stringify(rows),
			io: {
				sleep: async (seconds) => {
					waits.push(seconds);
				},
			},
		});
	return {imports, requests, waits};
};

const bodyOf = ({body}: RecordedRequest): Row => body as Row;

test('with a SERVER key rows are created one by one, without read-only fields', async (t) => {
	const {imports, requests} = await setUp(t, () => created);
	const exported = {id: 'x', url: 'u', organizationId: 'o', domain: {}, createdAt: 'c', updatedAt: 'u', title: null};
	const {exitCode, stdout} = await imports([
		{...exported, path: '/a', shortCode: 'a'},
		{path: '/b', externalId: 'b'},
	]);
	t.is(exitCode, 0);
	t.is(JSON.parse(stdout).created, 2);
	t.deepEqual(
		requests.map(bodyOf).sort((a, b) => String(a['path']).localeCompare(String(b['path']))),
		[
			{path: '/a', shortCode: 'a'},
			{path: '/b', externalId: 'b'},
		],
	);
	t.true(requests.every(({authorization}) => authorization === 'Bearer opl_api_key'));
});

test('a 429 is waited for as its message says, and the row is tried again', async (t) => {
	let refusals = 5;
	const {imports, waits} = await setUp(t, () => {
		refusals -= 1;
		return refusals >= 0 ? refusal(429, 'Rate limit exceeded. Retry after 3 second(s).') : created;
	});
	const {exitCode, stdout} = await imports([{path: '/a', shortCode: 'a'}]);
	t.is(exitCode, 0);
	t.is(JSON.parse(stdout).created, 1);
	t.deepEqual(waits, [3, 3, 3, 3, 3]);
});

test('a lost answer is asked for again with the same Idempotency-Key, a few times', async (t) => {
	const {imports, requests, waits} = await setUp(t, ({body}) =>
		(body as Row)['path'] === '/never' ? refusal(500, 'Internal server error') : created,
	);
	const {exitCode, stdout} = await imports([{path: '/never', shortCode: 'n'}]);
	t.is(exitCode, 1);
	t.deepEqual(JSON.parse(stdout).failures, [{line: 1, item: 1, message: 'Internal server error'}]);
	t.deepEqual(waits, [0.5, 1, 2]);
	t.is(new Set(requests.map(({headers}) => headers['idempotency-key'])).size, 1);
});

test('a row without a name gets its short code from its content, so that it is the same link in every run', async (t) => {
	const {imports, requests} = await setUp(t, () => created);
	await imports([{path: '/a'}, {path: '/b'}]);
	await imports([{path: '/b'}, {path: '/a'}, {path: '/c', externalId: 'c'}]);
	const codesOf = (path: string) =>
		requests.map(bodyOf).flatMap((body) => (body['path'] === path ? [body['shortCode']] : []));
	const [first, second] = codesOf('/a');
	t.regex(String(first), /^[A-Za-z0-9]{12}$/);
	t.is(second, first);
	t.not(codesOf('/b')[0], first);
	t.deepEqual(codesOf('/c'), [undefined]);
	t.is(new Set(requests.map(({headers}) => headers['idempotency-key'])).size, 5);
});

test('a short code in use is skipped, or fails on request', async (t) => {
	const {imports} = await setUp(t, () => refusal(409, "Short code 'a' is already in use"));
	t.is(JSON.parse((await imports([{path: '/a', shortCode: 'a'}])).stdout).skipped, 1);
	const {exitCode, stdout} = await imports([{path: '/a', shortCode: 'a'}], ['--on-conflict', 'fail']);
	t.is(exitCode, 1);
	t.deepEqual(JSON.parse(stdout).failures, [{line: 1, item: 1, message: "Short code 'a' is already in use"}]);
});

test('--on-conflict update changes the link that the external id or the short code belongs to', async (t) => {
	const others = Array.from({length: 100}, (_, index) => ({id: `other-${index}`, shortCode: `a-${index}`}));
	const {imports, requests} = await setUp(t, () => refusal(409, 'in use'), {
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
	const {exitCode, stdout, stderr} = await imports(rows, ['--on-conflict', 'update']);
	t.is(exitCode, 1);
	t.is(JSON.parse(stdout).updated, 1);
	t.is(stderr, 'line 1 (item 2): title is bad\n');
	t.deepEqual(requests.find(({method, url}) => method === 'PATCH' && url === '/links/by-code')?.body, rows[0]);
});

test('a refused credential ends the import with 3 instead of failing every row', async (t) => {
	const {imports, requests} = await setUp(t, () => refusal(401, 'Invalid API key'));
	const {exitCode, stderr} = await imports(Array.from({length: 100}, (_, index) => ({path: `/${index}`})));
	t.is(exitCode, 3);
	t.regex(stderr, /Error: Invalid API key/);
	t.true(requests.length <= 16);
});

test('a bad row and an exhausted quota fail their rows with the reason', async (t) => {
	const {imports} = await setUp(t, ({body}) =>
		(body as Row)['path'] === '/quota'
			? refusal(402, "You've reached your links limit.", {code: 'QUOTA_EXCEEDED', quota: 'links'})
			: refusal(400, 'Validation failed', {details: [{field: 'path', message: 'path is required'}]}),
	);
	const {exitCode, stderr} = await imports([{path: '/quota'}, {title: 'x'}]);
	t.is(exitCode, 1);
	t.deepEqual(stderr.trim().split('\n'), [
		"line 1 (item 1): You've reached your links limit.",
		'line 1 (item 2): path is required',
	]);
});

test('a dry run with a SERVER key is a usage error', async (t) => {
	const {imports, requests} = await setUp(t, () => created);
	const {exitCode, stderr} = await imports([{path: '/a'}], ['--dry-run']);
	t.is(exitCode, 2);
	t.regex(stderr, /needs the admin token/);
	t.deepEqual(requests, []);
});

test('at most eight requests run at once', async (t) => {
	let underWay = 0;
	let most = 0;
	const {url} = await startRecordingServer(t, {
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
	const {stdout} = await runCli(['links', 'import', '-', '--format', 'json'], {
		env: {OPLINK_URL: url, OPLINK_API_KEY: 'k'},
		stdin,
	});
	t.is(stdout, '60 created, 0 updated, 0 skipped, 0 failed\n');
	t.true(most > 1 && most <= 8, `${most} at once`);
});
