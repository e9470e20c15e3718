import test, {type ExecutionContext} from 'ava';
import {packageVersion} from '../../src/platform/package-root.ts';
import {appleFile} from './_link-host.ts';
import {closedAddress, type Responder, startRecordingServer} from './_recording-server.ts';
import {ends, runCli} from './_run-cli.ts';

type Finding = {area: string; check: string; status: string; message: string; next: string | null};

const PRINT = Array.from({length: 32}, () => 'AB').join(':');
const APP = 'TEAM123456.com.acme.app';

/** A name that resolves nowhere: the findings of the host itself end there. */
const HOST = 'go.acme.invalid';
const host = {
	url: `https://${HOST}`,
	orgKey: 'Ab12',
	isPart: false,
	apple: [`${APP} /*`],
	android: [`com.acme.app ${PRINT}`, 'com.acme.app opens /*'],
};

/** Answers of Apple's CDN for a host without a file, as it gives them. */
const appleFailure =
	(reason: string, details: object, more: Record<string, string> = {}): Responder =>
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

const linked: Responder = () => ({body: {linked: true, maxAge: '3599.999999s', debugString: '********'}});

const goodApple: Responder = () => ({body: JSON.parse(appleFile(APP))});

/** The report of `doctor` on a host, with fakes of Apple's CDN and Google's verifier. */
const examine = async (
	t: ExecutionContext,
	{apple = goodApple, google = linked, hosts = [host] as object[], options = ['--public'], env = {}} = {},
) => {
	const [server, caches] = await Promise.all([
		startRecordingServer(t, {
			'GET /health/ready': () => ({body: {status: 'ok', checks: {}}}),
			'GET /admin/doctor': () => ({body: {version: packageVersion(), status: 'ok', findings: [], hosts}}),
		}),
		startRecordingServer(t, {[`GET /a/v1/${HOST}`]: apple, 'GET /v1/assetlinks:check': google}),
	]);
	const result = await runCli(['doctor', ...options, '--json'], {
		env: {...server.env, APPLE_CDN_URL: caches.url, GOOGLE_VERIFIER_URL: `${caches.url}/`, ...env},
	});
	const findings = result.stdout === '' ? [] : (JSON.parse(result.stdout).findings as Finding[]);
	return {
		...result,
		requests: caches.requests,
		found: findings.filter(({check}) => check.startsWith('public.')),
	};
};

test('Apple and Google are asked only with --public, for what phones ask them', async (t) => {
	const {requests: none, found: nothing} = await examine(t, {options: []});
	t.deepEqual([none, nothing], [[], []]);
	const {requests, found} = await examine(t);
	t.deepEqual(
		found.map(({area, check, status, message}) => [area, check, status, message]),
		[
			['Domain go.acme.invalid of Ab12', 'public.apple', 'ok', "Apple's CDN has the configured apps"],
			[
				'Domain go.acme.invalid of Ab12',
				'public.google',
				'ok',
				"Google's verifier links com.acme.app with AB:AB:AB:AB…",
			],
		],
	);
	const google = new URL(requests.find(({url}) => url.startsWith('/v1'))?.url ?? '', 'http://x');
	t.deepEqual(Object.fromEntries(google.searchParams), {
		'source.web.site': `https://${HOST}`,
		relation: 'delegate_permission/common.handle_all_urls',
		'target.android_app.package_name': 'com.acme.app',
		'target.android_app.certificate.sha256_fingerprint': PRINT,
	});
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
		const {found} = ends(t, await examine(t, {apple: appleFailure(reason, details)}), 1);
		t.is(found[0]?.status, 'fail');
		t.regex(found[0]?.message ?? '', message);
		t.regex(found[0]?.next ?? '', next);
	});
}

test('a host that phones may ask themselves, an older file and another answer are reported', async (t) => {
	const direct = await examine(t, {
		apple: appleFailure(
			'SWCERR00301 Timeout',
			{},
			{'apple-try-direct': 'true', 'cache-control': 'max-age=1800,public'},
		),
	});
	t.is(
		direct.found[0]?.message,
		"Apple's CDN has no file: SWCERR00301 Timeout; Apple keeps this answer for 30 minutes; phones may ask the host itself",
	);
	const older = await examine(t, {apple: () => ({body: JSON.parse(appleFile('TEAM123456.com.old'))})});
	t.is(older.found[0]?.status, 'warn');
	t.is(older.found[0]?.message, `Apple's CDN has an older file, which lacks ${APP} /*`);
	const strange = await examine(t, {apple: () => ({status: 500})});
	t.is(strange.found[0]?.message, "Apple's CDN answers with 500");
	const none = await examine(t, {
		apple: appleFailure('SWCERR00101 Bad HTTP Response: 404 Not Found', {}),
		hosts: [{...host, apple: [], android: []}],
	});
	t.deepEqual(
		none.found.map(({status, message}) => [status, message]),
		[['ok', "no iOS app is configured, and Apple's CDN has no file"]],
	);
});

for (const [answer, message, next] of [
	[{linked: false}, /does not link com\.acme\.app with AB:AB:AB:AB…$/, /compare package and fingerprint/],
	[{errorCode: ['ERROR_CODE_REDIRECT']}, /ERROR_CODE_REDIRECT$/, /follows no redirect/],
	[{errorCode: ['ERROR_CODE_WRONG_CONTENT_TYPE']}, /WRONG_CONTENT_TYPE$/, /application\/json/],
	[{linked: false, errorCode: ['ERROR_CODE_NEW']}, /ERROR_CODE_NEW$/, /compare package and fingerprint/],
] as const) {
	test(`Google's answer ${JSON.stringify(answer)} is translated`, async (t) => {
		const {found} = ends(t, await examine(t, {google: () => ({body: answer})}), 1);
		t.is(found[1]?.status, 'fail');
		t.regex(found[1]?.message ?? '', message);
		t.regex(found[1]?.next ?? '', next);
	});
}

test('a service that cannot be asked is a warning, and many apps are asked for in part', async (t) => {
	const android = Array.from({length: 12}, (_, index) => `com.acme.app${index} ${PRINT}`);
	const {found, requests} = await examine(t, {hosts: [{...host, android}], env: {APPLE_CDN_URL: closedAddress}});
	t.is(found[0]?.status, 'warn');
	t.regex(found[0]?.message ?? '', /^Apple's CDN cannot be asked: connect ECONNREFUSED/);
	t.is(requests.length, 10);
	t.is(found.at(-1)?.message, "Google's verifier was asked for 10 of 12 fingerprints");
});

test('hosts that nobody reaches from outside are not asked for', async (t) => {
	const {requests} = await examine(t, {
		hosts: ['http://go.acme.invalid', 'https://go.acme.invalid:8443', 'https://localhost'].map((url) => ({
			...host,
			url,
		})),
	});
	t.deepEqual(requests, []);
});

test('a malformed address ends with 2', async (t) => {
	ends(t, await examine(t, {env: {GOOGLE_VERIFIER_URL: 'nowhere'}}), 2, {stderr: /GOOGLE_VERIFIER_URL must be a URL/});
});
