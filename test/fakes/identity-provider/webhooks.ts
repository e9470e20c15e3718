import {Webhook} from 'svix';
import type {Clock} from '../../../src/platform/clock.ts';
import {createWebhookQueue, type Destination, type SignOptions, type WebhookEvent} from '../shared/webhook-queue.ts';
import {newId} from './records.ts';

/** Events and their signed deliveries. */
export const createWebhooks = ({clock, secret, instanceId}: {clock: Clock; secret: string; instanceId: string}) => {
	/** The headers of one delivery. */
	const sign = ({id, body}: Pick<WebhookEvent, 'id' | 'body'>, options: SignOptions = {}) => {
		const at = options.at ?? clock.now();
		return {
			'svix-id': id,
			'svix-timestamp': String(Math.floor(at.getTime() / 1000)),
			'svix-signature': new Webhook(options.secret ?? secret).sign(id, at, body),
		};
	};
	const queue = createWebhookQueue('/webhooks/idp', (event: WebhookEvent, options) => ({
		headers: {'user-agent': 'Svix-Webhooks/1.0', ...sign(event, options)},
	}));
	return {
		...queue,
		sign,
		/** Sends these events one after another; none given: all that are collected now. */
		deliver: (destination: Destination, ...given: WebhookEvent[]) =>
			queue.deliver(destination, ...(given.length === 0 ? queue.events : given)),
		/** An event of the caller's making, which happened to nobody; it is delivered by passing it on. */
		event: (type: string, data: unknown): WebhookEvent => ({
			id: newId('msg'),
			type,
			body: JSON.stringify({
				data,
				event_attributes: {http_request: {client_ip: '203.0.113.7', user_agent: 'node'}},
				instance_id: instanceId,
				object: 'event',
				timestamp: clock.now().getTime(),
				type,
			}),
		}),
	};
};
