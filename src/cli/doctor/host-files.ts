import {APPLE_LIMIT_BYTES} from '../../links/app-config/association-files.ts';
import {androidEntries, appleEntries} from '../../operations/doctor/association-entries.ts';
import type {LinkHost} from '../../operations/doctor/hosts.ts';
import {reasonOf} from '../../operations/doctor/probe.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
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
export const named = (entries: string[]): string => {
	const [first = ''] = entries;
	return entries.length === 1 ? first : `${first} and ${entries.length - 1} more`;
};

const judgeFile = (area: string, host: LinkHost, file: File, {status, headers}: Response, body: Buffer): Finding => {
	const {ok, warn, fail} = findingsOf(area);
	const {check, path, system, limit} = file;
	const name = path.slice(path.lastIndexOf('/') + 1);
	const failed = (message: string, next: string) => fail(check, `${name} ${message}`, next);
	const expected = file.expected(host);
	const bytes = body.length;
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

	const content = parseJson(body.toString());
	if (content === undefined) {
		return failed('is not valid JSON', `Let requests for ${path} through to the server unchanged`);
	}

	const entries = new Set(file.entriesOf(content));
	const missing = expected.filter((entry) => !entries.has(entry));
	if (missing.length > 0) {
		return failed(`lacks ${named(missing)}`, 'Make sure that no proxy caches or changes the file');
	}

	const known = new Set(expected);
	const others = host.isPart ? [] : [...entries].filter((entry) => !known.has(entry));
	if (others.length > 0) {
		return warn(
			check,
			`${name} has ${named(others)}, which is not configured`,
			'Make sure that no proxy caches old files',
		);
	}

	return limit !== null && bytes > limit * 0.8
		? warn(check, `${name} has ${bytes} bytes of ${limit}`, 'Give organizations their own domains')
		: ok(check, `${name} matches the configuration, ${bytes} bytes`);
};

/** The body of an answer, or null if it is longer than any association file. */
export const readBody = async (response: Response): Promise<Buffer | null> => {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of response.body ?? []) {
		bytes += chunk.length;
		if (bytes > MAX_BYTES) {
			return null;
		}

		chunks.push(chunk);
	}

	return Buffer.concat(chunks);
};

/** Requests one of the files as a phone does, and judges it. */
export const checkFile = async (area: string, host: LinkHost, file: File, signal: AbortSignal): Promise<Finding> => {
	try {
		const response = await fetch(`${host.url}${file.path}`, {
			redirect: 'manual',
			// Phones and their services count as fetching it, our checks do not (oplink app status).
			headers: {'user-agent': 'oplink'},
			signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
		});
		const body = await readBody(response);
		if (body === null) {
			return findingsOf(area).fail(
				file.check,
				`${file.path} has more than ${MAX_BYTES} bytes`,
				'Let requests for the host through to the server',
			);
		}

		return judgeFile(area, host, file, response, body);
	} catch (error) {
		return findingsOf(area).fail(
			file.check,
			`${file.path} cannot be fetched: ${reasonOf(error)}`,
			'Let requests for the host through to the server',
		);
	}
};
