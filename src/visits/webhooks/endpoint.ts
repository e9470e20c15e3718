import {randomBytes} from 'node:crypto';
import Joi from 'joi';
import {answerOf, flag, instant, partOf, text, textOrNull, uuid} from '../../platform/http/answer.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';

/** The types that endpoints can subscribe to (contract/webhooks 2). */
export const eventTypes = [
	'link.created',
	'link.updated',
	'link.deleted',
	'click.recorded',
	'match.found',
	'match.missed',
	'event.tracked',
	'domain.verified',
	'domain.lapsed',
	'quota.reached',
	'endpoint.disabled',
] as const;

export type EventType = (typeof eventTypes)[number];

/** A URL of an organization that receives events. */
export type Endpoint = {
	id: string;
	url: string;
	description: string | null;
	events: Array<EventType | '*'>;
	/** Only events of links that have one of the tags, and one of the channels. */
	filter: {tags?: string[]; channels?: string[]};
	enabled: boolean;
	disabledReason: string | null;
	createdAt: Date;
};

export type EndpointInput = Pick<Endpoint, 'url' | 'events'> &
	Partial<Pick<Endpoint, 'description' | 'filter' | 'enabled'>>;

const named = sizeFirst.array().items(sizeFirst.string().min(1).max(100)).min(1).max(50).unique();

const fields = {
	url: sizeFirst
		.string()
		.max(2048)
		.meta({schema: {description: 'An https URL whose name leads to public addresses only, without a user.'}}),
	description: sizeFirst.string().max(200).allow(null),
	events: sizeFirst
		.array()
		.items(Joi.valid('*', ...eventTypes))
		.min(1)
		.max(eventTypes.length + 1)
		.unique(),
	filter: Joi.object({tags: named, channels: named}),
	enabled: Joi.boolean(),
};

export const newEndpoint = Joi.object<EndpointInput>({
	...fields,
	url: fields.url.required(),
	events: fields.events.required(),
});

export const endpointChanges = Joi.object<Partial<EndpointInput>>(fields);

const answer = {
	id: uuid,
	url: text,
	description: textOrNull,
	events: Joi.array().items(text),
	filter: partOf({tags: Joi.array().items(text).optional(), channels: Joi.array().items(text).optional()}),
	enabled: flag,
	disabledReason: textOrNull,
	createdAt: instant,
};

export const endpointAnswer = answerOf('WebhookEndpoint', answer);

/** The only answers that show the secret. */
export const endpointWithSecretAnswer = answerOf('WebhookEndpointWithSecret', {...answer, secret: text});

/** A secret of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export const createSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
