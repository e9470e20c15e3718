import type {ClickHouseAddress} from '../../../platform/config/database-url.ts';
import {clickStoreUnavailable} from '../../../platform/errors.ts';
import {fetchBounded, reasonOf} from '../../../platform/http/fetch-bounded.ts';
import {cutText} from '../../../platform/text.ts';

/** How long ClickHouse may take for a batch. */
const TIMEOUT_MS = 10_000;

/** How long an answer to a health check may take; orchestrators ask every few seconds. */
const PING_MS = 2000;

/** How long a report may take. */
const REPORT_MS = 30_000;

/** How long its answer may be: it is in memory as a whole. */
const REPORT_BYTES = 64 * 1024 * 1024;

/** A filter of a report may choose every link of an organization; by default a statement has 256 KiB and 50,000 parts. */
const LONG_STATEMENTS = {
	max_query_size: String(256 * 1024 * 1024),
	max_ast_elements: '10000000',
	max_expanded_ast_elements: '10000000',
};

/** How long a statement of a migration or a backup may take. */
const LONG_MS = 3_600_000;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Values in statements: ids and whole numbers only, which need no escaping. @throws for anything else. */
export const literal = (value: string | number): string => {
	if (typeof value === 'number' ? Number.isSafeInteger(value) : UUID.test(value)) {
		return typeof value === 'number' ? String(value) : `toUUID('${value}')`;
	}

	throw new TypeError('only ids and whole numbers may be part of a statement');
};

/** A time as it is stored: microseconds since 1970. */
export const microseconds = (at: Date): string => literal(at.getTime() * 1000);

/**
 * Whether a connection that was kept open had been closed meanwhile, as ClickHouse does after some seconds. Statements may
 * be repeated: rows are distinguished by their ids.
 */
const isClosedConnection = (error: unknown): boolean => {
	const {code} = ((error as {cause?: unknown}).cause ?? {}) as {code?: unknown};
	return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
};

/** Requests to the HTTP interface of ClickHouse. `unavailable` names a fault to the log and the operator; callers over HTTP get no address. */
const requestsTo = ({origin, user, password, database}: ClickHouseAddress) => {
	const unavailable = (error: unknown) =>
		clickStoreUnavailable(
			new Error(`ClickHouse at ${origin}/${database} (CLICKS_URL) cannot be used: ${reasonOf(error)}`, {cause: error}),
		);
	const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
	const ask = async (
		parameters: Record<string, string>,
		body: string | AsyncIterable<Uint8Array>,
		milliseconds: number,
		maxBytes?: number,
	): Promise<Response> => {
		const query = new URLSearchParams({database, ...parameters});
		const send = (): Promise<Response> =>
			fetchBounded(
				`${origin}/?${query}`,
				{
					method: 'POST',
					headers: {authorization},
					body: body as NonNullable<RequestInit['body']>,
					signal: AbortSignal.timeout(milliseconds),
					// Otherwise fetch keeps all of a body that it streams, to send it again.
					redirect: 'error',
					...(typeof body === 'string' ? {} : {duplex: 'half'}),
				} as RequestInit,
				maxBytes,
			);
		const answer = await send()
			.catch((error: unknown) => {
				if (typeof body === 'string' && isClosedConnection(error)) {
					return send();
				}

				throw error;
			})
			.catch((error: unknown) => {
				throw unavailable(error);
			});

		if (!answer.ok) {
			const words = cutText((await answer.text().catch(() => '')).trim(), 500);
			throw unavailable(new Error(`it answers ${answer.status}: ${words}`));
		}

		return answer;
	};
	return {ask, unavailable};
};

/** The statements of this folder alone reach ClickHouse; their values go through `literal`. */
export const createClickHouse = (address: ClickHouseAddress) => {
	const {ask, unavailable} = requestsTo(address);

	/** The whole answer, which ClickHouse sends when it is complete: an error later would look like a short answer. */
	const text = async (sql: string): Promise<string> => {
		const settings = {wait_end_of_query: '1', output_format_json_quote_64bit_integers: '0', ...LONG_STATEMENTS};
		const answer = await ask(settings, sql, REPORT_MS, REPORT_BYTES);
		return answer.text().catch((error: unknown) => {
			throw unavailable(error);
		});
	};

	return {
		/** The rows of a SELECT without a FORMAT. @throws 503 if ClickHouse is unavailable or refuses. */
		select: async <Row>(sql: string): Promise<Row[]> =>
			(await text(`${sql} FORMAT JSONEachRow`))
				.split('\n')
				.filter((line) => line !== '')
				.map((line) => JSON.parse(line) as Row),
		/** @throws 503 if it does not answer within 2 s. */
		ping: async (): Promise<void> => {
			await (await ask({}, 'SELECT 1', PING_MS)).arrayBuffer();
		},
		/** Runs a statement without an answer. @throws 503. */
		run: async (sql: string): Promise<void> => {
			await text(sql);
		},
		/** Inserts rows of the format TabSeparated, which escapes as COPY does. @throws 503. */
		insert: async (into: string, rows: string | AsyncIterable<Uint8Array>): Promise<void> => {
			const query = `INSERT INTO ${into} FORMAT TabSeparated`;
			const answer = await ask({query}, rows, typeof rows === 'string' ? TIMEOUT_MS : LONG_MS);
			await answer.arrayBuffer();
		},
		/** The rows of a SELECT of any length, as TabSeparated. @throws 503. */
		stream: async function* (sql: string): AsyncGenerator<Uint8Array> {
			const {body} = await ask({}, `${sql} FORMAT TabSeparated`, LONG_MS, Number.POSITIVE_INFINITY);
			try {
				yield* body ?? [];
			} catch (error) {
				throw unavailable(error);
			}
		},
	};
};

export type ClickHouse = ReturnType<typeof createClickHouse>;
