import test, {type ExecutionContext} from 'ava';
import {judgeCertificate} from '../../src/cli/doctor/examine-host.ts';
import {packageVersion} from '../../src/platform/package-root.ts';
import {androidFile, appleFile, authorityFile, type Files, startLinkHost} from './_link-host.ts';
import {startRecordingServer} from './_recording-server.ts';
import {ends, runCli} from './_run-cli.ts';
import {finish, start} from './_spawn-cli.ts';

const PRINT = Array.from({length: 32}, () => 'AB').join(':');

type Host = {url: string; orgKey: string | null; isPart: boolean; apple: string[]; android: string[]};
type Finding = {area: string; check: string; status: string; message: string; next: string | null};

const host = (url: string, more: Partial<Host> = {}): Host => ({
	url,
	orgKey: 'Ab12',
	isPart: false,
	apple: ['TEAM123456.com.acme.app /*'],
	android: [`com.acme.app ${PRINT}`],
	...more,
});

/** A server that is well itself, with these hosts of links. */
const serverWith = (t: ExecutionContext, hosts: Host[]) =>
	startRecordingServer(t, {
		'GET /health/ready': () => ({body: {status: 'ok', checks: {}}}),
		'GET /admin/doctor': () => ({body: {version: packageVersion(), status: 'ok', findings: [], hosts}}),
	});

const hostFindings = (stdout: string): Finding[] =>
	(JSON.parse(stdout).findings as Finding[]).filter(({check}) => check.startsWith('host.'));

const ruledAppleFile = (...components: object[]): string =>
	JSON.stringify({applinks: {details: [{appIDs: ['TEAM123456.com.acme.app'], components}]}});
const ruledAndroidFile = (...components: object[]): string => {
	const [statement] = JSON.parse(androidFile('com.acme.app', PRINT));
	const rules = {dynamic_app_link_components: components};
	return JSON.stringify([{...statement, relation_extensions: {'delegate_permission/common.handle_all_urls': rules}}]);
};

const complete: Files = {apple: appleFile('TEAM123456.com.acme.app'), android: androidFile('com.acme.app', PRINT)};

test('a host with an address, a certificate and both files is fine, and each certificate fault is reported', async (t) => {
	const [good, expired] = await Promise.all([
		startLinkHost(t, complete, 'localhost'),
		startLinkHost(t, complete, 'expired'),
	]);
	const urls = [`https://localhost:${good}`, `https://127.0.0.1:${good}`, `https://localhost:${expired}`];
	const {env} = await serverWith(
		t,
		urls.map((url) => host(url)),
	);
	const {stdout} = ends(t, await finish(start(t, 'doctor --json', {...env, NODE_EXTRA_CA_CERTS: authorityFile})), 1, {
		stderr: '',
	});
	const findingOf = (url: string) =>
		hostFindings(stdout)
			.filter(({area}) => area === `Domain ${new URL(url).host} of Ab12`)
			.map(({check, status, message}) => [check, status, message]);
	const [well = '', misnamed = '', late = ''] = urls;
	t.like(findingOf(well), [
		['host.address', 'ok'],
		['host.certificate', 'ok'],
		['host.apple', 'ok'],
		['host.android', 'ok'],
	]);
	t.deepEqual(findingOf(misnamed).at(-1), ['host.certificate', 'fail', 'its certificate is for localhost']);
	t.deepEqual(findingOf(late).at(-1), ['host.certificate', 'fail', 'its certificate expired on 2020-03-01']);
});

test('a certificate of an untrusted authority is a failure', async (t) => {
	const port = await startLinkHost(t, complete, 'localhost');
	const {env} = await serverWith(t, [host(`https://localhost:${port}`)]);
	const {stdout} = ends(t, await runCli('doctor --json', {env}), 1);
	const [, certificate] = hostFindings(stdout);
	t.is(certificate?.message, 'no known authority issued its certificate');
	t.is(certificate?.next, 'Serve the intermediate certificates with it');
});

const shown = (from: string, to: string, fault: string | null = null) => ({
	certificate: {valid_from: from, valid_to: to, subjectaltname: 'DNS:a.example, DNS:*.b.example'},
	fault,
});
const NOW = new Date('2026-03-10T12:00:00.000Z');

for (const [what, given, status, message] of [
	['a long time', shown('Jan 1 2026 GMT', 'Apr 1 2026 GMT'), 'ok', 'valid until 2026-04-01, for 21 days'],
	['a few days', shown('Dec 20 2025 GMT', 'Mar 20 2026 GMT'), 'warn', 'valid until 2026-03-20, for 9 days'],
	['a few days of few', shown('Mar 9 2026 GMT', 'Mar 16 2026 GMT'), 'ok', 'valid until 2026-03-16, for 5 days'],
	[
		'other names',
		shown('Jan 1 2026 GMT', 'Apr 1 2026 GMT', 'ERR_TLS_CERT_ALTNAME_INVALID'),
		'fail',
		'is for a.example, *.b.example',
	],
	[
		'itself as authority',
		shown('Jan 1 2026 GMT', 'Apr 1 2026 GMT', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
		'fail',
		'is self-signed',
	],
	[
		'a beginning to come',
		shown('Apr 1 2026 GMT', 'May 1 2026 GMT', 'CERT_NOT_YET_VALID'),
		'fail',
		'is not valid before 2026-04-01',
	],
	['something else', shown('Jan 1 2026 GMT', 'Apr 1 2026 GMT', 'CERT_REVOKED'), 'fail', 'is not valid (CERT_REVOKED)'],
] as const) {
	test(`a certificate with ${what} is ${status}`, (t) => {
		const finding = judgeCertificate('x', 'c.example', given, NOW);
		t.is(finding.status, status);
		t.true(finding.message.endsWith(message), finding.message);
		t.is(finding.next === null, status === 'ok');
	});
}

for (const [what, files, more, apple, android] of [
	[
		'other apps than are configured',
		{...complete, apple: appleFile('TEAM123456.com.other')},
		{},
		'fail lacks TEAM123456.com.acme.app /*',
		'ok',
	],
	[
		'more than is configured',
		{...complete, android: androidFile('com.acme.app', PRINT, 'CD')},
		{},
		'ok',
		'warn has com.acme.app CD, which is not configured',
	],
	[
		'rules for paths',
		{
			apple: ruledAppleFile({'/': '/help/*', exclude: true}, {'/': '/*'}),
			android: ruledAndroidFile({'/': '/help/*', exclude: true}, {'/': '*'}),
		},
		{
			apple: ['TEAM123456.com.acme.app /* except /help/*'],
			android: [`com.acme.app ${PRINT}`, 'com.acme.app opens * except /help/*'],
		},
		'ok',
		'ok',
	],
	[
		'rules in another order',
		{
			apple: ruledAppleFile({'/': '/*'}, {'/': '/help/*', exclude: true}),
			android: ruledAndroidFile({'/': '*'}, {'/': '/help/*', exclude: true}),
		},
		{
			apple: ['TEAM123456.com.acme.app /* except /help/*'],
			android: [`com.acme.app ${PRINT}`, 'com.acme.app opens * except /help/*'],
		},
		'fail lacks TEAM123456.com.acme.app /* except /help/*',
		'fail lacks com.acme.app opens * except /help/*',
	],
	[
		'rules that nobody asked for',
		{
			apple: ruledAppleFile({'/': '/help/*', exclude: true}, {'/': '/*'}),
			android: ruledAndroidFile({'/': '/Ab12/*'}),
		},
		{},
		'fail lacks TEAM123456.com.acme.app /*',
		'warn has com.acme.app opens /Ab12/*, which is not configured',
	],
	[
		'more than was asked for',
		{...complete, android: androidFile('com.acme.app', PRINT, 'CD')},
		{isPart: true},
		'ok',
		'ok',
	],
	[
		'redirects',
		{apple: {status: 301, headers: {location: '/x'}}, android: {status: 302, headers: {location: '/y'}}},
		{},
		'fail redirects to /x',
		'fail redirects to /y',
	],
	[
		'a page of something else',
		{...complete, apple: {headers: {'content-type': 'text/html'}, body: '<html>'}},
		{},
		'fail has the content type text/html',
		'ok',
	],
	['text that is not valid JSON', {...complete, android: '{'}, {}, 'ok', 'fail is not valid JSON'],
	[
		'more bytes than Apple reads',
		{...complete, apple: {body: `${' '.repeat(131_073)}{}`}},
		{},
		'fail has 131075 bytes; the limit is 131072',
		'ok',
	],
	[
		'nearly as many bytes',
		{...complete, apple: {body: `${' '.repeat(110_000)}${appleFile('TEAM123456.com.acme.app')}`}},
		{},
		'warn bytes of 131072',
		'ok',
	],
	['no file', {}, {}, 'fail answers with 404', 'fail answers with 404'],
	[
		'no app and no file',
		{},
		{apple: [], android: []},
		'ok no iOS app is configured',
		'ok no Android app is configured',
	],
] as const) {
	test(`association files with ${what} are reported as ${apple.split(' ')[0]} and ${android.split(' ')[0]}`, async (t) => {
		const port = await startLinkHost(t, files as Files);
		const {env} = await serverWith(t, [host(`http://localhost:${port}`, more as Partial<Host>)]);
		const {stdout} = await runCli('doctor --json', {env});
		for (const [check, expected] of [
			['host.apple', apple],
			['host.android', android],
		] as const) {
			const finding = hostFindings(stdout).find((one) => one.check === check);
			const [status = '', ...words] = expected.split(' ');
			t.is(finding?.status, status, finding?.message);
			t.true(finding?.message.includes(words.join(' ')), finding?.message);
		}
	});
}

test('a host without an address is not asked for more', async (t) => {
	const name = `${'x'.repeat(64)}.invalid`;
	const {env} = await serverWith(t, [host(`https://${name}`)]);
	const {stdout} = ends(t, await runCli('doctor --json', {env}), 1);
	const [address, ...others] = hostFindings(stdout);
	t.regex(address?.message ?? '', /^it does not resolve \(/);
	t.is(address?.next, `Set an A, AAAA or CNAME record for ${name} that points to the server`);
	t.deepEqual(others, []);
});

test('an unreachable host is reported once', async (t) => {
	const {env} = await serverWith(t, [host('https://localhost:1')]);
	const {stdout} = await runCli('doctor --json', {env});
	t.deepEqual(
		hostFindings(stdout).map(({check, status}) => [check, status]),
		[
			['host.address', 'ok'],
			['host.certificate', 'fail'],
		],
	);
});

test('a megabyte of an endless file is read', async (t) => {
	const port = await startLinkHost(t, {...complete, android: {body: `["${'x'.repeat(2 * 1024 * 1024)}"]`}});
	const {env} = await serverWith(t, [host(`http://127.0.0.1:${port}`)]);
	const {stdout} = await runCli('doctor --json', {env});
	const found = hostFindings(stdout).find(({check}) => check === 'host.android');
	t.is(found?.status, 'fail');
	t.is(found?.message, '/.well-known/assetlinks.json has more than 1048576 bytes');
});
