/** One bad field of a refused request, as the envelope tells it (interface 7.1). */
export type Detail = {message: string; field?: string};

/** An answer that is not 2xx, or is none of Oplink's (interface 7.6). */
export class ApiError extends Error {
	override name = 'ApiError';

	constructor(
		readonly status: number,
		message: string,
		readonly body: unknown,
		readonly code: string | null = null,
		readonly details: Detail[] = [],
		readonly requestId: string | null = null,
	) {
		super(message);
	}

	/** The wait that a 429 asks for, which stands in its message alone (interface 8). */
	get retryAfterSeconds(): number | null {
		const seconds = this.status === 429 ? /Retry after (\d+) second/.exec(this.message)?.[1] : undefined;
		return seconds === undefined ? null : Number(seconds);
	}
}

/** No answer: nothing listens there, the connection broke, or it took too long. */
export class ConnectionError extends Error {
	override name = 'ConnectionError';

	constructor(
		readonly baseUrl: string,
		override readonly cause: unknown,
	) {
		super(`Cannot reach ${baseUrl}: ${causeText(cause)}`);
	}
}

/** fetch says 'fetch failed' and keeps the reason one or two levels below. */
const causeText = (cause: unknown): string => {
	if (cause instanceof AggregateError && cause.errors.length > 0) {
		return causeText(cause.errors[0]);
	}

	if (!(cause instanceof Error)) {
		return String(cause);
	}

	if (cause.name === 'TimeoutError') {
		return 'no answer in time';
	}

	return cause.cause === undefined ? cause.message : causeText(cause.cause);
};

export type Answer = {status: number; text: string};

const parsed = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
};

const isDetail = (value: unknown): value is Detail =>
	typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';

/** What the envelope of a failure says, wherever one stands: an answer, or a line of an import. */
export const envelopeOf = (
	value: unknown,
): {message: string | null; code: string | null; details: Detail[]; requestId: string | null} => {
	const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
	const text = (field: unknown) => (typeof field === 'string' ? field : null);
	return {
		message: text(value) ?? text(fields['message']),
		code: text(fields['code']),
		details: Array.isArray(fields['details']) ? fields['details'].filter(isDetail) : [],
		requestId: text(fields['requestId']),
	};
};

/** The ApiError of an answer that is not 2xx; one without JSON has the message of interface 7.6. */
export const apiErrorOf = ({status, text}: Answer): ApiError => {
	const body = parsed(text);
	const {message, code, details, requestId} = envelopeOf(typeof body === 'object' ? body : undefined);
	return new ApiError(
		status,
		message ?? `request failed with status ${status}`,
		body ?? text,
		code,
		details,
		requestId,
	);
};

/** The JSON of an answer. @throws ApiError where it is not 2xx or holds no JSON. */
export const readAnswer = <T>(answer: Answer): T => {
	if (answer.status < 200 || answer.status > 299) {
		throw apiErrorOf(answer);
	}

	const body = parsed(answer.text);
	if (body === undefined) {
		throw new ApiError(answer.status, 'The answer is no JSON: is this the address of an Oplink server?', answer.text);
	}

	return body as T;
};
