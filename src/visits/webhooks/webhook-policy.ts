import Joi from 'joi';
import {readConfigFile} from '../../platform/package-root.ts';

/** The schedule of attempts (contract/webhooks 4). */
type WebhookPolicy = {
	/** Pauses after each failed attempt, in seconds; after the last one the delivery has failed. */
	retrySeconds: number[];
	/** The part of a pause by which it varies, because an endpoint that recovers must not get all retries at once. */
	jitter: number;
	timeoutSeconds: number;
	/** An endpoint whose deliveries failed for this time is disabled. */
	disableAfterDays: number;
	/** How long the previous secret still signs after a rotation. */
	rotationHours: number;
	endpointsPerOrganization: number;
	/** Deliveries at once in each process: in all, of an organization, to an endpoint, to one that fails or is not quick. */
	slots: {all: number; organization: number; endpoint: number; troubled: number};
	/** An endpoint is quick once its last attempts took no longer. */
	quickSeconds: number;
};

const amount = Joi.number().integer().min(1).required();
const schema = Joi.object<WebhookPolicy>({
	retrySeconds: Joi.array().items(Joi.number().integer().min(1)).min(1).required(),
	jitter: Joi.number().min(0).max(1).required(),
	timeoutSeconds: amount,
	disableAfterDays: amount,
	rotationHours: amount,
	endpointsPerOrganization: amount,
	slots: Joi.object({all: amount, organization: amount, endpoint: amount, troubled: amount}).required(),
	quickSeconds: amount,
}).required();

let read: WebhookPolicy | null = null;

/** `config/webhooks.json`, read at the first use. @throws with every fault of the file. */
export const webhookPolicy = (): WebhookPolicy => {
	read ??= Joi.attempt(readConfigFile('webhooks.json'), schema) as WebhookPolicy;
	return read;
};
