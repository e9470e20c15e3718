import {type ClientRequest, type Agent as HttpAgent, request as httpRequest, type IncomingMessage} from 'node:http';
import {request as httpsRequest} from 'node:https';
import {createRequire} from 'node:module';
import type {LookupFunction} from 'node:net';
import {packageVersion} from '../../platform/package-root.ts';
import {type AddressRules, requireWebhookUrl, resolveSafely} from './safe-address.ts';

const require = createRequire(import.meta.url);

/** What is sent: `id` is the same for every try. */
type Outgoing = {
	id: string;
	type: string;
	body: string;
	url: string;
	/** The endpoint's secret, and the one before while both sign. */
	secrets: readonly string[];
};

/** What came of one try. `status` null: no answer came, and `error` says why. */
export type Try = {
	at: Date;
	status: number | null;
	durationMs: number;
	error: string | null;
	/** The first KB of the answer. */
	answer: string | null;
	/** Seconds that the endpoint asks to wait. */
	retryAfter: number | null;
};

const MOST_READ = 64 * 1024;
const KEPT = 1024;

type Senders = {http: HttpAgent; https: HttpAgent};

/** `Retry-After` in seconds: a number, or a time (RFC 9110, 10.2.3). */
const retryAfterOf = (value: string | undefined, now: Date): number | null => {
	if (value === undefined) {
		return null;
	}

	const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - now.getTime()) / 1000;
	return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
};

/** PostgreSQL stores no NUL. */
const printable = (bytes: Buffer): string => bytes.subarray(0, KEPT).toString('utf8').replaceAll('\0', '');

/** Reads an answer up to 64 KB; what is left is not read. */
const readAnswer = async (response: IncomingMessage): Promise<string> => {
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of response) {
		chunks.push(chunk as Buffer);
		length += (chunk as Buffer).length;
		if (length >= MOST_READ) {
			break;
		}
	}

	return printable(Buffer.concat(chunks));
};

/** The headers of Standard Webhooks 1.0. */
const signedHeaders = ({id, body, secrets}: Outgoing, now: Date): Record<string, string> => {
	if (secrets.length === 0) {
		throw new Error('the secret was encrypted with a different OPLINK_KEY_SECRET; nothing is sent unsigned');
	}

	// Loaded on first use: most installations send nothing.
	const {Webhook} = require('svix') as typeof import('svix');
	return {
		'webhook-id': id,
		'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
		'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
	};
};

const ask = (url: URL, headers: Record<string, string>, {body}: Outgoing, given: Given): Promise<IncomingMessage> =>
	new Promise((resolve, reject) => {
		const {rules, senders, signal} = given;
		const isSecure = url.protocol === 'https:';
		// Asked for each new connection, which goes to an address that was checked (contract/webhooks 6).
		const lookup: LookupFunction = (_, options, done) => {
			resolveSafely(url, rules).then(
				(found) => (options.all ? done(null, found) : done(null, found[0]?.address ?? '', found[0]?.family)),
				(error: Error) => done(error as NodeJS.ErrnoException, ''),
			);
		};
		const request: ClientRequest = (isSecure ? httpsRequest : httpRequest)(url, {
			method: 'POST',
			agent: isSecure ? senders.https : senders.http,
			lookup,
			signal,
			headers: {
				'Content-Type': 'application/json',
				'Content-Length': Buffer.byteLength(body),
				'User-Agent': `Oplink/${packageVersion()}`,
				...headers,
			},
		});
		request.once('response', resolve);
		request.once('error', reject);
		request.end(body);
	});

type Given = {rules: AddressRules; senders: Senders; signal: AbortSignal};

const messageOf = (error: unknown, timeoutSeconds: number, signal: AbortSignal): string => {
	if (signal.aborted) {
		return `no complete answer within ${timeoutSeconds} s`;
	}

	const {message, code} = error as {message: string; code?: string};
	return message === '' ? (code ?? 'no answer') : message;
};

/** Sends one delivery once. Never throws: whatever happens is the outcome of the try. */
export const sendDelivery = async (
	outgoing: Outgoing,
	{now, timeoutSeconds, ...given}: Omit<Given, 'signal'> & {now: Date; timeoutSeconds: number},
): Promise<Try> => {
	const began = performance.now();
	const signal = AbortSignal.timeout(timeoutSeconds * 1000);
	const tried = (outcome: Pick<Try, 'status' | 'error' | 'answer' | 'retryAfter'>): Try => ({
		at: now,
		durationMs: Math.round(performance.now() - began),
		...outcome,
	});
	try {
		const url = requireWebhookUrl(outgoing.url, given.rules);
		const headers = signedHeaders(outgoing, now);
		const response = await ask(url, headers, outgoing, {...given, signal});
		const answer = await readAnswer(response);
		return tried({
			status: response.statusCode ?? null,
			error: null,
			answer,
			retryAfter: retryAfterOf(response.headers['retry-after'], now),
		});
	} catch (error) {
		return tried({status: null, error: messageOf(error, timeoutSeconds, signal), answer: null, retryAfter: null});
	}
};

/** Whether the endpoint has taken the delivery: nothing but 2xx, a redirect neither. */
export const isTaken = ({status}: Pick<Try, 'status'>): boolean => status !== null && status >= 200 && status < 300;
