import {isConnectionFault} from '../db/db.ts';
import {databaseUnavailable, HttpError, serverFailure} from '../errors.ts';

/** A request URL's path as it was sent, without the query, and without the origin that proxies may send (RFC 9112, 3.2.2). */
export const rawPath = (url: string | undefined): string =>
	/^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(url ?? '')?.[1] || '/';

/** The refusal of an error: itself, 503 if the database is unavailable, otherwise 500. */
export const refusalOf = (error: unknown): HttpError => {
	if (error instanceof HttpError) {
		return error;
	}

	return isConnectionFault(error) ? databaseUnavailable() : serverFailure();
};

/** The headers of every error response that is no page. */
export const errorHeaders = ({code, retryAfter}: HttpError): Record<string, string> => ({
	'Cache-Control': 'no-store',
	'X-Error-Code': code,
	...(retryAfter === null ? {} : {'Retry-After': String(retryAfter)}),
});

/** The body of every error response (contract/requests 1). */
export const errorBody = (
	error: HttpError,
	{now, url, requestId}: {now: Date; url: string | undefined; requestId: string},
) => ({
	statusCode: error.status,
	error: error.statusName,
	message: error.message,
	details: error.details,
	...error.extras,
	timestamp: now.toISOString(),
	path: rawPath(url),
	requestId,
});
