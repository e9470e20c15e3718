import type {FaultInput} from '../shared/faults.ts';

/** A refusal in the words of the gateway. */
export class StripeError extends Error {
	status: number;
	/** The members of `error`. */
	details: {type: string; code?: string; param?: string};

	constructor(status: number, message: string, details: StripeError['details']) {
		super(message);
		this.status = status;
		this.details = details;
	}
}

const invalid = (status: number, message: string, code?: string, param?: string): StripeError =>
	new StripeError(status, message, {
		type: 'invalid_request_error',
		...(code === undefined ? {} : {code}),
		...(param === undefined ? {} : {param}),
	});

export const missingKey = (): StripeError =>
	invalid(
		401,
		'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth ' +
			"(e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
	);

export const wrongKey = (key: string): StripeError =>
	invalid(401, `Invalid API Key provided: ${key.slice(0, 8)}${'*'.repeat(12)}`);

export const wrongVersion = (version: string): StripeError => invalid(400, `Invalid Stripe API version: ${version}`);

export const wrongContentType = (): StripeError =>
	invalid(
		400,
		'Invalid request (check that your POST content type is application/x-www-form-urlencoded). If you have any ' +
			'questions, we can help at https://support.stripe.com/.',
	);

export const unknownUrl = (method: string, path: string): StripeError =>
	invalid(404, `Unrecognized request URL (${method}: ${path}). Please see https://stripe.com/docs.`);

export const noSuch = (what: string, id: string, param = 'id'): StripeError =>
	invalid(404, `No such ${what}: '${id}'`, 'resource_missing', param);

/** A reference in a body that points nowhere, which is 400 where the same id in the path is 404. */
export const noSuchReference = (what: string, id: string, param: string): StripeError =>
	invalid(400, `No such ${what}: '${id}'`, 'resource_missing', param);

export const missingParam = (param: string): StripeError =>
	invalid(400, `Missing required param: ${param}.`, 'parameter_missing', param);

export const unknownParam = (param: string): StripeError =>
	invalid(400, `Received unknown parameter: ${param}`, 'parameter_unknown', param);

/** A value that the parameter does not take. */
export const invalidParam = (param: string, message: string, code?: string): StripeError =>
	invalid(400, message, code, param);

/** What the object's state does not allow. */
export const notAllowed = (message: string, code?: string): StripeError => invalid(400, message, code);

export const reusedKey = (key: string): StripeError =>
	new StripeError(
		400,
		'Keys for idempotent requests can only be used with the same parameters they were first used with. ' +
			`Try using a key other than '${key}' if you meant to execute a different request.`,
		{type: 'idempotency_error'},
	);

const typeOf = (status: number): string => {
	if (status === 402) {
		return 'card_error';
	}

	return status >= 500 ? 'api_error' : 'invalid_request_error';
};

/** What a fault says instead of the answer; 500 unless it says a status. */
export const failureOf = ({
	status = 500,
	code,
	message = 'An unknown error occurred',
}: Pick<FaultInput, 'status' | 'code' | 'message'>): StripeError =>
	new StripeError(status, message, {type: typeOf(status), ...(code === undefined ? {} : {code})});
