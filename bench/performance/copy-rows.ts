import type {Client} from 'pg';

type Wire = {query(text: string): void; sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void};

/** Runs `COPY … FROM STDIN`. @param rows lines of COPY's text format. */
export const copyRows = (client: Client, sql: string, rows: string): Promise<void> =>
	new Promise((resolve, reject) => {
		const statement = {
			submit: (wire: Wire) => wire.query(sql),
			handleCopyInResponse: (wire: Wire) => {
				wire.sendCopyFromChunk(Buffer.from(rows));
				wire.endCopyFrom();
			},
			handleCommandComplete: () => {},
			handleError: reject,
			handleReadyForQuery: () => resolve(),
		};
		(client as unknown as {query(submittable: object): void}).query(statement);
	});
