import {createHash} from 'node:crypto';
import type {IncomingHttpHeaders} from 'node:http';
import Negotiator from 'negotiator';
import {memoize} from '../memoize.ts';

const isPreferred = memoize(
	(accept) => new Negotiator({headers: {accept}}).mediaType(['application/json', 'text/html']) === 'text/html',
);

/** Whether the caller prefers a page to JSON, which is the default. */
export const prefersPage = ({accept}: IncomingHttpHeaders): boolean => accept !== undefined && isPreferred(accept);

/** A weak ETag: one for all encodings of a content. */
export const etagOf = (content: string | Buffer): string =>
	`W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;

/** Whether the caller has the content of an ETag already. @param header If-None-Match. */
export const isKnown = (etag: string, header = ''): boolean =>
	header.split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === etag.slice(2));

/** Headers by which any origin may read an answer (contract/hosts 6). */
export const anyOrigin = {
	'Access-Control-Allow-Origin': '*',
	'Access-Control-Expose-Headers': 'X-Request-Id, X-Error-Code',
};

/** Further headers of the answer to a preflight. */
export const preflight = {
	'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
	'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-API-Key, X-Request-Id',
	'Access-Control-Max-Age': '86400',
};
