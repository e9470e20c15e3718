import {APPLE_LIMIT_BYTES} from '../../links/app-config/association-files.ts';
import {androidEntries, appleEntries} from '../../operations/doctor/association-entries.ts';
import type {LinkHost} from '../../operations/doctor/hosts.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import {fetchBounded, reasonOf} from '../../platform/http/fetch-bounded.ts';
import {parseJson} from '../../platform/http/untrusted-json.ts';

const TIMEOUT_MS = 10_000;
/** Reading stops here, because a tenant's domain may lead to an endless answer. */
const MAX_BYTES = 1024 * 1024;

type File = {
	check: 'host.apple' | 'host.android';
	path: string;
	system: 'iOS' | 'Android';
	limit: number | null;
	entriesOf: (file: unknown) => string[];
	expected: (host: LinkHost) => string[];
};

export const associationFiles: readonly File[] = [
	{
		check: 'host.apple',
		path: '/.well-known/apple-app-site-association',
		system: 'iOS',
		limit: APPLE_LIMIT_BYTES,
		entriesOf: appleEntries,
		expected: ({apple}) => apple,
	},
	{
		check: 'host.android',
		path: '/.well-known/assetlinks.json',
		system: 'Android',
		limit: null,
		entriesOf: androidEntries,
		expected: ({android}) => android,
	},
];

/** Entries in few words. */
export const summaryOf = (entries: string[]): string => {
	const [first = ''] = entries;
	return entries.length === 1 ? first : `${first} and ${entries.length - 1} more`;
};

type Answer = Awaited<ReturnType<typeof ask>>;

const judgeFile = (area: string, host: LinkHost, file: File, {status, headers, body, bytes}: Answer): Finding => {
	const {ok, warn, fail} = findingsOf(area);
	const {check, path, system, limit} = file;
	const name = path.slice(path.lastIndexOf('/') + 1);
	const failed = (message: string, next: string) => fail(check, `${name} ${message}`, next);
	const expected = file.expected(host);
	if (status === 404 && expected.length === 0) {
		return ok(check, `no ${system} app is configured, so there is no ${name}`);
	}

	if (status >= 300 && status < 400) {
		return failed(
			`redirects to ${headers.get('location')}`,
			`Serve ${path} at the host itself: phones do not follow redirects`,
		);
	}

	if (status !== 200) {
		return failed(`answers with ${status}`, `Let requests for ${path} through to the server unchanged`);
	}

	const type = headers.get('content-type');
	if (!/^application\/json\s*(?:;|$)/i.test(type ?? '')) {
		return failed(`has the content type ${type}`, 'Serve it as application/json');
	}

	if (limit !== null && bytes > limit) {
		return failed(`has ${bytes} bytes; the limit is ${limit}`, 'Give organizations their own domains');
	}

	const content = parseJson(body);
	if (content === undefined) {
		return failed('is not valid JSON', `Let requests for ${path} through to the server unchanged`);
	}

	const entries = new Set(file.entriesOf(content));
	const missing = expected.filter((entry) => !entries.has(entry));
	if (missing.length > 0) {
		return failed(`lacks ${summaryOf(missing)}`, 'Make sure that no proxy caches or changes the file');
	}

	const known = new Set(expected);
	const others = host.isPart ? [] : [...entries].filter((entry) => !known.has(entry));
	if (others.length > 0) {
		return warn(
			check,
			`${name} has ${summaryOf(others)}, which is not configured`,
			'Make sure that no proxy caches old files',
		);
	}

	return limit !== null && bytes > limit * 0.8
		? warn(check, `${name} has ${bytes} bytes of ${limit}`, 'Give organizations their own domains')
		: ok(check, `${name} matches the configuration, ${bytes} bytes`);
};

/** The answer of a server elsewhere: it comes in time, and is no longer than any association file. */
export const ask = async (url: string, signal: AbortSignal, init: RequestInit = {}) => {
	const ends = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
	const response = await fetchBounded(url, {...init, signal: ends}, MAX_BYTES);
	const {status, headers} = response;
	const body = Buffer.from(await response.arrayBuffer());
	return {status, headers, body: body.toString(), bytes: body.length};
};

/** Requests one of the files as a phone does, and judges it. */
export const checkFile = async (area: string, host: LinkHost, file: File, signal: AbortSignal): Promise<Finding> => {
	try {
		// Phones and their services count as fetching it, our checks do not (oplink app status).
		const init = {redirect: 'manual', headers: {'user-agent': 'oplink'}} as const;
		return judgeFile(area, host, file, await ask(`${host.url}${file.path}`, signal, init));
	} catch (error) {
		return findingsOf(area).fail(
			file.check,
			`${file.path} cannot be fetched: ${reasonOf(error)}`,
			'Let requests for the host through to the server',
		);
	}
};
