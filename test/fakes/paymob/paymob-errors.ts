/** A refusal in the shapes of the gateway: `{"detail": …}`, or fields with their faults. */
export class PaymobError extends Error {
	status: number;
	body: object;

	constructor(status: number, body: object) {
		super(JSON.stringify(body));
		this.status = status;
		this.body = body;
	}
}

const detail = (status: number, text: string): PaymobError => new PaymobError(status, {detail: text});

export const noCredentials = (): PaymobError => detail(401, 'Authentication credentials were not provided.');
export const wrongCredentials = (): PaymobError => detail(401, 'Invalid token.');
export const wrongApiKey = (): PaymobError => detail(403, 'incorrect credentials');
export const notFound = (): PaymobError => detail(404, 'Not found.');
export const noIntegration = (id: unknown): PaymobError => detail(404, `Integration ID does not exist: ${id}`);
export const wrongSum = (): PaymobError =>
	detail(406, 'The sum of the items amounts does not equal the intention amount.');
export const duplicateReference = (): PaymobError => new PaymobError(422, {message: 'duplicate'});
export const notJson = (): PaymobError => detail(400, 'JSON parse error');
export const notPossible = (text: string): PaymobError => detail(400, text);
/** @param faults by field. */
export const wrongFields = (faults: object): PaymobError => new PaymobError(400, faults);
