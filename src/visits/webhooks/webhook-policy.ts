import Joi from 'joi';
import {partOf, type ValueOf} from '../../platform/http/answer.ts';
import {readConfigFile} from '../../platform/package-root.ts';

const amount: Joi.AnySchema<number> = Joi.number().integer().min(1);
const amounts: Joi.AnySchema<number[]> = Joi.array().items(amount).min(1);
const share: Joi.AnySchema<number> = Joi.number().min(0).max(1);

/** The schedule of attempts (contract/webhooks 4). */
const schema = partOf({
	/** Pauses after each failed attempt, in seconds; after the last one the delivery has failed. */
	retrySeconds: amounts,
	/** The part of a pause by which it varies, because an endpoint that recovers must not get all retries at once. */
	jitter: share,
	timeoutSeconds: amount,
	/** An endpoint whose deliveries failed for this time is disabled. */
	disableAfterDays: amount,
	/** How long the previous secret still signs after a rotation. */
	rotationHours: amount,
	endpointsPerOrganization: amount,
	/** Deliveries at once in each process: in all, of an organization, to an endpoint, to one that fails or is not quick. */
	slots: partOf({all: amount, organization: amount, endpoint: amount, troubled: amount}),
	/** An endpoint is quick once its last attempts took no longer. */
	quickSeconds: amount,
}).required();

type WebhookPolicy = ValueOf<typeof schema>;

let read: WebhookPolicy | null = null;

/** `config/webhooks.json`, read at the first use. @throws with every fault of the file. */
export const webhookPolicy = (): WebhookPolicy => {
	read ??= Joi.attempt(readConfigFile('webhooks.json'), schema) as WebhookPolicy;
	return read;
};
