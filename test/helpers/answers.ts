import {appendFileSync} from 'node:fs';
import {join} from 'node:path';

/** An answer of the service, to be compared with the API's document at the end of the run. */
export type RecordedAnswer = {
	method: string;
	path: string;
	status: number;
	/** `X-Error-Code`. */
	errorCode: string | null;
	type: string | null;
	/** `Content-Security-Policy`. */
	policy: string | null;
	/** The body of an answer that is JSON. */
	text: string | null;
};

/** Set by the run (setup/run.ts): a folder, a file in it per process. */
const folder = process.env['TEST_ANSWERS'];

/** Most similar answers stored per process: comparing thousands of them would show nothing new. */
const PER_KIND = 40;
const MAX_LENGTH = 200_000;

const kinds = new Map<string, number>();
const lines: string[] = [];

if (folder !== undefined) {
	process.on('exit', () => appendFileSync(join(folder, `${process.pid}.ndjson`), lines.join('')));
}

const kindOf = (method: string, path: string, status: number): string =>
	`${method} ${status} ${path.split('?', 1)[0]?.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, ':id')}`;

/** Stores an answer for the comparison. An answer without a request id is not the service's. */
export const recordAnswer = (
	{method, path}: {method: string; path: string},
	answer: {status: number; headers: Record<string, string | string[] | undefined>; text: string},
): void => {
	if (folder === undefined || answer.headers['x-request-id'] === undefined || answer.text.length > MAX_LENGTH) {
		return;
	}

	const kind = kindOf(method, path, answer.status);
	const count = (kinds.get(kind) ?? 0) + 1;
	kinds.set(kind, count);
	if (count > PER_KIND) {
		return;
	}

	const type = String(answer.headers['content-type'] ?? '').split(';', 1)[0] || null;
	const recorded: RecordedAnswer = {
		method,
		path,
		status: answer.status,
		errorCode: answer.headers['x-error-code']?.toString() ?? null,
		type,
		policy: answer.headers['content-security-policy']?.toString() ?? null,
		text: type === 'application/json' ? answer.text : null,
	};
	lines.push(`${JSON.stringify(recorded)}\n`);
};
