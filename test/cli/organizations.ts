import {Readable} from 'node:stream';
import test from 'ava';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {createSink, ends, runCli} from './_run-cli.ts';

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
		'GET /admin/organizations': () => ({body: pageOf([{...acme, name: 'Acme '.repeat(40)}], {total: 45, page: 2})}),
	});
	const terminal = createSink();
	const {exitCode, stderr} = await runCli(['orgs', 'list', '--page', '2', '--limit', '20', '--search', 'ac me'], {
		env: {...env, NO_COLOR: '1'},
		io: {stdout: Object.assign(terminal.stream, {isTTY: true, columns: 80})},
	});
	const stdout = terminal.text();
	t.is(exitCode, 0);
	t.is(requests[0]?.url, '/admin/organizations?q=ac%20me&page=2&limit=20');
	const [heading, row] = stdout.split('\n');
	t.regex(heading ?? '', /^ID +ORGKEY +NAME +PLAN +STATUS$/);
	t.regex(row ?? '', /^7b0d1f6e-6f0c-4a55-9a53-0a8f3a0e9d11 {2}Ab12 {4}Acme .*… {2}GROWTH {2}ACTIVE$/);
	t.true(stdout.split('\n').every((line) => line.length <= 80));
	t.is(stderr, '1 of 45; --page 3 shows the next page, --all shows all\n');
});

test('off a terminal no cell of a table is cut', async (t) => {
	const name = `Acme ${'x'.repeat(200)}`;
	const {cli} = await startRecordingServer(t, {
		'GET /admin/organizations': () => ({body: pageOf([{...acme, name}])}),
	});
	const {stdout} = await cli('orgs list');
	t.is(stdout.split('\n')[1], `${acme.id}  Ab12    ${name}  GROWTH  ACTIVE`);
});

test('--json prints the list as the API answered it, and nothing else', async (t) => {
	const answer = pageOf([acme], {total: 45});
	const {cli} = await startRecordingServer(t, {'GET /admin/organizations': () => ({body: answer})});
	const {stdout} = await cli('orgs list --json');
	t.deepEqual(JSON.parse(stdout), answer);
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
	const {stdout} = await cli('orgs list --all --json');
	const {data, total} = JSON.parse(stdout);
	t.is(requests.length, 2);
	t.is(total, 150);
	t.deepEqual(data, organizations);
});

test('orgs create sends the given fields and prints names and values', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'POST /admin/organizations': () => ({status: 201, body: acme}),
	});
	const argv = ['orgs', 'create', '--name', 'Acme', '--contact-email', 'ops@acme.example', '--plan', 'GROWTH'];
	const {stdout} = ends(t, await cli(argv), 0);
	t.deepEqual(requests[0]?.body, {name: 'Acme', contactEmail: 'ops@acme.example', plan: 'GROWTH'});
	t.regex(stdout, /^orgKey {8}Ab12$/m);
	t.regex(stdout, /^contactEmail {2}-$/m);
});

test('orgs update clears a contact that is given as empty, and refuses to change nothing', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {'PATCH /admin/organizations/Ab12': () => ({body: acme})});
	t.is((await cli(['orgs', 'update', 'Ab12', '--contact-email', ''])).exitCode, 0);
	t.deepEqual(requests[0]?.body, {contactEmail: null});
	t.is((await cli('orgs update Ab12')).exitCode, 2);
	t.is(requests.length, 1);
});

for (const word of ['suspend', 'activate']) {
	test(`orgs ${word} posts without a body and prints the organization`, async (t) => {
		const {cli, requests} = await startRecordingServer(t, {
			[`POST /admin/organizations/Ab12/${word}`]: () => ({body: acme}),
		});
		ends(t, await cli(['orgs', word, 'Ab12', '--json', ...(word === 'suspend' ? ['--yes'] : [])]), 0, {json: acme});
		t.is(requests[0]?.body, undefined);
	});
}

test('orgs delete with --yes deletes and prints the answer with --json', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'DELETE /admin/organizations/Ab12': () => ({body: {id: acme.id, deleted: true}}),
	});
	ends(t, await cli('orgs delete Ab12 --yes --json'), 0, {json: {id: acme.id, deleted: true}});
	t.is(requests.length, 1);
});

test('a name with a slash stays one segment of the path', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	await cli('orgs show ../metrics?x=1');
	t.is(requests[0]?.url, '/admin/organizations/..%2Fmetrics%3Fx%3D1');
});

test('plan set sets the plan, and none removes it', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {'PUT /admin/organizations/Ab12/plan': () => ({body: acme})});
	t.is((await cli('plan set --org Ab12 growth')).exitCode, 0);
	t.is((await cli('plan set --org Ab12 none')).exitCode, 0);
	t.deepEqual(
		requests.map(({body}) => body),
		[{plan: 'growth'}, {plan: null}],
	);
});

const card = (tier: string, displayKey: string | null) => ({
	id: 'key-id',
	tier,
	prefix: `${displayKey ?? 'opl_sdk_legacy00'}`.slice(0, 16),
	displayKey,
	createdAt: '2026-03-10T12:00:00.000Z',
	expiresAt: null,
	lastUsedAt: null,
});

test('keys show prints both keys in full, and reports one that is not stored', async (t) => {
	const {cli} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/api-keys': () => ({
			body: {
				sdkKey: card('CLIENT', null),
				serverKey: card('SERVER', 'opl_api_0123456789abcdef'),
				locked: false,
				earlier: [],
			},
		}),
	});
	const {stdout} = await cli('keys show --org Ab12');
	t.regex(stdout, /^key {9}opl_sdk_legacy00… \(not stored; regenerate it/m);
	t.regex(stdout, /^key {9}opl_api_0123456789abcdef$/m);
});

test('keys regenerate prints the new raw key; an unknown tier is a usage error', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/api-keys/SERVER/regenerate': () => ({
			body: {...card('SERVER', 'opl_api_new'), rawKey: 'opl_api_new'},
		}),
	});
	ends(t, await cli('keys regenerate --org Ab12 server --yes'), 0, {stdout: /^key {9}opl_api_new$/m});
	t.is((await cli('keys regenerate --org Ab12 ROOT --yes')).exitCode, 2);
	t.is(requests.length, 1);
});

test('app-config set reads standard input, and prints JSON that it would read again', async (t) => {
	const config = {ios: {bundleId: 'com.acme.shop.ios'}, android: []};
	const {cli, requests} = await startRecordingServer(t, {
		'PUT /admin/organizations/Ab12/app-config': ({body}) => ({body}),
	});
	const {stdout} = ends(
		t,
		await cli('app-config set --org Ab12 --file -', {stdin: `\uFEFF${JSON.stringify(config)}`}),
		0,
	);
	t.deepEqual(requests[0]?.body, config);
	t.deepEqual(JSON.parse(stdout), config);
});

test('app-config set changes single fields of the file, or else of the current configuration', async (t) => {
	const current = {ios: null, android: [], destinations: {ios: 'https://i.example/', desktop: 'https://d.example/'}};
	const {cli, requests} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/app-config': () => ({body: current}),
		'PUT /admin/organizations/Ab12/app-config': ({body}) => ({body}),
	});
	const set = ['app-config', 'set', '--org', 'Ab12'];
	const words = [
		'--destination',
		'ios=',
		'--destination',
		'android=https://a.example',
		'--minimum-version',
		'ios=2.10.0',
	];
	t.is((await cli([...set, ...words])).exitCode, 0);
	t.deepEqual(requests[1]?.body, {
		...current,
		destinations: {ios: null, desktop: 'https://d.example/', android: 'https://a.example'},
		minimumVersion: {ios: '2.10.0'},
	});
	await cli([...set, '--file', '-', '--minimum-version', 'android=7'], {stdin: '{"android": []}'});
	t.deepEqual(requests[2]?.body, {android: [], minimumVersion: {android: 7}});
	t.is((await cli(set)).exitCode, 2);
	t.is(requests.length, 3);
});

test('app-config set sends nothing if the file is not valid JSON', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	ends(
		t,
		await cli('app-config set --org Ab12 --file -', {
			stdin: Readable.from([Buffer.from('{ios:')]),
		}),
		1,
		{stderr: /^Error: Standard input is not valid JSON: /},
	);
	t.deepEqual(requests, []);
});

test('audit prints actor and action, with complete ids and names', async (t) => {
	const record = {
		id: '1',
		at: '2026-03-10T12:00:00.000Z',
		action: 'REGENERATE',
		entityType: 'ApiKey',
		entityId: '7b0d1f6e-6f0c-4a55-9a53-0a8f3a0e9d11',
		actor: {type: 'USER', id: 'user_1', name: 'someone@acme.example'},
	};
	const {cli} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/audit-log': () => ({body: pageOf([record])}),
	});
	const {stdout} = await cli('audit --org Ab12');
	t.is(
		stdout.split('\n')[1],
		'2026-03-10 12:00:00  REGENERATE  ApiKey  7b0d1f6e-6f0c-4a55-9a53-0a8f3a0e9d11  someone@acme.example',
	);
	const terminal = createSink();
	await cli('audit --org Ab12', {io: {stdout: Object.assign(terminal.stream, {isTTY: true, columns: 80})}});
	t.is(terminal.text().split('\n')[1], '2026-03-10 12:00:00  REGENERATE  ApiKey  someone@acme.example');
});

test('billing events keeps the end of a type on a narrow terminal, and billing show names the gateway', async (t) => {
	const event = {
		id: '7b0d1f6e-6f0c-4a55-9a53-0a8f3a0e9d11',
		gateway: 'GATEWAY_A',
		type: 'customer.subscription.updated',
		outcome: 'IGNORED',
		receivedAt: '2026-03-10T12:00:00.000Z',
		reason: 'Nothing to change.',
	};
	const {cli} = await startRecordingServer(t, {
		'GET /admin/billing/events': () => ({body: pageOf([event])}),
		[`GET /admin/billing/events/${event.id}`]: () => ({body: event}),
	});
	const terminal = createSink();
	await cli('billing events', {io: {stdout: Object.assign(terminal.stream, {isTTY: true, columns: 80})}});
	t.is(terminal.text().split('\n')[1], `2026-03-10 12:00:00  ${event.id}  IGNORED  …ion.updated`);
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
		'POST /admin/organizations/Ab12/domains': () => ({status: 201, body: domain}),
	});
	const {stdout, stderr} = ends(t, await cli('domains add --org Ab12 go.acme.example --json', {}), 0);
	t.deepEqual(requests[0]?.body, {hostname: 'go.acme.example'});
	t.deepEqual(JSON.parse(stdout), domain);
	t.regex(stderr, /_oplink\.go\.acme\.example TXT oplink-verification=abc/);
});

for (const [word, method, suffix] of [
	['verify', 'POST', '/verify'],
	['approve', 'POST', '/approve'],
	['reject', 'POST', '/reject'],
	['default', 'POST', '/default'],
	['remove', 'DELETE', ''],
] as const) {
	test(`domains ${word} takes a hostname as well as an id`, async (t) => {
		const {cli, requests} = await startRecordingServer(t, {
			'GET /admin/organizations/Ab12/domains': () => ({body: pageOf([domain], {limit: 100})}),
			[`${method} /admin/organizations/Ab12/domains/${domain.id}${suffix}`]: () => ({body: {...domain, deleted: true}}),
		});
		const yes = word === 'remove' ? ['--yes'] : [];
		t.is((await cli(['domains', word, '--org', 'Ab12', domain.id, ...yes])).exitCode, 0);
		t.is(requests.length, 1);
		t.is((await cli(['domains', word, '--org', 'Ab12', 'GO.acme.example', ...yes])).exitCode, 0);
		t.is(requests.length, 3);
	});
}

test('an unknown hostname ends with 4', async (t) => {
	const {cli} = await startRecordingServer(t, {'GET /admin/organizations/Ab12/domains': () => ({body: pageOf([])})});
	ends(t, await cli('domains verify --org Ab12 no.acme.example'), 4, {stderr: /no domain 'no.acme.example'/});
});
