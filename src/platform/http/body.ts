import type {IncomingMessage} from 'node:http';
import getRawBody from 'raw-body';
import {
	bodyTooLarge,
	bodyTooSlow,
	HttpError,
	malformedJson,
	unreadableBody,
	unsupportedEncoding,
	unsupportedMediaType,
} from '../errors.ts';
import {inTime} from '../within.ts';

/** Largest body of a JSON route (contract/requests 4). */
const BODY_LIMIT = 256 * 1024;

/** How long a caller may take to send a buffered body. */
const BODY_SECONDS = 30;

const decoder = new TextDecoder('utf-8', {fatal: true});

const hasBody = (request: IncomingMessage): boolean =>
	request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

/** Whether the body may have more bytes; always without `bytes`, and for a body without a length. */
export const mayExceed = ({headers}: IncomingMessage, bytes = -1): boolean =>
	headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > bytes;

const isJson = (contentType: string): boolean => {
	const [type = ''] = contentType.split(';');
	return /^application\/(?:json|[\w.-]+\+json)$/i.test(type.trim());
};

/** The bytes of the body. @throws 413 above `limit`; 408 if it takes too long; 400 if it ends early or has another length. */
export const readRawBody = async (request: IncomingMessage, limit = BODY_LIMIT): Promise<Buffer> => {
	if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
		throw unsupportedEncoding();
	}

	const length = request.headers['content-length'];
	// The body nearly always arrives together with the headers.
	if (length !== undefined && request.readableLength === Number(length) && request.readableLength <= limit) {
		const complete: Buffer | null = request.read();
		request.resume();
		return complete ?? Buffer.alloc(0);
	}

	try {
		// The server has no time limit for requests, because an import may take long; a buffered body has one.
		const read = getRawBody(request, {limit, length: length ?? null});
		return await inTime(BODY_SECONDS * 1000, read, bodyTooSlow);
	} catch (error) {
		if (error instanceof HttpError) {
			throw error;
		}

		throw (error as {type?: string}).type === 'entity.too.large' ? bodyTooLarge(limit) : unreadableBody();
	}
};

/**
 * The JSON body; an absent one counts as `{}` (contract/requests 4).
 * @param alsoText accept text/plain too, the type of a browser's beacon.
 * @throws 413, 415, or 400 for invalid JSON.
 */
export const readJsonBody = async (
	request: IncomingMessage,
	{alsoText = false, limit = BODY_LIMIT} = {},
): Promise<unknown> => {
	if (!hasBody(request)) {
		return {};
	}

	if (Number(request.headers['content-length'] ?? 0) > limit) {
		throw bodyTooLarge(limit);
	}

	const contentType = request.headers['content-type'] ?? '';
	if (!isJson(contentType) && !(alsoText && /^text\/plain\b/i.test(contentType))) {
		throw unsupportedMediaType('application/json');
	}

	const raw = await readRawBody(request, limit);
	if (raw.length === 0) {
		return {};
	}

	try {
		return JSON.parse(decoder.decode(raw));
	} catch {
		throw malformedJson();
	}
};
