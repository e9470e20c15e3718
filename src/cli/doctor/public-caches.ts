import {RELATION} from '../../links/app-config/association-files.ts';
import {appleEntries} from '../../operations/doctor/association-entries.ts';
import {embeddedVersionIn, UPDATE} from '../../operations/doctor/embedded-age.ts';
import type {LinkHost} from '../../operations/doctor/hosts.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import {type Environment, readVariables, textOf, type ValuesOf} from '../../platform/config/variable.ts';
import {variables} from '../../platform/config/variables.ts';
import {reasonOf} from '../../platform/http/fetch-bounded.ts';
import {fieldsOf, parseJson} from '../../platform/http/untrusted-json.ts';
import {counted} from '../../platform/text.ts';
import {usageError} from '../cli-errors.ts';
import {isLoopback} from '../server/left-in-data-dir.ts';
import {areaOf} from './examine-host.ts';
import {ask, summaryOf} from './host-files.ts';

/** Base URLs of the services that phones ask instead of a host. */
type PublicCaches = ValuesOf<typeof variables.publicCaches>;

const APPLE_PATH = '/.well-known/apple-app-site-association';
/** Apps asked for per host; the shared domain may have thousands. */
const MAX_APPS = 10;
const APP = /^(\S+) ((?:[0-9A-F]{2}:){31}[0-9A-F]{2})$/i;

/** @throws OperatorError for an invalid variable. */
export const publicCachesOf = (env: Environment): PublicCaches => {
	const faults: string[] = [];
	const caches = readVariables(variables.publicCaches, (name) => textOf(env, name), faults);
	const [fault] = faults;
	if (fault !== undefined) {
		throw usageError(fault, 'oplink config lists the variables');
	}

	return caches;
};

/** Remedies by the words of `Apple-Failure-Reason`: Apple publishes no list of its codes. */
const appleRemedies: ReadonlyArray<[reason: RegExp, next: string]> = [
	[/\b(?:401|403|429)\b/, `Let Apple's AASA-Bot request ${APPLE_PATH}: a firewall or a bot filter refuses it`],
	[/\b404\b/, `Let requests for ${APPLE_PATH} through to the server; an app must be configured there`],
	[/\b3\d\d\b|redirect/i, `Serve ${APPLE_PATH} at the host itself: Apple follows no redirect`],
	[/\b5\d\d\b/, 'Make sure that the server and the proxy in front of it answer; see their logs'],
	[/SWCERR00202|private|reserved/i, 'Publish a public address of the host in DNS: Apple asks no private one'],
	[/time ?out|deadline/i, "Let Apple's addresses reach port 443, over IPv4 and IPv6; a firewall may drop them"],
	[
		/tls|ssl|x509|certificate|handshake/i,
		'Serve a certificate of a known authority, with its intermediate certificates',
	],
	[/dns|no such host|lookup|resolve/i, 'Set an A, AAAA or CNAME record that resolves everywhere'],
	[/json|format|parse|content|size|large/i, `Serve ${APPLE_PATH} unchanged: JSON, at most 128 KiB`],
];

/** When Apple looks again, by the age of a stored failure. */
const retryText = (headers: Headers): string => {
	const [, seconds] = /max-age=(\d+)/.exec(headers.get('cache-control') ?? '') ?? [];
	return seconds === undefined
		? ''
		: `; Apple keeps this answer for ${counted(Math.ceil(Number(seconds) / 60), 'minute')}`;
};

const askApple = async (area: string, host: LinkHost, base: string, signal: AbortSignal): Promise<Finding> => {
	const {ok, warn, fail} = findingsOf(area);
	const check = 'public.apple';
	const url = `${base}/a/v1/${new URL(host.url).hostname}`;
	const {status, headers, body} = await ask(url, signal, {redirect: 'error'});
	if (status === 404 && host.apple.length === 0) {
		return ok(check, "no iOS app is configured, and Apple's CDN has no file");
	}

	const reason = headers.get('apple-failure-reason');
	if (status !== 200) {
		const details = headers.get('apple-failure-details');
		const [, next = `Compare with what doctor says about ${APPLE_PATH} above`] =
			appleRemedies.find(([pattern]) => pattern.test(`${reason} ${details}`)) ?? [];
		const direct = headers.get('apple-try-direct') === 'true' ? '; phones may ask the host itself' : '';
		return fail(
			check,
			reason === null
				? `Apple's CDN answers with ${status}`
				: `Apple's CDN has no file: ${reason}${retryText(headers)}${direct}`,
			reason === null ? 'Try again later; check APPLE_CDN_URL' : next,
		);
	}

	const entries = new Set(appleEntries(parseJson(body)));
	const missing = host.apple.filter((entry) => !entries.has(entry));
	return missing.length > 0
		? warn(
				check,
				`Apple's CDN has an older file, which lacks ${summaryOf(missing)}`,
				'Wait up to a day; until then use ?mode=developer in development builds',
			)
		: ok(check, "Apple's CDN has the configured apps");
};

/** Remedies by the `errorCode` of Google's verifier. */
const googleRemedies: Readonly<Record<string, string>> = {
	ERROR_CODE_FETCH_ERROR: 'Let Google reach /.well-known/assetlinks.json on port 443; a firewall may refuse it',
	ERROR_CODE_FAILED_SSL_VALIDATION: 'Serve a certificate of a known authority, with its intermediate certificates',
	ERROR_CODE_REDIRECT: 'Serve /.well-known/assetlinks.json at the host itself: Google follows no redirect',
	ERROR_CODE_TOO_LARGE: 'Give organizations their own domains: the file is too large',
	ERROR_CODE_MALFORMED_HTTP_RESPONSE: 'Let requests for /.well-known/assetlinks.json through to the server unchanged',
	ERROR_CODE_WRONG_CONTENT_TYPE: 'Serve /.well-known/assetlinks.json as application/json',
	ERROR_CODE_MALFORMED_CONTENT: 'Let requests for /.well-known/assetlinks.json through to the server unchanged',
	ERROR_CODE_SECURE_ASSET_INCLUDES_INSECURE: 'Serve /.well-known/assetlinks.json unchanged: it includes no other file',
	ERROR_CODE_FETCH_BUDGET_EXHAUSTED: 'Try again later: Google has fetched too many files for this request',
};

const askGoogle = async (
	area: string,
	host: LinkHost,
	{base, signal, app}: {base: string; signal: AbortSignal; app: string},
): Promise<Finding> => {
	const {ok, fail} = findingsOf(area);
	const check = 'public.google';
	const [, name = '', fingerprint = ''] = APP.exec(app) ?? [];
	const query = new URLSearchParams({
		'source.web.site': `https://${new URL(host.url).hostname}`,
		relation: RELATION,
		'target.android_app.package_name': name,
		'target.android_app.certificate.sha256_fingerprint': fingerprint,
	});
	const {status, body} = await ask(`${base}/v1/assetlinks:check?${query}`, signal, {redirect: 'error'});
	const {linked, errorCode} = fieldsOf(parseJson(body));
	if (status !== 200) {
		return fail(check, `Google's verifier answers with ${status}`, 'Try again later; check GOOGLE_VERIFIER_URL');
	}

	if (linked === true) {
		return ok(check, `Google's verifier links ${name} with ${fingerprint.slice(0, 11)}…`);
	}

	const [code = null] = [errorCode].flat().filter((one) => typeof one === 'string');
	return fail(
		check,
		`Google's verifier does not link ${name} with ${fingerprint.slice(0, 11)}…${code === null ? '' : `: ${code}`}`,
		(code !== null && googleRemedies[code]) ||
			'Wait some minutes if the app is new: Google keeps the file; then compare package and fingerprint',
	);
};

/**
 * Asks Apple's CDN for the file of a host, and Google's verifier for its apps: phones ask both instead of the host.
 * Hosts that cannot be reached from outside are left out.
 */
export const askPublicCaches = async (
	host: LinkHost,
	{apple, google}: Pick<PublicCaches, 'apple' | 'google'>,
	signal: AbortSignal,
): Promise<Finding[]> => {
	const area = areaOf(host);
	const {warn} = findingsOf(area);
	const {protocol, port} = new URL(host.url);
	if (protocol !== 'https:' || port !== '' || isLoopback(host.url)) {
		return [];
	}

	const orUnreachable = async (check: string, whose: string, asked: Promise<Finding>): Promise<Finding> => {
		try {
			return await asked;
		} catch (error) {
			signal.throwIfAborted();
			return warn(
				check,
				`${whose} cannot be asked: ${reasonOf(error)}`,
				'Check the access of this machine to the internet',
			);
		}
	};
	const apps = host.android.filter((entry) => APP.test(entry));
	const asked = [
		orUnreachable('public.apple', "Apple's CDN", askApple(area, host, apple, signal)),
		...apps
			.slice(0, MAX_APPS)
			.map((app) =>
				orUnreachable('public.google', "Google's verifier", askGoogle(area, host, {base: google, signal, app})),
			),
	];
	return [
		...(await Promise.all(asked)),
		...(apps.length > MAX_APPS
			? [
					warn(
						'public.google',
						`Google's verifier was asked for ${MAX_APPS} of ${apps.length} fingerprints`,
						'Name organizations: oplink doctor Ab12 --public',
					),
				]
			: []),
	];
};

/** The newest minor release of a major version, in PostgreSQL's own list; null if it has none. */
const newestMinor = async (url: string, major: string, signal: AbortSignal): Promise<number | null> => {
	const {status, body} = await ask(url, signal);
	const list: unknown = status === 200 ? parseJson(body) : null;
	const entry = (Array.isArray(list) ? list : []).map(fieldsOf).find((one) => String(one.major) === major);
	const minor = Number.parseInt(String(entry?.latestMinor), 10);
	return Number.isNaN(minor) ? null : minor;
};

/** Compares the embedded PostgreSQL that a server reports with the releases that PostgreSQL publishes. */
export const askForNewerPostgres = async (
	findings: readonly Finding[],
	url: string,
	signal: AbortSignal,
): Promise<Finding[]> => {
	const embedded = embeddedVersionIn(findings);
	if (embedded === null) {
		return [];
	}

	const CHECK = 'public.postgres';
	const {ok, warn} = findingsOf('Database');
	const {major, minor, version} = embedded;
	try {
		const newest = await newestMinor(url, major, signal);
		if (newest === null) {
			return [warn(CHECK, `${url} does not name the newest PostgreSQL ${major}`, 'Check POSTGRES_VERSIONS_URL')];
		}

		return newest > minor
			? [warn(CHECK, `the embedded PostgreSQL ${version} is behind ${major}.${newest}, which has its fixes`, UPDATE)]
			: [ok(CHECK, `the embedded PostgreSQL ${version} is the newest of its kind`)];
	} catch (error) {
		signal.throwIfAborted();
		return [
			warn(CHECK, `${url} cannot be asked: ${reasonOf(error)}`, 'Check the access of this machine to the internet'),
		];
	}
};
