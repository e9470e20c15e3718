import {PassThrough} from 'node:stream';
import type {Db} from './db.ts';

/** The part of the driver's connection that COPY uses. */
type Wire = {
	query(text: string): void;
	sendCopyFromChunk(chunk: Buffer): void;
	endCopyFrom(): void;
	stream: {pause(): void; resume(): void};
};

type Client = {query(submittable: object): void; connection: Wire};

/** The transaction's own connection; the pool is not involved. */
const clientOf = async (trx: Db): Promise<Client> => (await trx.client.acquireConnection()) as Client;

/** The escape sequences of COPY's text format (PostgreSQL, COPY, file formats). */
const SPECIAL = /[\\\t\n\r\0]/;
const escapes: Record<string, string> = {'\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': ''};

/** A value in COPY's text format; null is `\N`. PostgreSQL has no null character, so it is removed. */
export const copyText = (value: string | null): string =>
	value === null
		? '\\N'
		: SPECIAL.test(value)
			? value.replace(/[\\\t\n\r\0]/g, (character) => escapes[character] ?? '')
			: value;

/** The inverse of `copyText`. */
export const readCopyText = (text: string): string | null =>
	text === '\\N'
		? null
		: text.includes('\\')
			? text.replace(/\\(.)/g, (_, letter: string) => ({t: '\t', n: '\n', r: '\r'})[letter] ?? letter)
			: text;

/**
 * Runs `COPY … FROM STDIN` on the transaction's connection.
 * @param rows lines of COPY's text format, each with its line end. @throws PostgreSQL's error with its SQLSTATE.
 */
export const copyIn = async (trx: Db, sql: string, rows: string | Buffer): Promise<void> => {
	const client = await clientOf(trx);
	await new Promise<void>((resolve, reject) => {
		let failure: Error | null = null;
		client.query({
			submit: (wire: Wire) => wire.query(sql),
			handleCopyInResponse: (wire: Wire) => {
				wire.sendCopyFromChunk(typeof rows === 'string' ? Buffer.from(rows) : rows);
				wire.endCopyFrom();
			},
			handleCommandComplete: () => {},
			handleError: (error: Error) => {
				// ReadyForQuery follows a failed statement, and nothing follows a lost connection.
				failure = error;
				reject(error);
			},
			handleReadyForQuery: () => {
				if (failure === null) {
					resolve();
				}
			},
		});
	});
};

/**
 * Runs `COPY … TO STDOUT` on the transaction's connection, with backpressure.
 * @returns lines of COPY's text format, in pieces. @throws PostgreSQL's error while it is read.
 */
export const copyOut = (trx: Db, sql: string): AsyncIterable<Uint8Array> => {
	const lines = new PassThrough({highWaterMark: 1024 * 1024});
	const begin = async (): Promise<void> => {
		const client = await clientOf(trx);
		const {stream} = client.connection;
		lines.on('drain', () => stream.resume());
		client.query({
			submit: (wire: Wire) => wire.query(sql),
			handleCopyData: ({chunk}: {chunk: Buffer}) => {
				if (!lines.write(Buffer.from(chunk))) {
					stream.pause();
				}
			},
			handleCommandComplete: () => {},
			handleError: (error: Error) => lines.destroy(error),
			handleReadyForQuery: () => lines.end(),
		});
	};
	begin().catch((error: unknown) => lines.destroy(error as Error));
	return lines;
};
