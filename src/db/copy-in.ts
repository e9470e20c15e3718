import type {Db} from './db.ts';

/** The part of the driver's connection that COPY speaks with. */
type Wire = {
	query(text: string): void;
	sendCopyFromChunk(chunk: Buffer): void;
	endCopyFrom(): void;
};

/** The texts of a COPY row that mean something else than themselves (PostgreSQL, COPY, file formats). */
const SPECIAL = /[\\\t\n\r\0]/;
const escapes: Record<string, string> = {'\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': ''};

/** A value of a row of COPY's text format; null is `\N`. PostgreSQL knows no null character, so it is left out. */
export const copyText = (value: string | null): string =>
	value === null
		? '\\N'
		: SPECIAL.test(value)
			? value.replace(/[\\\t\n\r\0]/g, (character) => escapes[character] ?? '')
			: value;

/** What `copyText` wrote. */
export const readCopyText = (text: string): string | null =>
	text === '\\N'
		? null
		: text.includes('\\')
			? text.replace(/\\(.)/g, (_, letter: string) => ({t: '\t', n: '\n', r: '\r'})[letter] ?? letter)
			: text;

/**
 * Runs `COPY … FROM STDIN` on the transaction's connection.
 * @param rows lines of COPY's text format, each with its line end. @throws what PostgreSQL refuses, by its SQLSTATE.
 */
export const copyIn = async (trx: Db, sql: string, rows: string | Buffer): Promise<void> => {
	type Client = {query(submittable: object): void};
	// A transaction's own connection: nothing is taken from the pool, and nothing to be given back.
	const connection = (await trx.client.acquireConnection()) as Client;
	await new Promise<void>((resolve, reject) => {
		let failure: Error | null = null;
		connection.query({
			submit: (wire: Wire) => wire.query(sql),
			handleCopyInResponse: (wire: Wire) => {
				wire.sendCopyFromChunk(typeof rows === 'string' ? Buffer.from(rows) : rows);
				wire.endCopyFrom();
			},
			handleCommandComplete: () => {},
			handleError: (error: Error) => {
				// A statement that failed is followed by ReadyForQuery; a connection that is lost is followed by nothing.
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
