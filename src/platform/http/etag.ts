import {createHash} from 'node:crypto';

/** A weak ETag: one for all encodings of a content. */
export const etagOf = (content: string | Buffer): string =>
	`W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;

/** Whether the caller has the content of an ETag already. @param header If-None-Match. */
export const isKnown = (etag: string, header = ''): boolean =>
	header.split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === etag.slice(2));
