import {Webhook} from 'svix';
import type {Clock} from '../../../src/platform/clock.ts';
import {newId} from './records.ts';

export type WebhookEvent = {
	/** `svix-id`: the same at every delivery of the event. */
	id: string;
	type: string;
	/** The exact text that is signed and sent. */
	body: string;
};

export type Delivery = {event: WebhookEvent; status: number; body: unknown};

/** Headers of one delivery. */
export type SignedHeaders = {'svix-id': string; 'svix-timestamp': string; 'svix-signature': string};

export type SignOptions = {secret?: string; at?: Date};

/** Where deliveries go: a service by its base URL, or the receiver's own address. */
export type Destination = string | {url: string};

const receiverOf = (destination: Destination): URL => {
	const url = new URL(typeof destination === 'string' ? destination : destination.url);
	return url.pathname === '/' ? new URL('/webhooks/idp', url) : url;
};

const parsed = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
};

export type Webhooks = {
	/** What happened and was not delivered yet, oldest first. */
	events: WebhookEvent[];
	/** An event of the caller's making, which happened to nobody; it is delivered by passing it on. */
	event(type: string, data: unknown): WebhookEvent;
	/** The collected events that name any of these ids, oldest first. */
	about(...ids: string[]): WebhookEvent[];
	sign(event: Pick<WebhookEvent, 'id' | 'body'>, options?: SignOptions): SignedHeaders;
	/** Sends one event once. Throws where nobody answers. */
	send(destination: Destination, event: WebhookEvent): Promise<Delivery>;
	/** Sends these events one after another, whether they were sent before or not; none given: all that are collected. */
	deliver(destination: Destination, ...events: WebhookEvent[]): Promise<Delivery[]>;
	/** Sends these events all at once. */
	deliverTogether(destination: Destination, ...events: WebhookEvent[]): Promise<Delivery[]>;
};

/** Events and their signed deliveries. Nothing is delivered by itself. */
export const createWebhooks = ({
	clock,
	secret,
	instanceId,
}: {
	clock: Clock;
	secret: string;
	instanceId: string;
}): Webhooks => {
	const events: WebhookEvent[] = [];
	const forget = (event: WebhookEvent): void => {
		const index = events.indexOf(event);
		if (index >= 0) {
			events.splice(index, 1);
		}
	};

	const sign: Webhooks['sign'] = ({id, body}, options = {}) => {
		const at = options.at ?? clock.now();
		return {
			'svix-id': id,
			'svix-timestamp': String(Math.floor(at.getTime() / 1000)),
			'svix-signature': new Webhook(options.secret ?? secret).sign(id, at, body),
		};
	};

	const send: Webhooks['send'] = async (destination, event) => {
		forget(event);
		const response = await fetch(receiverOf(destination), {
			method: 'POST',
			headers: {'content-type': 'application/json', 'user-agent': 'Svix-Webhooks/1.0', ...sign(event)},
			body: event.body,
		});
		return {event, status: response.status, body: parsed(await response.text())};
	};

	return {
		events,
		event: (type, data) => ({
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
		about: (...ids) => events.filter(({body}) => ids.some((id) => body.includes(`"${id}"`))),
		sign,
		send,
		deliver: async (destination, ...given) => {
			const deliveries: Delivery[] = [];
			for (const event of given.length === 0 ? [...events] : given) {
				deliveries.push(await send(destination, event));
			}

			return deliveries;
		},
		deliverTogether: (destination, ...given) => Promise.all(given.map((event) => send(destination, event))),
	};
};
