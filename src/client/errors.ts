/** One bad field of a refused request: `field` is its dotted path, absent where the body as a whole is meant. */
export type OplinkFieldFault = {message: string; field?: string};

/** An answer as it came. */
export type RawAnswer = {status: number; text: string; requestId?: string | undefined};

const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === 'string' ? value : otherwise);

/**
 * The fields of the error envelope (contract/requests 1), or null where the body is not a JSON object: a proxy's page,
 * say.
 */
const envelopeOf = (text: string): Record<string, unknown> | null => {
	try {
		const parsed: unknown = JSON.parse(text);
		return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null;
	} catch {
		return null;
	}
};

/** The wait of a 429 stands in its message alone; no header and no field carries it (contract/limits 2). */
const waitOf = (message: string): number | undefined => {
	const seconds = /Retry after (\d+) second/.exec(message)?.[1];
	return seconds === undefined ? undefined : Number(seconds);
};

/** The server answered, and not with success. */
export class OplinkApiError extends Error {
	override readonly name = 'OplinkApiError';
	/** HTTP status. */
	readonly status: number;
	/** Names the request in the server's log. Not every proxy lets it through. */
	readonly requestId: string | undefined;
	/** One entry per bad field; of a 400 only. */
	readonly details: OplinkFieldFault[] | undefined;
	/** Seconds until the same request may pass; of a 429 only. */
	readonly retryAfterSeconds: number | undefined;
	/** The body as it came. */
	readonly body: string;
	/** Of a structured error (contract/requests 5), such as `QUOTA_EXCEEDED`. */
	readonly code: string | undefined;
	/** The parsed body, for the extra fields of structured errors (`quota`, `feature`); null where it is not a JSON object. */
	readonly envelope: Readonly<Record<string, unknown>> | null;

	constructor({status, text, requestId}: RawAnswer) {
		const envelope = envelopeOf(text);
		super(textOr(envelope?.['message'], `request failed with status ${status}`));
		const details = envelope?.['details'];
		this.status = status;
		this.requestId = textOr(envelope?.['requestId'], requestId);
		this.details = status === 400 && Array.isArray(details) ? (details as OplinkFieldFault[]) : undefined;
		this.retryAfterSeconds = status === 429 ? waitOf(this.message) : undefined;
		this.body = text;
		this.code = textOr(envelope?.['code'], undefined);
		this.envelope = envelope;
	}
}

/** fetch says 'fetch failed' and keeps the reason a level or two below, or several where a name has several addresses. */
const reasonOf = (cause: unknown): string => {
	if (!(cause instanceof Error)) {
		return String(cause);
	}

	const {errors: [first] = []} = cause as {errors?: unknown[]};
	const below = first ?? cause.cause;
	return (below instanceof Error && reasonOf(below)) || cause.message;
};

/** No whole answer came: nobody listens there, the connection broke, or the time was up. */
export class OplinkConnectionError extends Error {
	override readonly name = 'OplinkConnectionError';
	/** What fetch threw, or an Error named TimeoutError. */
	override readonly cause: unknown;

	/** The address that was asked. */
	readonly baseUrl: string;
	/** The cause in words. */
	readonly reason: string;

	constructor({method, baseUrl, path}: {method: string; baseUrl: string; path: string}, cause: unknown) {
		const reason = reasonOf(cause);
		super(`${method} ${path} got no answer: ${reason}`);
		this.cause = cause;
		this.baseUrl = baseUrl;
		this.reason = reason;
	}
}
