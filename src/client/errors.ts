/** One invalid field of a refused request: `field` is its dotted path, absent if the whole body is meant. */
export type OplinkFieldFault = {message: string; field?: string};

/** An answer as it came. */
export type RawAnswer = {
	status: number;
	text: string;
	requestId?: string | undefined;
	errorCode?: string | undefined;
};

const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === 'string' ? value : otherwise);

/**
 * The fields of the error envelope (contract/requests 1), or null if the body is not a JSON object, such as a proxy's
 * page.
 */
const envelopeOf = (text: string): Record<string, unknown> | null => {
	try {
		const parsed: unknown = JSON.parse(text);
		return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null;
	} catch {
		return null;
	}
};

/** Only the message of a 429 contains the wait, no header or field (contract/requests 14). */
const waitOf = (message: string): number | undefined => {
	const seconds = /Retry after (\d+) second/.exec(message)?.[1];
	return seconds === undefined ? undefined : Number(seconds);
};

/** Maximum faults that a message repeats; `details` has all. */
const MAX_NAMED = 5;

/** The message with the invalid fields: `Validation failed: deviceId must be longer than or equal to 8 characters`. */
const messageWith = (message: string, details: OplinkFieldFault[] = []): string => {
	const faults = details
		.flatMap((fault) => fault?.message ?? [])
		// Of a single fault the message may be the same.
		.filter((fault) => fault !== message);
	const named = faults.slice(0, MAX_NAMED).join('; ');
	const rest = faults.length > MAX_NAMED ? `; and ${faults.length - MAX_NAMED} more` : '';
	return named === '' ? message : `${message}: ${named}${rest}`;
};

/** The server answered with an error. `message` names the invalid fields; the server's own is in `envelope`. */
export class OplinkApiError extends Error {
	override readonly name = 'OplinkApiError';
	/** HTTP status. */
	readonly status: number;
	/** The request's id in the server's log. Some proxies remove it. */
	readonly requestId: string | undefined;
	/** One entry per invalid field; of a 400 only. */
	readonly details: OplinkFieldFault[] | undefined;
	/** Seconds until the same request is allowed; of a 429 only. */
	readonly retryAfterSeconds: number | undefined;
	/** The raw body. */
	readonly body: string;
	/** The refusal's name in `X-Error-Code` (contract/requests 5), such as `short_code_taken`. Some proxies remove it. */
	readonly errorCode: string | undefined;
	/** Of a structured error (contract/requests 5), such as `QUOTA_EXCEEDED`. */
	readonly code: string | undefined;
	/**
	 * The parsed body, for the extra fields of structured errors (`quota`, `feature`); null if it is not a JSON object.
	 */
	readonly envelope: Readonly<Record<string, unknown>> | null;

	constructor({status, text, requestId, errorCode}: RawAnswer) {
		const envelope = envelopeOf(text);
		const given = envelope?.['details'];
		const details = status === 400 && Array.isArray(given) ? (given as OplinkFieldFault[]) : undefined;
		super(messageWith(textOr(envelope?.['message'], `request failed with status ${status}`), details));
		this.status = status;
		this.requestId = textOr(envelope?.['requestId'], requestId);
		this.details = details;
		this.retryAfterSeconds = status === 429 ? waitOf(this.message) : undefined;
		this.body = text;
		this.errorCode = errorCode;
		this.code = textOr(envelope?.['code'], undefined);
		this.envelope = envelope;
	}
}

/** fetch says 'fetch failed' and nests the reason, or several for a name with several addresses. */
const reasonOf = (cause: unknown): string => {
	if (!(cause instanceof Error)) {
		return String(cause);
	}

	const {errors: [first] = []} = cause as {errors?: unknown[]};
	const below = first ?? cause.cause;
	return (below instanceof Error && reasonOf(below)) || cause.message;
};

/** No complete answer arrived: connection refused, broken or timed out. */
export class OplinkConnectionError extends Error {
	override readonly name = 'OplinkConnectionError';
	/** fetch's error, or an Error named TimeoutError. */
	override readonly cause: unknown;

	/** The requested address. */
	readonly baseUrl: string;
	/** The cause as text. */
	readonly reason: string;

	constructor({method, baseUrl, path}: {method: string; baseUrl: string; path: string}, cause: unknown) {
		const reason = reasonOf(cause);
		super(`${method} ${path} got no answer: ${reason}`);
		this.cause = cause;
		this.baseUrl = baseUrl;
		this.reason = reason;
	}
}
