import {PassThrough} from 'node:stream';
import type {Db} from './db.ts';

/** The part of the driver's connection that COPY uses. */
type Wire = {query(text: string): void; stream: {pause(): void; resume(): void}};

/**
 * Runs `COPY … TO STDOUT` on the transaction's connection, with backpressure.
 * @returns lines of COPY's text format, in pieces. @throws PostgreSQL's error while it is read.
 */
export const copyOut = (trx: Db, sql: string): AsyncIterable<Uint8Array> => {
	const lines = new PassThrough({highWaterMark: 1024 * 1024});
	type Client = {query(submittable: object): void; connection: Wire};
	const begin = async (): Promise<void> => {
		const client = (await trx.client.acquireConnection()) as Client;
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
