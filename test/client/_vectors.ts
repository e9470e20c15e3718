import {readFileSync} from 'node:fs';
import path from 'node:path';
import {packageRoot} from '../../src/platform/package-root.ts';

export type Reply = {status?: number; body?: unknown; text?: string; requestId?: string; fail?: 'connection'};
type Headers = Record<string, string | null>;
/** `headers`: a set of the file by its name, or its own; null: absent. */
type Request = {method: string; url: string; headers: string | Headers; body: unknown};

/** One case of `sdk-vectors.json`, as docs/sdk.md describes it. */
export type Vector = {
	name: string;
	options: Record<string, unknown>;
	call: string;
	// biome-ignore lint/suspicious/noExplicitAny: each call has its own
	args: any;
	replies: Reply[];
	expect: {
		requests: Request[] | number;
		sleeps?: number[];
		result?: unknown;
		error?: Record<string, unknown>;
		updates?: string[];
		links?: unknown[];
		stored?: string | null;
		logged?: boolean;
	};
};

export const vectorsFile = path.join(packageRoot, 'src/client/sdk-vectors.json');

type File = {
	options: Vector['options'];
	headers: Record<string, Headers>;
	cases: Array<Omit<Vector, 'options'> & {options?: Vector['options']}>;
};
const file: File = JSON.parse(readFileSync(vectorsFile, 'utf8'));
export const vectors: Vector[] = file.cases.map((one) => ({...one, options: {...file.options, ...one.options}}));

/** What a client did in a case. */
export type Done = {
	requests: Array<{method: string; url: string; headers: Record<string, string>; body: unknown}>;
	sleeps: number[];
	result: unknown;
	error: Record<string, unknown> | null;
	updates: string[];
	links: unknown[];
	stored: string | null;
	logged: boolean;
};

const isAny = (wanted: unknown): boolean => wanted === '$any' || wanted === '$same';

/** The first difference between a value and what is wanted of it, or null. `$any`: any text; `$sdk`: a version of that client. */
const difference = (given: unknown, wanted: unknown, sdk: RegExp, at: string): string | null => {
	if (isAny(wanted) && typeof given === 'string' && given !== '') {
		return null;
	}

	if (wanted === '$sdk' && sdk.test(String(given))) {
		return null;
	}

	if (typeof wanted !== 'object' || wanted === null || typeof given !== 'object' || given === null) {
		return given === wanted ? null : `${at} is ${JSON.stringify(given)} and not ${JSON.stringify(wanted)}`;
	}

	const names = [...new Set([...Object.keys(given), ...Object.keys(wanted)])];
	const fieldOf = (of: object, name: string): unknown => (of as Record<string, unknown>)[name];
	return (
		names
			.map((name) => difference(fieldOf(given, name), fieldOf(wanted, name), sdk, `${at}.${name}`))
			.find((one) => one !== null) ?? null
	);
};

const headerFault = (given: Record<string, string>, wanted: Headers, at: string): string | null => {
	const lower = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
	const faults = Object.entries(wanted).map(([name, value]) => {
		const sent = lower[name.toLowerCase()] ?? null;
		return sent === value ? null : `${at}: header ${name} is ${sent} and not ${value}`;
	});
	return faults.find((one) => one !== null) ?? null;
};

/** How a client differed from the case, or null. @param language of its `sdkVersion`. */
export const faultOf = ({expect}: Vector, done: Done, language: string): string | null => {
	const sdk = new RegExp(`^oplink-${language}/\\d+\\.\\d+\\.\\d+$`);
	const {requests} = expect;
	const same = Array.isArray(requests) && requests.some(({body}) => JSON.stringify(body).includes('"$same"'));
	const sent = Array.isArray(requests)
		? (requests
				.map((wanted, index) => {
					const {headers = {}, ...given} = done.requests[index] ?? {};
					const {headers: wantedHeaders, ...rest} = wanted;
					const at = `request ${index + 1}`;
					return (
						difference(given, rest, sdk, at) ??
						headerFault(
							headers,
							typeof wantedHeaders === 'string' ? (file.headers[wantedHeaders] ?? {}) : wantedHeaders,
							at,
						)
					);
				})
				.find((one) => one !== null) ??
			difference(done.requests.length, requests.length, sdk, 'the number of requests'))
		: difference(done.requests.length, requests, sdk, 'the number of requests');
	const repeats =
		same && JSON.stringify(done.requests[0]) !== JSON.stringify(done.requests[1]) ? 'the retry differs' : null;
	const {kind, ...fields} = expect.error ?? {};
	const {kind: givenKind, ...givenFields} = done.error ?? {};
	const named = Object.fromEntries(Object.keys(fields).map((name) => [name, givenFields[name]]));
	return (
		sent ??
		repeats ??
		difference(done.sleeps, expect.sleeps ?? [], sdk, 'sleeps') ??
		difference(givenKind ?? null, kind ?? null, sdk, 'the kind of the error') ??
		difference(named, fields, sdk, 'the error') ??
		('result' in expect ? difference(done.result, expect.result, sdk, 'the result') : null) ??
		difference(done.updates, expect.updates ?? [], sdk, 'updates') ??
		('links' in expect ? difference(done.links, expect.links, sdk, 'links') : null) ??
		('stored' in expect ? difference(done.stored, expect.stored, sdk, 'the storage') : null) ??
		difference(done.logged, expect.logged ?? false, sdk, 'logged')
	);
};
