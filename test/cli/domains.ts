import test from 'ava';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {runCli} from './_run-cli.ts';

const domain = {
	id: '3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11',
	hostname: 'go.acme.example',
	status: 'PENDING',
	isDefault: false,
	verification: {type: 'TXT', name: '_oplink.go.acme.example', value: 'oplink-verification=abc'},
};

test('domains add prints the required DNS record on stderr', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/domains': () => ({status: 201, body: domain}),
	});
	const {exitCode, stdout, stderr} = await runCli(['domains', 'add', 'Ab12', 'go.acme.example', '--json'], {env});
	t.is(exitCode, 0);
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
		const {env, requests} = await startRecordingServer(t, {
			'GET /admin/organizations/Ab12/domains': () => ({body: pageOf([domain], {limit: 100})}),
			[`${method} /admin/organizations/Ab12/domains/${domain.id}${suffix}`]: () => ({body: {...domain, deleted: true}}),
		});
		const yes = word === 'remove' ? ['--yes'] : [];
		t.is((await runCli(['domains', word, 'Ab12', domain.id, ...yes], {env})).exitCode, 0);
		t.is(requests.length, 1);
		t.is((await runCli(['domains', word, 'Ab12', 'GO.acme.example', ...yes], {env})).exitCode, 0);
		t.is(requests.length, 3);
	});
}

test('an unknown hostname ends with 4', async (t) => {
	const {env} = await startRecordingServer(t, {'GET /admin/organizations/Ab12/domains': () => ({body: pageOf([])})});
	const {exitCode, stderr} = await runCli(['domains', 'verify', 'Ab12', 'no.acme.example'], {env});
	t.is(exitCode, 4);
	t.regex(stderr, /no domain 'no.acme.example'/);
});
