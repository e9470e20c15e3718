import test from 'ava';
import {examineHost, examinePublicUrl, judgeCertificate} from '../../src/cli/doctor/examine-host.ts';
import type {LinkHost} from '../../src/operations/doctor/hosts.ts';
import type {Finding} from '../../src/operations/finding.ts';
import {packageVersion} from '../../src/platform/package-root.ts';
import {createFakeClock} from '../helpers/service.ts';
import {androidFile, appleFile, authorityFile, type Files, startLinkHost} from './_link-host.ts';
import {startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';
import {finish, start} from './_spawn-cli.ts';

const PRINT = Array.from({length: 32}, () => 'AB').join(':');
const APP = 'TEAM123456.com.acme.app';

const hostAt = (url: string, more: Partial<LinkHost> = {}): LinkHost => ({
	url,
	orgKey: 'Ab12',
	isPart: false,
	apple: [`${APP} /*`],
	android: [`com.acme.app ${PRINT}`],
	...more,
});

/** The findings of a host, asked as a phone would. */
const examine = (url: string, more: Partial<LinkHost> = {}): Promise<Finding[]> =>
	examineHost(hostAt(url, more), {signal: new AbortController().signal, clock: createFakeClock()});

const complete: Files = {apple: appleFile(APP), android: androidFile('com.acme.app', PRINT)};

test('a host with an address, a certificate and both files is fine, and each certificate fault is reported', async (t) => {
	const [good, expired] = await Promise.all([
		startLinkHost(t, complete, 'localhost'),
		startLinkHost(t, complete, 'expired'),
	]);
	const urls = [`https://localhost:${good}`, `https://127.0.0.1:${good}`, `https://localhost:${expired}`];
	const hosts = urls.map((url) => hostAt(url));
	// A server that is well itself, with these hosts of links.
	const {env} = await startRecordingServer(t, {
		'GET /health/ready': {body: {status: 'ok', checks: {}}},
		'GET /admin/doctor': {body: {version: packageVersion(), status: 'ok', findings: [], hosts}},
	});
	const {stdout} = ends(t, await finish(start(t, 'doctor --json', {...env, NODE_EXTRA_CA_CERTS: authorityFile})), 1, {
		stderr: '',
	});
	const {findings} = JSON.parse(stdout) as {findings: Finding[]};
	const [well, misnamed, late] = urls.map((url) =>
		findings
			.filter(({area}) => area === `Domain ${new URL(url).host} of Ab12`)
			.map(({check, status, message}) => [check, status, message]),
	);
	t.like(well, [
		['host.address', 'ok'],
		['host.certificate', 'ok'],
		['host.apple', 'ok'],
		['host.android', 'ok'],
	]);
	t.deepEqual(misnamed?.at(-1), ['host.certificate', 'fail', 'its certificate is for localhost']);
	t.deepEqual(late?.at(-1), ['host.certificate', 'fail', 'its certificate expired on 2020-03-01']);
});

test('a certificate of an untrusted authority is a failure', async (t) => {
	const port = await startLinkHost(t, complete, 'localhost');
	t.like((await examine(`https://localhost:${port}`))[1], {
		status: 'fail',
		message: 'no known authority issued its certificate',
		next: 'Serve the intermediate certificates with it',
	});
});

const shown = (from: string, to: string, fault: string | null = null) => ({
	certificate: {valid_from: `${from} GMT`, valid_to: `${to} GMT`, subjectaltname: 'DNS:a.example, DNS:*.b.example'},
	fault,
});
const valid = (fault: string) => shown('Jan 1 2026', 'Apr 1 2026', fault);
const NOW = new Date('2026-03-10T12:00:00.000Z');

for (const [what, given, status, message] of [
	['a long time', shown('Jan 1 2026', 'Apr 1 2026'), 'ok', 'valid until 2026-04-01, for 21 days'],
	['a few days', shown('Dec 20 2025', 'Mar 20 2026'), 'warn', 'valid until 2026-03-20, for 9 days'],
	['a few days of few', shown('Mar 9 2026', 'Mar 16 2026'), 'ok', 'valid until 2026-03-16, for 5 days'],
	['other names', valid('ERR_TLS_CERT_ALTNAME_INVALID'), 'fail', 'is for a.example, *.b.example'],
	['itself as authority', valid('DEPTH_ZERO_SELF_SIGNED_CERT'), 'fail', 'is self-signed'],
	[
		'a beginning to come',
		shown('Apr 1 2026', 'May 1 2026', 'CERT_NOT_YET_VALID'),
		'fail',
		'is not valid before 2026-04-01',
	],
	['something else', valid('CERT_REVOKED'), 'fail', 'is not valid (CERT_REVOKED)'],
] as const) {
	test(`a certificate with ${what} is ${status}`, (t) => {
		const finding = judgeCertificate('x', 'c.example', given, NOW);
		t.is(finding.status, status);
		t.true(finding.message.endsWith(message), finding.message);
		t.is(finding.next === null, status === 'ok');
	});
}

const ruledApple = (...components: object[]): string =>
	JSON.stringify({applinks: {details: [{appIDs: [APP], components}]}});
const ruledAndroid = (...components: object[]): string => {
	const [statement] = JSON.parse(androidFile('com.acme.app', PRINT));
	const rules = {dynamic_app_link_components: components};
	return JSON.stringify([{...statement, relation_extensions: {'delegate_permission/common.handle_all_urls': rules}}]);
};
const [notHelp, all, allOfAndroid] = [{'/': '/help/*', exclude: true}, {'/': '/*'}, {'/': '*'}];
const exceptHelp = {
	apple: [`${APP} /* except /help/*`],
	android: [`com.acme.app ${PRINT}`, 'com.acme.app opens * except /help/*'],
};
const moreAndroid = androidFile('com.acme.app', PRINT, 'CD');
const spaces = (bytes: number): string => ' '.repeat(bytes);

for (const [file, what, answer, expected, more = {}] of [
	['apple', 'other apps than are configured', appleFile('TEAM123456.com.other'), `fail lacks ${APP} /*`],
	['android', 'more than is configured', moreAndroid, 'warn has com.acme.app CD, which is not configured'],
	['android', 'more than was asked for', moreAndroid, 'ok', {isPart: true}],
	['apple', 'rules for paths', ruledApple(notHelp, all), 'ok', {apple: exceptHelp.apple}],
	['android', 'rules for paths', ruledAndroid(notHelp, allOfAndroid), 'ok', {android: exceptHelp.android}],
	[
		'apple',
		'rules in another order',
		ruledApple(all, notHelp),
		`fail lacks ${APP} /* except /help/*`,
		{apple: exceptHelp.apple},
	],
	[
		'android',
		'rules in another order',
		ruledAndroid(allOfAndroid, notHelp),
		'fail lacks com.acme.app opens * except /help/*',
		{android: exceptHelp.android},
	],
	['apple', 'rules that nobody asked for', ruledApple(notHelp, all), `fail lacks ${APP} /*`],
	[
		'android',
		'rules that nobody asked for',
		ruledAndroid({'/': '/Ab12/*'}),
		'warn has com.acme.app opens /Ab12/*, which is not configured',
	],
	['apple', 'a redirect', {status: 301, headers: {location: '/x'}}, 'fail redirects to /x'],
	['android', 'a redirect', {status: 302, headers: {location: '/y'}}, 'fail redirects to /y'],
	['apple', 'a page', {headers: {'content-type': 'text/html'}, body: '<html>'}, 'fail has the content type text/html'],
	['android', 'text that is not valid JSON', '{', 'fail is not valid JSON'],
	['apple', 'too many bytes for Apple', `${spaces(131_073)}{}`, 'fail has 131075 bytes; the limit is 131072'],
	['apple', 'nearly as many bytes', `${spaces(110_000)}${complete.apple}`, 'warn bytes of 131072'],
	['android', 'no end', `["${'x'.repeat(2 ** 21)}"]`, 'fail has more than 1048576 bytes'],
	['apple', 'nothing', {status: 404}, 'fail answers with 404'],
	['android', 'nothing', {status: 404}, 'fail answers with 404'],
	['apple', 'nothing, as expected', {status: 404}, 'ok no iOS app is configured', {apple: []}],
	['android', 'nothing, as expected', {status: 404}, 'ok no Android app is configured', {android: []}],
] satisfies Array<['apple' | 'android', string, Files['apple'], string, Partial<LinkHost>?]>) {
	test(`the ${file} file with ${what} is ${expected.split(' ')[0]}, and the other file fine`, async (t) => {
		const port = await startLinkHost(t, {...complete, [file]: answer});
		const findings = await examine(`http://localhost:${port}`, more);
		const ofFile = (name: string) => findings.find(({check}) => check === `host.${name}`);
		const [status = '', ...words] = expected.split(' ');
		t.is(ofFile(file)?.status, status as Finding['status'], ofFile(file)?.message);
		t.true(ofFile(file)?.message.includes(words.join(' ')), ofFile(file)?.message);
		t.is(ofFile(file === 'apple' ? 'android' : 'apple')?.status, 'ok');
	});
}

test('a host without an address is not asked for more', async (t) => {
	const name = `${'x'.repeat(64)}.invalid`;
	const [address, ...others] = await examine(`https://${name}`);
	t.regex(address?.message ?? '', /^it does not resolve \(/);
	t.is(address?.next, `Set an A, AAAA or CNAME record for ${name} that points to the server`);
	t.deepEqual(others, []);
});

test('PUBLIC_URL is examined by its name, its certificate and its answer', async (t) => {
	const {url: api} = await startRecordingServer(t, {
		'GET /health/ready': {status: 503, body: {status: 'unavailable', checks: {database: 'unavailable'}}},
	});
	const [page, expired] = await Promise.all([startLinkHost(t, complete), startLinkHost(t, complete, 'expired')]);
	for (const [url, from, expected] of [
		[api, api, ['host.address ok', 'public.answer ok']],
		[api, 'https://api.example.com', ['public.address warn']],
		[`http://localhost:${page}`, api, ['host.address ok', 'public.answer fail']],
		['http://localhost:1', api, ['host.address ok', 'public.answer fail']],
		[`https://localhost:${expired}`, api, ['host.address ok', 'host.certificate fail']],
		['http://0.0.0.0:1', api, ['host.address ok', 'public.https warn', 'public.answer fail']],
		[`https://${'x'.repeat(64)}.invalid`, api, ['host.address fail']],
	] as const) {
		const found = await examinePublicUrl(url, {from, signal: new AbortController().signal, clock: createFakeClock()});
		const seen = found.map(({check, status}) => `${check} ${status}`);
		t.deepEqual(seen, [...expected], url);
		t.true(found.every(({area}) => area === `PUBLIC_URL ${url}`));
	}
});

test('an unreachable host is reported once', async (t) => {
	const found = (await examine('https://localhost:1')).map(({check, status}) => [check, status]);
	t.deepEqual(found, [
		['host.address', 'ok'],
		['host.certificate', 'fail'],
	]);
});
