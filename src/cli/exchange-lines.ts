import http from 'node:http';
import https from 'node:https';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {ApiError, apiErrorOf, ConnectionError} from './api-error.ts';
import {linesOf} from './import-formats/lines.ts';

type Target = {baseUrl: string; url: string; token: string; signal: AbortSignal};

/**
 * POSTs NDJSON and yields the lines of the answer while still sending. It uses node:http because fetch is half-duplex
 * by its standard: it may hold an answer back until the whole request is sent.
 * @throws ApiError, ConnectionError, or whatever `lines` throws.
 */
export async function* exchangeLines(
	{baseUrl, url, token, signal}: Target,
	lines: AsyncIterable<string>,
): AsyncGenerator<string> {
	const {request: open} = url.startsWith('https:') ? https : http;
	const request = open(url, {
		method: 'POST',
		headers: {authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson'},
		signal,
	});
	let fault: {error: unknown} | null = null;
	const source = lines[Symbol.asyncIterator]();
	const body = async function* () {
		try {
			for (;;) {
				// Only this call can be the source's own fault: a broken connection is thrown into us at the yield.
				const next = await source.next().catch((error: unknown) => {
					fault = {error};
					throw error;
				});
				if (next.done) {
					return;
				}

				yield `${next.value}\n`;
			}
		} finally {
			await source.return?.();
		}
	};
	const failure = (error: unknown): unknown => {
		signal.throwIfAborted();
		return fault ? fault.error : new ConnectionError(baseUrl, error);
	};
	const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
		request.once('response', resolve);
		request.on('error', reject);
	});
	// A server that refuses early closes the connection under our hands: its answer counts, not the broken pipe.
	const sent = pipeline(Readable.from(body()), request).catch(() => {});
	try {
		const response = await answered;
		if ((response.statusCode ?? 0) > 299) {
			throw apiErrorOf({status: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString()});
		}

		yield* linesOf(response);
		if (fault) {
			throw (fault as {error: unknown}).error;
		}
	} catch (error) {
		throw error instanceof ApiError ? error : failure(error);
	} finally {
		request.destroy();
		await sent;
	}
}
