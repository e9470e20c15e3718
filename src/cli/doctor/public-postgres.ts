import {embeddedVersionIn, UPDATE} from '../../operations/doctor/embedded-age.ts';
import {reasonOf} from '../../operations/doctor/probe.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import {fieldsOf, parseJson} from '../../platform/http/untrusted-json.ts';
import {readBody} from './host-files.ts';

const {ok, warn} = findingsOf('Database');
const CHECK = 'public.postgres';
const TIMEOUT_MS = 10_000;

/** The newest minor release of a major version, in PostgreSQL's own list; null if it has none. */
const newestMinor = async (url: string, major: string, signal: AbortSignal): Promise<number | null> => {
	const response = await fetch(url, {signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])});
	const body = await readBody(response);
	const list: unknown = response.ok ? parseJson(body?.toString() ?? '') : null;
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
