import test from 'ava';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {ends, runOnScreen} from './_run-cli.ts';

const acme = {
	id: '7b0d1f6e-6f0c-4a55-9a53-0a8f3a0e9d11',
	orgKey: 'Ab12',
	name: 'Acme',
	status: 'ACTIVE',
	plan: 'GROWTH',
	contactEmail: null,
	createdAt: '2026-03-10T12:00:00.000Z',
};

test('orgs list prints a table as wide as the terminal, and a note about further pages', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'GET /admin/organizations': {body: pageOf([{...acme, name: 'Acme '.repeat(40)}], {total: 45, page: 2})},
	});
	const argv = ['orgs', 'list', '--page', '2', '--limit', '20', '--search', 'ac me'];
	const {stdout} = ends(t, await runOnScreen(argv, env), 0, {
		stdout:
			/^ID +ORGKEY +NAME +PLAN +STATUS\n7b0d1f6e-6f0c-4a55-9a53-0a8f3a0e9d11 {2}Ab12 {4}Acme .*… {2}GROWTH {2}ACTIVE\n/,
		stderr: '1 of 45; --page 3 shows the next page, --all shows all\n',
	});
	t.is(requests[0]?.url, '/admin/organizations?q=ac%20me&page=2&limit=20');
	t.true(stdout.split('\n').every((line) => line.length <= 80));
});

test('off a terminal no cell of a table is cut', async (t) => {
	const name = `Acme ${'x'.repeat(200)}`;
	const {cli} = await startRecordingServer(t, {'GET /admin/organizations': {body: pageOf([{...acme, name}])}});
	const {stdout} = await cli('orgs list');
	t.is(stdout.split('\n')[1], `${acme.id}  Ab12    ${name}  GROWTH  ACTIVE`);
});

test('--json prints the list as the API answered it, and nothing else', async (t) => {
	const answer = pageOf([acme], {total: 45});
	const {cli} = await startRecordingServer(t, {'GET /admin/organizations': {body: answer}});
	ends(t, await cli('orgs list --json'), 0, {json: answer});
});

test('--all walks the pages and keeps a row that moved to the next page once', async (t) => {
	const organizations = Array.from({length: 150}, (_, index) => ({...acme, id: `id-${index}`}));
	const {cli, requests} = await startRecordingServer(t, {
		'GET /admin/organizations': ({url}) => {
			const page = Number(new URL(url, 'http://x').searchParams.get('page'));
			const start = page === 1 ? 0 : 99;
			return {body: pageOf(organizations.slice(start, start + 100), {total: 150, page, limit: 100})};
		},
	});
	const {data, total} = JSON.parse((await cli('orgs list --all --json')).stdout);
	t.is(requests.length, 2);
	t.is(total, 150);
	t.deepEqual(data, organizations);
});

test('orgs create sends the given fields and prints names and values', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {'POST /admin/organizations': {status: 201, body: acme}});
	ends(t, await cli('orgs create --name Acme --contact-email ops@acme.example --plan GROWTH'), 0, {
		stdout: /^orgKey {5}Ab12$/m,
	});
	t.deepEqual(requests[0]?.body, {name: 'Acme', contactEmail: 'ops@acme.example', plan: 'GROWTH'});
});

test('orgs suspend and activate post without a body', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/suspend': {body: acme},
		'POST /admin/organizations/Ab12/activate': {body: acme},
	});
	ends(t, await cli('orgs suspend Ab12 --json --yes'), 0, {json: acme});
	ends(t, await cli('orgs activate Ab12 --json'), 0, {json: acme});
	t.true(requests.length === 2 && requests.every(({body}) => body === undefined));
});

test('a command that would send nothing, or no valid JSON, sends no request', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	ends(t, await cli('orgs update Ab12'), 2);
	ends(t, await cli('app-config set --org Ab12 --file -', {stdin: '{ios:'}), 1, {
		stderr: /^Error: Standard input is not valid JSON in line 1: /,
	});
	ends(t, await cli('keys regenerate --org Ab12 ROOT --yes'), 2);
	t.deepEqual(requests, []);
});

test('a name with a slash stays one segment of the path', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	await cli('orgs show ../metrics?x=1');
	t.is(requests[0]?.url, '/admin/organizations/..%2Fmetrics%3Fx%3D1');
});

const card = (tier: string, displayKey: string | null) => ({
	tier,
	prefix: `${displayKey ?? 'opl_sdk_legacy00'}`.slice(0, 16),
	displayKey,
	createdAt: '2026-03-10T12:00:00.000Z',
	expiresAt: null,
	lastUsedAt: null,
});

test('keys show prints both keys in full, and reports one that is not stored', async (t) => {
	const keys = {sdkKey: card('CLIENT', null), serverKey: card('SERVER', 'opl_api_0123456789abcdef')};
	const {cli} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/api-keys': {body: {...keys, locked: false, earlier: []}},
	});
	ends(t, await cli('keys show --org Ab12'), 0, {
		stdout: [/^key {9}opl_sdk_legacy00… \(not stored; regenerate it/m, /^key {9}opl_api_0123456789abcdef$/m],
	});
});

test('keys regenerate prints the new raw key', async (t) => {
	const {cli} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/api-keys/SERVER/regenerate': {
			body: {...card('SERVER', 'opl_api_new'), rawKey: 'opl_api_new'},
		},
	});
	ends(t, await cli('keys regenerate --org Ab12 server --yes'), 0, {stdout: /^key {9}opl_api_new$/m});
});

test('app-config set reads standard input, and prints JSON that it would read again', async (t) => {
	const config = {ios: {bundleId: 'com.acme.shop.ios'}, android: []};
	const {cli, requests} = await startRecordingServer(t, {
		'PUT /admin/organizations/Ab12/app-config': ({body}) => ({body}),
	});
	const stdin = `\uFEFF${JSON.stringify(config)}`;
	ends(t, await cli('app-config set --org Ab12 --file -', {stdin}), 0, {json: config});
	t.deepEqual(requests[0]?.body, config);
});

test('app-config set changes single fields of the file, or else of the current configuration', async (t) => {
	const current = {ios: null, android: [], destinations: {ios: 'https://i.example/', desktop: 'https://d.example/'}};
	const {cli, requests} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/app-config': {body: current},
		'PUT /admin/organizations/Ab12/app-config': ({body}) => ({body}),
	});
	const set = 'app-config set --org Ab12';
	const destinations = '--destination ios= --destination android=https://a.example';
	ends(t, await cli(`${set} ${destinations} --minimum-version ios=2.10.0`), 0);
	t.deepEqual(requests[1]?.body, {
		...current,
		destinations: {ios: null, desktop: 'https://d.example/', android: 'https://a.example'},
		minimumVersion: {ios: '2.10.0'},
	});
	await cli(`${set} --file - --minimum-version android=7`, {stdin: '{"android": []}'});
	t.deepEqual(requests[2]?.body, {android: [], minimumVersion: {android: 7}});
	ends(t, await cli(set), 2);
	t.is(requests.length, 3);
});

test('audit prints actor and action, with complete ids and names', async (t) => {
	const record = {
		at: '2026-03-10T12:00:00.000Z',
		action: 'REGENERATE',
		entityType: 'ApiKey',
		entityId: acme.id,
		actor: {type: 'USER', id: 'user_1', name: 'someone@acme.example'},
	};
	const {cli, env} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/audit-log': {body: pageOf([record])},
	});
	const rowOf = ({stdout}: {stdout: string}) => stdout.split('\n')[1];
	const beginning = '2026-03-10 12:00:00  REGENERATE  ApiKey';
	t.is(rowOf(await cli('audit --org Ab12')), `${beginning}  ${acme.id}  someone@acme.example`);
	t.is(rowOf(await runOnScreen('audit --org Ab12', env)), `${beginning}  someone@acme.example`);
});

test('billing events keeps the end of a type on a narrow terminal, and billing show names the gateway', async (t) => {
	const event = {
		id: acme.id,
		gateway: 'GATEWAY_A',
		type: 'customer.subscription.updated',
		outcome: 'IGNORED',
		receivedAt: '2026-03-10T12:00:00.000Z',
		reason: 'Nothing to change.',
	};
	const {cli, env} = await startRecordingServer(t, {
		'GET /admin/billing/events': {body: pageOf([event])},
		[`GET /admin/billing/events/${event.id}`]: {body: event},
	});
	const {stdout} = await runOnScreen('billing events', env);
	t.is(stdout.split('\n')[1], `2026-03-10 12:00:00  ${event.id}  IGNORED  …ion.updated`);
	t.regex((await cli('billing events')).stdout, / {2}customer\.subscription\.updated {2}Nothing to change\.$/m);
	t.regex((await cli(`billing show ${event.id}`)).stdout, /^gateway +GATEWAY_A \(Stripe\)$/m);
});

const domain = {
	id: '3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11',
	hostname: 'go.acme.example',
	status: 'PENDING',
	isDefault: false,
	verification: {type: 'TXT', name: '_oplink.go.acme.example', value: 'oplink-verification=abc'},
};

test('domains add prints the required DNS record on stderr', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/domains': {status: 201, body: domain},
	});
	ends(t, await cli('domains add --org Ab12 go.acme.example --json'), 0, {
		json: domain,
		stderr: /_oplink\.go\.acme\.example TXT oplink-verification=abc/,
	});
	t.deepEqual(requests[0]?.body, {hostname: 'go.acme.example'});
});

test('a blocked domain is not asked to be verified by a record', async (t) => {
	const {cli} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/domains': {status: 201, body: {...domain, status: 'REJECTED'}},
	});
	ends(t, await cli('domains add --org Ab12 go.acme.example'), 0, {stderr: /^This name is blocked: /});
});

test('domains are named by hostname as well as by id, in every command', async (t) => {
	const ofDomain = `/admin/organizations/Ab12/domains/${domain.id}`;
	for (const [words, route] of [
		['verify', `POST ${ofDomain}/verify`],
		['approve', `POST ${ofDomain}/approve`],
		['reject --yes', `POST ${ofDomain}/reject`],
		['default', `POST ${ofDomain}/default`],
		['remove --yes', `DELETE ${ofDomain}`],
	] as const) {
		const list = 'GET /admin/organizations/Ab12/domains';
		const {cli, requests} = await startRecordingServer(t, {
			[list]: {body: pageOf([domain], {limit: 100})},
			[route]: {body: {...domain, deleted: true}},
		});
		for (const named of [domain.id, 'GO.acme.example']) {
			ends(t, await cli(`domains ${words} --org Ab12 ${named}`), 0);
		}

		const found = requests.map(({method, url}) => `${method} ${url.split('?')[0]}`);
		t.deepEqual(found, [route, list, route]);
		ends(t, await cli(`domains ${words} --org Ab12 no.acme.example`), 4, {stderr: /no domain 'no.acme.example'/});
	}
});
