import {readFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {folderOf} from './_folder.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {createSink, ends, runCli} from './_run-cli.ts';

const linkId = '5d1b6c1e-0000-4000-8000-000000000001';
const link = {
	id: linkId,
	url: 'http://localhost:3000/Ab12/g0',
	path: '/sale',
	shortCode: 'g0',
	title: null,
	isActive: true,
};

test('links create has a flag for every field', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/links': () => ({status: 201, body: link}),
	});
	const argv = `--path /sale --short-code g0 --title T --tag a --tag b;c --channel email --utm-source s --utm-medium m
		--utm-campaign c --utm-term t --utm-content x --fallback-url https://acme.example --og-title OT --og-description OD
		--og-image-url https://acme.example/i.png --expiry 2030-01-01T00:00:00Z --template 5d1b6c1e-0000-4000-8000-00000000000a --param a=1 --param b=x=y
		--external-id e1 --destination ios=https://i.example/?a=b --destination desktop= --minimum-version ios=2.10.0
		--minimum-version android=210 --inactive --no-deferred --match-window-hours 24 --domain 5d1b6c1e-0000-4000-8000-00000000000b`.split(
		/\s+/,
	);
	const {stdout} = ends(t, await cli(['links', 'create', '--org', 'Ab12', ...argv]), 0);
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
		templateId: '5d1b6c1e-0000-4000-8000-00000000000a',
		params: {a: '1', b: 'x=y'},
		externalId: 'e1',
		destinations: {ios: 'https://i.example/?a=b', desktop: null},
		minimumVersion: {ios: '2.10.0', android: 210},
		isActive: false,
		deferredDeepLinking: false,
		matchWindowHours: 24,
		domainId: '5d1b6c1e-0000-4000-8000-00000000000b',
	});
	t.regex(stdout, /^url {8}http:\/\/localhost:3000\/Ab12\/g0\n/);
});

test('links create sends only the given fields', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/links': () => ({status: 201, body: link}),
	});
	await cli('links create --org Ab12 --path /sale');
	t.deepEqual(requests[0]?.body, {path: '/sale'});
});

test('links create needs a path or a template, a param its name, hours a number', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	for (const argv of [
		[],
		['--path', '/x', '--param', '=1'],
		['--path', '/x', '--match-window-hours', 'ten'],
		['--path', '/x', '--destination', 'tv=https://tv.example'],
		['--path', '/x', '--minimum-version', 'ipad=1'],
		['--path', '/x', '--destination', 'ios'],
	]) {
		ends(t, await cli(['links', 'create', '--org', 'Ab12', ...argv]), 2);
	}

	t.deepEqual(requests, []);
});

test('links update clears fields by name, and refuses unknown names', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		[`PATCH /admin/organizations/Ab12/links/${linkId}`]: () => ({body: link}),
	});
	const argv = ['links', 'update', linkId, '--org', 'Ab12'];
	await cli([...argv, '--active', '--deferred', '--clear', 'expiry', '--clear', 'og.title']);
	t.deepEqual(requests[0]?.body, {isActive: true, deferredDeepLinking: true, expiry: null, og: {title: null}});
	t.is((await cli([...argv, '--clear', 'colour'])).exitCode, 2);
	t.is((await cli(argv)).exitCode, 2);
	t.is(requests.length, 1);
	await cli([...argv, '--clear', 'destinations', '--clear', 'minimumVersion.android']);
	t.deepEqual(requests[1]?.body, {destinations: null, minimumVersion: {android: null}});
});

test('with a SERVER key and no --org links go to /links', async (t) => {
	const {cli, env, requests} = await startRecordingServer(t, {
		'GET /links': () => ({body: pageOf([link])}),
		[`GET /links/${linkId}`]: () => ({body: link}),
		[`DELETE /links/${linkId}`]: () => ({body: {id: linkId, deleted: true}}),
	});
	const withKey = {env: {...env, OPLINK_API_KEY: 'opl_api_key'}};
	t.is((await runCli('links list --inactive --tag sale --external-id e', withKey)).exitCode, 0);
	t.is((await cli(`links show ${linkId} --api-key opl_api_flag`)).exitCode, 0);
	t.is((await runCli(`links delete ${linkId} --yes`, withKey)).exitCode, 0);
	t.deepEqual(
		requests.map(({url, authorization}) => [url, authorization]),
		[
			['/links?isActive=false&tag=sale&externalId=e', 'Bearer opl_api_key'],
			[`/links/${linkId}`, 'Bearer opl_api_flag'],
			[`/links/${linkId}`, 'Bearer opl_api_key'],
		],
	);
});

test('--org uses the admin API even if a SERVER key is set', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links': () => ({body: pageOf([])}),
	});
	ends(t, await runCli('links list --org Ab12', {env: {...env, OPLINK_API_KEY: 'opl_api_key'}}), 0);
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
	ends(
		t,
		await runCli('links create --path /sale', {
			env: {...env, OPLINK_API_KEY: 'opl_api_key'},
			io: {
				sleep: async (seconds) => {
					waits.push(seconds);
				},
			},
		}),
		0,
	);
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
			ends(t, await runCli(argv, {env: {...server, ...env}}), 2, {stderr: /is not a short URL, a short code or an id/});
		}

		t.deepEqual(requests, []);
	});
}

test('the only organization needs no name', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'GET /admin/organizations': () => ({body: pageOf([{id: 'only-one'}])}),
		'GET /admin/organizations/only-one/links': () => ({body: pageOf([{...link, clicks: 7}])}),
	});
	ends(t, await cli('links list'), 0, {stdout: /^g0 {10}\/sale +7 {2}active +-$/m});
	t.deepEqual(
		requests.map(({url}) => url),
		['/admin/organizations?limit=1', '/admin/organizations/only-one/links?clicks=true'],
	);
});

const hundred = Array.from({length: 100}, (_, index) => ({
	...link,
	id: `id-${index}`,
	shortCode: `code-${index}`,
	clicks: index * 1000,
}));

test('a list of 100 links with their clicks is one request, and with a key or as JSON asks for none', async (t) => {
	const {cli, env, requests} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links': () => ({body: pageOf(hundred)}),
		'GET /links': () => ({body: pageOf(hundred)}),
	});
	const urls = () => requests.splice(0).map(({url}) => url);
	const list = ['links', 'list', '--limit', '100'];
	const {stdout} = await cli([...list, '--org', 'Ab12']);
	t.regex(stdout, /^code-99 +\/sale +99,000 +active +-$/m);
	t.deepEqual(urls(), ['/admin/organizations/Ab12/links?limit=100&clicks=true']);
	await cli([...list, '--org', 'Ab12', '--json']);
	t.deepEqual(urls(), ['/admin/organizations/Ab12/links?limit=100']);
	t.notRegex((await runCli(list, {env: {...env, OPLINK_API_KEY: 'k'}})).stdout, /CLICKS/);
	t.deepEqual(urls(), ['/links?limit=100']);
});

test('of all links the clicks are counted and shown where one page has them', async (t) => {
	const more = [{...link, id: 'id-100', shortCode: 'code-100'}];
	let total = 100;
	const {cli, requests} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links': ({url}) => ({
			body: pageOf(url.includes('page=2') ? more : hundred, {total, limit: 100}),
		}),
	});
	const list = ['links', 'list', '--all', '--org', 'Ab12'];
	t.regex((await cli(list)).stdout, /^code-1 .* 1,000 +active/m);
	total = 101;
	t.notRegex((await cli(list)).stdout, /CLICKS/);
	t.deepEqual(
		requests.map(({url}) => new URL(url, 'http://x').searchParams.get('clicks')),
		['true', 'true', null],
	);
});

for (const total of [0, 2]) {
	test(`with ${total} organizations a link command without --org is a usage error`, async (t) => {
		const {cli} = await startRecordingServer(t, {
			'GET /admin/organizations': () => ({body: pageOf(total === 0 ? [] : [{id: 'one'}], {total})}),
		});
		ends(t, await cli('links list'), 2, {
			stderr: total === 0 ? /no organization yet/ : /2 organizations: --org ORG is needed/,
		});
	});
}

const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff]);

test('qr export writes one code in the format of the file extension', async (t) => {
	const folder = await folderOf(t);
	const {env, requests} = await startRecordingServer(t, {[`GET /links/${linkId}/qr.png`]: () => ({body: image})});
	const argv = [
		'qr',
		'export',
		linkId,
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
	ends(t, await runCli(argv, {env: {...env, OPLINK_API_KEY: 'k'}, io: {cwd: folder}}), 0, {stdout: 'code.png\n'});
	t.is(requests[0]?.url, `/links/${linkId}/qr.png?size=256&margin=0&color=%23112233&bgColor=transparent&ecc=H`);
	t.deepEqual(await readFile(path.join(folder, 'code.png')), image);
});

test('qr export writes several codes to a folder that it makes', async (t) => {
	const folder = await folderOf(t);
	const svg = {body: Buffer.from('<svg/>')};
	const {env} = await startRecordingServer(t, {
		'GET /links': ({url}) => ({
			body: pageOf([{id: `id-of-${new URL(url, 'http://x').searchParams.get('shortCode')}`}]),
		}),
		'GET /links/id-of-a/qr.svg': () => svg,
		'GET /links/id-of-b/qr.svg': () => svg,
	});
	const argv = ['qr', 'export', 'a', 'b', '--output', 'codes', '--json'];
	const {stdout} = await runCli(argv, {env: {...env, OPLINK_API_KEY: 'k'}, io: {cwd: folder}});
	t.deepEqual(JSON.parse(stdout), [
		{id: 'id-of-a', file: path.join('codes', 'a.svg'), bytes: 6},
		{id: 'id-of-b', file: path.join('codes', 'b.svg'), bytes: 6},
	]);
	t.is(await readFile(path.join(folder, 'codes', 'b.svg'), 'utf8'), '<svg/>');
});

test('qr export to standard output writes the image and nothing else', async (t) => {
	const {env} = await startRecordingServer(t, {[`GET /links/${linkId}/qr.png`]: () => ({body: image})});
	const argv = ['qr', 'export', linkId, '--output', '-', '--format', 'png'];
	const {stdoutBytes} = await runCli(argv, {env: {...env, OPLINK_API_KEY: 'k'}});
	t.deepEqual(stdoutBytes, image);
});

test('control characters in tenants’ texts never reach a terminal, and --json escapes them', async (t) => {
	const title = 'a\u001B]0;owned\u0007b\u009B2Jc\u202Ed';
	const stored = {...link, title, params: {'n\u001B[2J\u2066': title}};
	const {cli} = await startRecordingServer(t, {
		[`GET /admin/organizations/Ab12/links/${linkId}`]: () => ({body: stored}),
		'GET /admin/organizations/Ab12/links': () => ({body: pageOf([stored])}),
		'GET /admin/organizations/Ab12/links/export': () => ({body: Buffer.from(`${JSON.stringify(stored)}\n`)}),
	});
	const unsafe = /[^\P{Cc}\n]|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
	for (const [argv, data] of [
		[['show', linkId], (text: string) => JSON.parse(text)],
		[['list'], (text: string) => JSON.parse(text).data[0]],
	] as const) {
		const plain = ends(t, await cli(['links', ...argv, '--org', 'Ab12']), 0);
		t.notRegex(plain.stdout, unsafe);
		const json = await cli(['links', ...argv, '--org', 'Ab12', '--json']);
		t.notRegex(json.stdout, unsafe);
		t.deepEqual(data(json.stdout), stored);
	}

	const exported = await cli('links export --org Ab12');
	t.notRegex(exported.stdout, unsafe);
	t.deepEqual(JSON.parse(exported.stdout), stored);
	const screen = createSink();
	const stdout = Object.assign(screen.stream, {isTTY: true, columns: 80});
	await cli('links export --org Ab12 --format csv', {io: {stdout}});
	t.notRegex(screen.text(), unsafe);
	t.true(screen.text().includes('owned'));
});
