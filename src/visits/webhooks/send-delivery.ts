import {once} from 'node:events';
import {type ClientRequest, type Agent as HttpAgent, request as httpRequest, type IncomingMessage} from 'node:http';
import {request as httpsRequest} from 'node:https';
import type {LookupFunction} from 'node:net';
import {packageVersion} from '../../platform/package-root.ts';
import {signWebhook} from '../../platform/sign-webhook.ts';
import {type AddressRules, requireWebhookUrl, resolveSafely} from './safe-address.ts';

/** A request: `id` is the same for every attempt. */
type OutgoingRequest = {
	id: string;
	type: string;
	body: string;
	url: string;
	/** The endpoint's secret, and the previous one while both sign. */
	secrets: readonly string[];
};

/** The outcome of one attempt. Its status decides, not its body; null: no answer came, and `error` says why. */
export type Attempt = {
	at: Date;
	status: number | null;
	durationMs: number;
	error: string | null;
	/** The first KB of the answer. */
	answer: string | null;
	/** Seconds that the endpoint asks to wait. */
	retryAfter: number | null;
};

const MAX_READ = 64 * 1024;
const ANSWER_BYTES = 1024;
/** Interim answers (RFC 9110, 15.2) before the final one. */
const MAX_INTERIM = 10;

type Senders = {http: HttpAgent; https: HttpAgent};

/** `Retry-After` in seconds: a number, or a time (RFC 9110, 10.2.3). */
const retryAfterOf = (value: string | undefined, now: Date): number | null => {
	if (value === undefined) {
		return null;
	}

	const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - now.getTime()) / 1000;
	return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
};

/** PostgreSQL stores no NUL. A stream's decoder leaves out a character that the end cuts in two. */
const printable = (bytes: Buffer): string =>
	new TextDecoder().decode(bytes.subarray(0, ANSWER_BYTES), {stream: true}).replaceAll('\0', '');

/** The headers of Standard Webhooks 1.0. */
const signedHeaders = ({id, body, secrets}: OutgoingRequest, now: Date): Record<string, string> => {
	if (secrets.length === 0) {
		throw new Error('the secret was encrypted with a different OPLINK_KEY_SECRET; nothing is sent unsigned');
	}

	return {
		'webhook-id': id,
		'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
		'webhook-signature': secrets.map((secret) => signWebhook(secret, {id, at: now, body})).join(' '),
	};
};

const ask = (
	url: URL,
	headers: Record<string, string>,
	{body}: OutgoingRequest,
	given: SendOptions,
): Promise<IncomingMessage> =>
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
		// Errors may follow the answer, such as bytes behind its end.
		request.on('error', reject);
		// Without a listener Node closes the connection, and nothing says so here.
		request.once('upgrade', (response, socket) => {
			socket.destroy();
			resolve(response.destroy());
		});
		let interim = 0;
		request.on('information', ({statusCode}) => {
			interim += 1;
			if (interim > MAX_INTERIM) {
				request.destroy(new Error(`it answered ${statusCode} more than ${MAX_INTERIM} times`));
			}
		});
		request.end(body);
	});

type SendOptions = {rules: AddressRules; senders: Senders; signal: AbortSignal};

/** The received part of an answer, and up to 64 KB of its body. */
type Answer = {response: IncomingMessage | null; chunks: Buffer[]};

const receive = async (answer: Answer, asked: Promise<IncomingMessage>): Promise<void> => {
	answer.response = await asked;
	let length = 0;
	for await (const chunk of answer.response) {
		answer.chunks.push(chunk as Buffer);
		length += (chunk as Buffer).length;
		if (length >= MAX_READ) {
			break;
		}
	}
};

const messageOf = (error: unknown): string => {
	const {message, code} = error as {message: string; code?: string};
	return message === '' ? (code ?? 'no answer') : message;
};

/**
 * Sends one delivery once. Never throws, and settles in time, whatever Node makes of the peer: a fault is the outcome of the
 * attempt.
 */
export const sendDelivery = async (
	outgoing: OutgoingRequest,
	{now, timeoutSeconds, ...given}: Omit<SendOptions, 'signal'> & {now: Date; timeoutSeconds: number},
): Promise<Attempt> => {
	const began = performance.now();
	const tried = (outcome: Pick<Attempt, 'status' | 'error' | 'answer' | 'retryAfter'>): Attempt => ({
		at: now,
		durationMs: Math.round(performance.now() - began),
		...outcome,
	});
	const late = new AbortController();
	const timer = setTimeout(() => late.abort(), timeoutSeconds * 1000);
	const isLate = once(late.signal, 'abort');
	const answer: Answer = {response: null, chunks: []};
	let failure: unknown = null;
	try {
		const url = requireWebhookUrl(outgoing.url, given.rules);
		const headers = signedHeaders(outgoing, now);
		const asked = ask(url, headers, outgoing, {...given, signal: late.signal});
		await Promise.race([receive(answer, asked), isLate]);
	} catch (error) {
		failure = error;
	} finally {
		clearTimeout(timer);
	}

	const {response, chunks} = answer;
	if (response === null) {
		const error = late.signal.aborted ? `no complete answer within ${timeoutSeconds} s` : messageOf(failure);
		return tried({status: null, error, answer: null, retryAfter: null});
	}

	return tried({
		status: response.statusCode ?? null,
		error: null,
		answer: printable(Buffer.concat(chunks)),
		retryAfter: retryAfterOf(response.headers['retry-after'], now),
	});
};

/** Whether the delivery succeeded: 2xx only; redirects fail. */
export const hasSucceeded = ({status}: Pick<Attempt, 'status'>): boolean =>
	status !== null && status >= 200 && status < 300;
