import http from 'node:http';
import https from 'node:https';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {OplinkApiError, OplinkConnectionError} from '../../client/errors.ts';
import {linesOf} from './formats/lines.ts';

/** `path` includes its query. */
type Target = {baseUrl: string; path: string; token: string; signal: AbortSignal};

/**
 * POSTs NDJSON and yields the lines of the answer while still sending. It uses node:http because fetch is half-duplex
 * by its standard: it may withhold the answer until the whole request is sent.
 * @throws OplinkApiError, OplinkConnectionError, or whatever `lines` throws.
 */
export async function* exchangeLines(
	{baseUrl, path, token, signal}: Target,
	lines: AsyncIterable<string>,
): AsyncGenerator<string> {
	const {request: open} = baseUrl.startsWith('https:') ? https : http;
	const method = 'POST';
	const request = open(`${baseUrl}${path}`, {
		method,
		headers: {authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson'},
		signal,
	});
	let fault: {error: unknown} | null = null;
	const source = lines[Symbol.asyncIterator]();
	const body = async function* () {
		try {
			for (;;) {
				// Only this call can fail because of the source: a broken connection is thrown into us at the yield.
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
		return fault ? fault.error : new OplinkConnectionError({method, baseUrl, path}, error);
	};
	const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
		request.once('response', resolve);
		request.on('error', reject);
	});
	// A server that refuses early closes the connection; its answer counts, not the broken pipe.
	const sent = pipeline(Readable.from(body()), request).catch(() => {});
	try {
		const response = await answered;
		if ((response.statusCode ?? 0) > 299) {
			const text = Buffer.concat(await response.toArray()).toString();
			throw new OplinkApiError({status: response.statusCode ?? 0, text});
		}

		yield* linesOf(response);
		if (fault) {
			throw (fault as {error: unknown}).error;
		}
	} catch (error) {
		throw error instanceof OplinkApiError ? error : failure(error);
	} finally {
		request.destroy();
		await sent;
	}
}
