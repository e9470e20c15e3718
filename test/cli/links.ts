import {readFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {folderOf} from '../helpers/folder.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {ends, runOnScreen} from './_run-cli.ts';

const linkId = '5d1b6c1e-0000-4000-8000-000000000001';
const link = {
	id: linkId,
	url: 'http://localhost:3000/Ab12/g0',
	path: '/sale',
	shortCode: 'g0',
	title: null,
	isActive: true,
};

test('links create shows what one needs of the link, and with --json all', async (t) => {
	const {cli} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/links': {
			body: {
				id: 'an-id',
				url: 'https://go.example.com/Ab12/x',
				path: '/sale',
				title: null,
				tags: [],
				params: {a: '1'},
				og: {title: null},
				shortCode: 'x',
				organizationId: 'an-organization',
				deferredDeepLinking: true,
				matchWindowHours: 24,
				isActive: false,
				createdAt: '2026-03-01T00:00:00.000Z',
			},
		},
	});
	const {stdout} = ends(t, await cli('links create --org Ab12 --path /sale'), 0);
	t.is(
		stdout,
		'url       https://go.example.com/Ab12/x\nid        an-id\npath      /sale\nparams.a  1\nisActive  no\n',
	);
	const {stdout: named} = await cli('links create --org Ab12 --path /sale --match-window-hours 24');
	t.regex(named, /^matchWindowHours +24$/m);
	const {stdout: all} = await cli('links create --org Ab12 --path /sale --json');
	t.like(JSON.parse(all), {title: null, tags: [], og: {title: null}});
});

test('links create has a flag for every field', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/links': {status: 201, body: link},
	});
	const flags = `--path /sale --short-code g0 --title T --tag a --tag b;c --channel email --utm-source s --utm-medium m
		--utm-campaign c --utm-term t --utm-content x --fallback-url https://acme.example --og-title OT --og-description OD
		--og-image-url https://acme.example/i.png --expiry 2030-01-01T00:00:00Z --template 5d1b6c1e-0000-4000-8000-00000000000a --param a=1 --param b=x=y
		--external-id e1 --destination ios=https://i.example/?a=b --destination desktop= --minimum-version ios=2.10.0
		--minimum-version android=210 --inactive --no-deferred --match-window-hours 24 --domain 5d1b6c1e-0000-4000-8000-00000000000b`;
	ends(t, await cli(`links create --org Ab12 ${flags}`), 0, {stdout: /^url {8}http:\/\/localhost:3000\/Ab12\/g0\n/});
	const utm = {utmSource: 's', utmMedium: 'm', utmCampaign: 'c', utmTerm: 't', utmContent: 'x'};
	t.deepEqual(requests[0]?.body, {
		path: '/sale',
		shortCode: 'g0',
		title: 'T',
		tags: ['a', 'b;c'],
		channel: 'email',
		...utm,
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
	await cli('links create --org Ab12 --path /sale');
	t.deepEqual(requests[1]?.body, {path: '/sale'}, 'without flags there are no further fields');
});

test('links create needs a path or a template, a param its name, hours a number', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	for (const flags of [
		'',
		' --path /x --param =1',
		' --path /x --match-window-hours ten',
		' --path /x --destination tv=https://tv.example',
		' --path /x --minimum-version ipad=1',
		' --path /x --destination ios',
	]) {
		ends(t, await cli(`links create --org Ab12${flags}`), 2);
	}

	t.deepEqual(requests, []);
});

test('links update clears fields by name, and refuses unknown names', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		[`PATCH /admin/organizations/Ab12/links/${linkId}`]: {body: link},
	});
	const update = `links update ${linkId} --org Ab12`;
	await cli(`${update} --active --deferred --clear expiry --clear og.title`);
	t.deepEqual(requests[0]?.body, {isActive: true, deferredDeepLinking: true, expiry: null, og: {title: null}});
	ends(t, await cli(`${update} --clear colour`), 2);
	ends(t, await cli(update), 2);
	t.is(requests.length, 1);
	await cli(`${update} --clear destinations --clear minimumVersion.android`);
	t.deepEqual(requests[1]?.body, {destinations: null, minimumVersion: {android: null}});
});

test('with a SERVER key links go to /links, with --org to the admin API even then', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'GET /links': {body: pageOf([link])},
		[`GET /links/${linkId}`]: {body: link},
		[`DELETE /links/${linkId}`]: {body: {id: linkId, deleted: true}},
		'GET /admin/organizations/Ab12/links': {body: pageOf([])},
	});
	const withKey = {env: {OPLINK_API_KEY: 'opl_api_key'}};
	ends(t, await cli('links list --inactive --tag sale --external-id e', withKey), 0);
	ends(t, await cli(`links show ${linkId} --api-key opl_api_flag`), 0);
	ends(t, await cli(`links delete ${linkId} --yes`, withKey), 0);
	ends(t, await cli('links list --org Ab12', withKey), 0);
	const found = requests.map(({url, authorization}) => [url, authorization]);
	t.deepEqual(found, [
		['/links?isActive=false&tag=sale&externalId=e', 'Bearer opl_api_key'],
		[`/links/${linkId}`, 'Bearer opl_api_flag'],
		[`/links/${linkId}`, 'Bearer opl_api_key'],
		['/admin/organizations/Ab12/links?clicks=true', 'Bearer admin-secret'],
	]);
});

test('a create with a SERVER key is retried with the same Idempotency-Key after a lost answer', async (t) => {
	const answers = [503, 503, 201];
	const {cli, requests} = await startRecordingServer(t, {
		'POST /links': () => ({status: answers.shift() ?? 500, body: link}),
	});
	const waits: number[] = [];
	const sleep = async (seconds: number) => void waits.push(seconds);
	ends(t, await cli('links create --path /sale', {env: {OPLINK_API_KEY: 'opl_api_key'}, io: {sleep}}), 0);
	t.deepEqual(waits, [0.5, 1]);
	t.is(new Set(requests.map(({headers}) => headers['idempotency-key'])).size, 1);
});

test('an id that would name another path is a usage error', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	for (const argv of ['links show ..', 'links delete . --yes', ['qr', 'export', '', '--output', '-']]) {
		for (const env of [{}, {OPLINK_API_KEY: 'opl_api_key'}]) {
			ends(t, await cli(argv, {env}), 2, {stderr: /is not a short URL, a short code or an id/});
		}
	}

	t.deepEqual(requests, []);
});

test('the only organization needs no name', async (t) => {
	const {cli, urls} = await startRecordingServer(t, {
		'GET /admin/organizations': {body: pageOf([{id: 'only-one'}])},
		'GET /admin/organizations/only-one/links': {body: pageOf([{...link, clicks: 7}])},
	});
	ends(t, await cli('links list'), 0, {stdout: /^g0 {10}\/sale +7 {2}active +-$/m});
	t.deepEqual(urls(), ['/admin/organizations?limit=1', '/admin/organizations/only-one/links?clicks=true']);
});

const hundred = Array.from({length: 100}, (_, index) => ({
	...link,
	id: `id-${index}`,
	shortCode: `code-${index}`,
	clicks: index * 1000,
}));

test('a list of 100 links with their clicks is one request, and with a key or as JSON asks for none', async (t) => {
	const {cli, urls} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links': {body: pageOf(hundred)},
		'GET /links': {body: pageOf(hundred)},
	});
	const list = 'links list --limit 100';
	t.regex((await cli(`${list} --org Ab12`)).stdout, /^code-99 +\/sale +99,000 +active +-$/m);
	await cli(`${list} --org Ab12 --json`);
	t.notRegex((await cli(list, {env: {OPLINK_API_KEY: 'k'}})).stdout, /CLICKS/);
	const ofAdmin = '/admin/organizations/Ab12/links?limit=100';
	t.deepEqual(urls(), [`${ofAdmin}&clicks=true`, ofAdmin, '/links?limit=100']);
});

test('of all links the clicks are counted and shown where one page has them', async (t) => {
	const more = [{...link, id: 'id-100', shortCode: 'code-100'}];
	let total = 100;
	const {cli, urls} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links': ({url}) => ({
			body: pageOf(url.includes('page=2') ? more : hundred, {total, limit: 100}),
		}),
	});
	const list = 'links list --all --org Ab12';
	t.regex((await cli(list)).stdout, /^code-1 .* 1,000 +active/m);
	total = 101;
	t.notRegex((await cli(list)).stdout, /CLICKS/);
	const found = urls().map((url) => url.includes('clicks=true'));
	t.deepEqual(found, [true, true, false]);
});

test('without an organization, or with several, a link command without --org is a usage error', async (t) => {
	const pages = [pageOf([]), pageOf([{id: 'one'}], {total: 2})];
	const {cli} = await startRecordingServer(t, {'GET /admin/organizations': () => ({body: pages.shift()})});
	ends(t, await cli('links list'), 2, {stderr: /no organization yet/});
	ends(t, await cli('links list'), 2, {stderr: /2 organizations: --org ORG is needed/});
});

const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff]);

test('qr export writes one code in the format of the file extension', async (t) => {
	const cwd = await folderOf(t);
	const {cli, requests} = await startRecordingServer(t, {[`GET /links/${linkId}/qr.png`]: {body: image}});
	const look = '--size 256 --margin 0 --color #112233 --bg-color transparent --ecc H';
	const line = `qr export ${linkId} --output code.png ${look} --api-key k`;
	ends(t, await cli(line, {io: {cwd}}), 0, {stdout: 'code.png\n'});
	t.is(requests[0]?.url, `/links/${linkId}/qr.png?size=256&margin=0&color=%23112233&bgColor=transparent&ecc=H`);
	t.deepEqual(await readFile(path.join(cwd, 'code.png')), image);
	// To standard output goes the image, and nothing else.
	const {stdoutBytes} = await cli(`qr export ${linkId} --output - --format png --api-key k`);
	t.deepEqual(stdoutBytes, image);
});

test('control characters in tenants’ texts never reach a terminal, and --json escapes them', async (t) => {
	const title = 'a\u001B]0;owned\u0007b\u009B2Jc\u202Ed';
	const stored = {...link, title, params: {'n\u001B[2J\u2066': title}};
	const {cli, env} = await startRecordingServer(t, {
		[`GET /admin/organizations/Ab12/links/${linkId}`]: () => ({body: stored}),
		'GET /admin/organizations/Ab12/links': () => ({body: pageOf([stored])}),
		'GET /admin/organizations/Ab12/links/export': () => ({body: Buffer.from(`${JSON.stringify(stored)}\n`)}),
	});
	const unsafe = /[^\P{Cc}\n]|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
	for (const [line, data] of [
		[`links show ${linkId}`, (answer: unknown) => answer],
		['links list', (answer: {data: unknown[]}) => answer.data[0]],
		['links export', (answer: unknown) => answer],
	] as const) {
		t.notRegex(ends(t, await cli(`${line} --org Ab12`), 0).stdout, unsafe, line);
		const {stdout} = await cli(`${line} --org Ab12${line === 'links export' ? '' : ' --json'}`);
		t.notRegex(stdout, unsafe, line);
		t.deepEqual(data(JSON.parse(stdout)), stored, line);
	}

	const screen = await runOnScreen('links export --org Ab12 --format csv', env);
	t.notRegex(screen.stdout, unsafe);
	t.true(screen.stdout.includes('owned'));
});
