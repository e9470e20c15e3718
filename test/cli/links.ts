import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {createSink, runCli} from './_run-cli.ts';

const link = {
	id: 'link-1',
	url: 'http://localhost:3000/Ab12/g0',
	path: '/sale',
	shortCode: 'g0',
	title: null,
	isActive: true,
};

test('links create has a flag for every field', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/links': () => ({status: 201, body: link}),
	});
	const argv = `--path /sale --short-code g0 --title T --tag a --tag b;c --channel email --utm-source s --utm-medium m
		--utm-campaign c --utm-term t --utm-content x --fallback-url https://acme.example --og-title OT --og-description OD
		--og-image-url https://acme.example/i.png --expiry 2030-01-01T00:00:00Z --template-id tid --param a=1 --param b=x=y
		--external-id e1 --inactive --no-deferred --match-window-hours 24 --domain-id did`.split(/\s+/);
	const {exitCode, stdout} = await runCli(['links', 'create', '--org', 'Ab12', ...argv], {env});
	t.is(exitCode, 0);
	t.deepEqual(requests[0]?.body, {
		path: '/sale',
		shortCode: 'g0',
		title: 'T',
		tags: ['a', 'b;c'],
		channel: 'email',
		utmSource: 's',
		utmMedium: 'm',
		utmCampaign: 'c',
		utmTerm: 't',
		utmContent: 'x',
		fallbackUrl: 'https://acme.example',
		og: {title: 'OT', description: 'OD', imageUrl: 'https://acme.example/i.png'},
		expiry: '2030-01-01T00:00:00Z',
		templateId: 'tid',
		params: {a: '1', b: 'x=y'},
		externalId: 'e1',
		isActive: false,
		deferredDeepLinking: false,
		matchWindowHours: 24,
		domainId: 'did',
	});
	t.regex(stdout, /^url {8}http:\/\/localhost:3000\/Ab12\/g0$/m);
});

test('links create sends only the given fields', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/links': () => ({status: 201, body: link}),
	});
	await runCli(['links', 'create', '--org', 'Ab12', '--path', '/sale'], {env});
	t.deepEqual(requests[0]?.body, {path: '/sale'});
});

test('links create needs a path or a template, a param its name, hours a number', async (t) => {
	const {env, requests} = await startRecordingServer(t, {});
	for (const argv of [[], ['--path', '/x', '--param', '=1'], ['--path', '/x', '--match-window-hours', 'ten']]) {
		const {exitCode} = await runCli(['links', 'create', '--org', 'Ab12', ...argv], {env});
		t.is(exitCode, 2);
	}

	t.deepEqual(requests, []);
});

test('links update clears fields by name, and refuses unknown names', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'PATCH /admin/organizations/Ab12/links/link-1': () => ({body: link}),
	});
	const argv = ['links', 'update', 'link-1', '--org', 'Ab12'];
	await runCli([...argv, '--active', '--deferred', '--clear', 'expiry', '--clear', 'og.title'], {env});
	t.deepEqual(requests[0]?.body, {isActive: true, deferredDeepLinking: true, expiry: null, og: {title: null}});
	t.is((await runCli([...argv, '--clear', 'colour'], {env})).exitCode, 2);
	t.is((await runCli(argv, {env})).exitCode, 2);
	t.is(requests.length, 1);
});

test('with a SERVER key and no --org links go to /links', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'GET /links': () => ({body: pageOf([link])}),
		'GET /links/link-1': () => ({body: link}),
		'DELETE /links/link-1': () => ({body: {id: 'link-1', deleted: true}}),
	});
	const withKey = {env: {...env, OPLINK_API_KEY: 'opl_api_key'}};
	t.is((await runCli(['links', 'list', '--inactive', '--tag', 'sale', '--external-id', 'e'], withKey)).exitCode, 0);
	t.is((await runCli(['links', 'show', 'link-1', '--api-key', 'opl_api_flag'], {env})).exitCode, 0);
	t.is((await runCli(['links', 'delete', 'link-1', '--yes'], withKey)).exitCode, 0);
	t.deepEqual(
		requests.map(({url, authorization}) => [url, authorization]),
		[
			['/links?isActive=false&tag=sale&externalId=e', 'Bearer opl_api_key'],
			['/links/link-1', 'Bearer opl_api_flag'],
			['/links/link-1', 'Bearer opl_api_key'],
		],
	);
});

test('--org uses the admin API even if a SERVER key is set', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links': () => ({body: pageOf([])}),
	});
	const {exitCode} = await runCli(['links', 'list', '--org', 'Ab12'], {env: {...env, OPLINK_API_KEY: 'opl_api_key'}});
	t.is(exitCode, 0);
	t.is(requests[0]?.authorization, 'Bearer admin-secret');
});

test('a create with a SERVER key is retried with the same Idempotency-Key after a lost answer', async (t) => {
	let failures = 2;
	const {env, requests} = await startRecordingServer(t, {
		'POST /links': () => {
			failures -= 1;
			return failures >= 0 ? {status: 503, body: {message: 'Database unavailable'}} : {status: 201, body: link};
		},
	});
	const waits: number[] = [];
	const {exitCode} = await runCli(['links', 'create', '--path', '/sale'], {
		env: {...env, OPLINK_API_KEY: 'opl_api_key'},
		io: {
			sleep: async (seconds) => {
				waits.push(seconds);
			},
		},
	});
	t.is(exitCode, 0);
	t.deepEqual(waits, [0.5, 1]);
	t.is(new Set(requests.map(({headers}) => headers['idempotency-key'])).size, 1);
});

for (const env of [{}, {OPLINK_API_KEY: 'opl_api_key'}]) {
	test(`an id that would name another path is a usage error ${JSON.stringify(env)}`, async (t) => {
		const {env: server, requests} = await startRecordingServer(t, {
			'GET /admin/organizations': () => ({body: pageOf([{id: 'only-one'}])}),
		});
		for (const argv of [
			['links', 'show', '..'],
			['links', 'delete', '.', '--yes'],
			['qr', 'export', '', '--output', '-'],
		]) {
			const {exitCode, stderr} = await runCli(argv, {env: {...server, ...env}});
			t.is(exitCode, 2);
			t.regex(stderr, /is not a valid link id/);
		}

		t.true(requests.every(({url}) => url.startsWith('/admin/organizations?')));
	});
}

test('the only organization needs no name', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'GET /admin/organizations': () => ({body: pageOf([{id: 'only-one'}])}),
		'GET /admin/organizations/only-one/links': () => ({body: pageOf([link])}),
	});
	const {exitCode, stdout} = await runCli(['links', 'list'], {env});
	t.is(exitCode, 0);
	t.regex(stdout, /^link-1 {2}g0 {10}\/sale {2}- {6}yes$/m);
	t.is(requests.length, 2);
});

for (const total of [0, 2]) {
	test(`with ${total} organizations a link command without --org is a usage error`, async (t) => {
		const {env} = await startRecordingServer(t, {
			'GET /admin/organizations': () => ({body: pageOf(total === 0 ? [] : [{id: 'one'}], {total})}),
		});
		const {exitCode, stderr} = await runCli(['links', 'list'], {env});
		t.is(exitCode, 2);
		t.regex(stderr, total === 0 ? /no organization yet/ : /2 organizations: --org ORG is needed/);
	});
}

const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff]);

test('qr export writes one code in the format of the file extension', async (t) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-cli-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const {env, requests} = await startRecordingServer(t, {'GET /links/link-1/qr.png': () => ({body: image})});
	const argv = [
		'qr',
		'export',
		'link-1',
		'--output',
		'code.png',
		'--size',
		'256',
		'--margin',
		'0',
		'--color',
		'#112233',
		'--bg-color',
		'transparent',
		'--ecc',
		'H',
	];
	const {exitCode, stdout} = await runCli(argv, {env: {...env, OPLINK_API_KEY: 'k'}, io: {cwd: folder}});
	t.is(exitCode, 0);
	t.is(stdout, 'code.png\n');
	t.is(requests[0]?.url, '/links/link-1/qr.png?size=256&margin=0&color=%23112233&bgColor=transparent&ecc=H');
	t.deepEqual(await readFile(path.join(folder, 'code.png')), image);
});

test('qr export writes several codes to a folder that it makes', async (t) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-cli-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const svg = {body: Buffer.from('<svg/>')};
	const {env} = await startRecordingServer(t, {'GET /links/a/qr.svg': () => svg, 'GET /links/b/qr.svg': () => svg});
	const argv = ['qr', 'export', 'a', 'b', '--output', 'codes', '--json'];
	const {stdout} = await runCli(argv, {env: {...env, OPLINK_API_KEY: 'k'}, io: {cwd: folder}});
	t.deepEqual(JSON.parse(stdout), [
		{id: 'a', file: path.join('codes', 'a.svg'), bytes: 6},
		{id: 'b', file: path.join('codes', 'b.svg'), bytes: 6},
	]);
	t.is(await readFile(path.join(folder, 'codes', 'b.svg'), 'utf8'), '<svg/>');
});

test('qr export to standard output writes the image and nothing else', async (t) => {
	const {env} = await startRecordingServer(t, {'GET /links/a/qr.png': () => ({body: image})});
	const argv = ['qr', 'export', 'a', '--output', '-', '--format', 'png'];
	const {stdoutBytes} = await runCli(argv, {env: {...env, OPLINK_API_KEY: 'k'}});
	t.deepEqual(stdoutBytes, image);
});

test('control characters in tenants’ texts never reach a terminal, and --json escapes them', async (t) => {
	const title = 'a\u001B]0;owned\u0007b\u009B2Jc\u202Ed';
	const stored = {...link, title, params: {'n\u001B[2J\u2066': title}};
	const {env} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links/link-1': () => ({body: stored}),
		'GET /admin/organizations/Ab12/links': () => ({body: pageOf([stored])}),
		'GET /admin/organizations/Ab12/links/export': () => ({body: Buffer.from(`${JSON.stringify(stored)}\n`)}),
	});
	const unsafe = /[^\P{Cc}\n]|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
	for (const [argv, data] of [
		[['show', 'link-1'], (text: string) => JSON.parse(text)],
		[['list'], (text: string) => JSON.parse(text).data[0]],
	] as const) {
		const plain = await runCli(['links', ...argv, '--org', 'Ab12'], {env});
		t.is(plain.exitCode, 0);
		t.notRegex(plain.stdout, unsafe);
		const json = await runCli(['links', ...argv, '--org', 'Ab12', '--json'], {env});
		t.notRegex(json.stdout, unsafe);
		t.deepEqual(data(json.stdout), stored);
	}

	const exported = await runCli(['links', 'export', '--org', 'Ab12'], {env});
	t.notRegex(exported.stdout, unsafe);
	t.deepEqual(JSON.parse(exported.stdout), stored);
	const screen = createSink();
	const stdout = Object.assign(screen.stream, {isTTY: true, columns: 80});
	await runCli(['links', 'export', '--org', 'Ab12', '--format', 'csv'], {env, io: {stdout}});
	t.notRegex(screen.text(), unsafe);
	t.true(screen.text().includes('owned'));
});
