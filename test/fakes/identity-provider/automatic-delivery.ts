import {setTimeout as wait} from 'node:timers/promises';
import type {Delivery, Destination, WebhookEvent} from './webhooks.ts';

/** Seconds before each retry; shorter than the provider's, so that a person can watch them. */
const retryAfter = [1, 2, 5, 10, 30, 60, 60];
const unreachableRetry = 1;

export type DeliveryRecord = {id: string; type: string; status: number | 'unreachable'};

export type AutomaticDelivery = {
	push(event: WebhookEvent): void;
	/** Holds new events until they are released. */
	hold(): void;
	release(): void;
	waiting(): WebhookEvent[];
	/** Every attempt, oldest first; without an answer, only the first. */
	attempts: DeliveryRecord[];
	/** Sent events by id. */
	sent: Map<string, WebhookEvent>;
	/** Resolves when nothing waits, the receiver cannot be reached, or the time is up. */
	settle(seconds: number): Promise<void>;
	stop(): void;
};

/**
 * Delivers events one by one as they occur. A refused one is tried eight times in total; without an answer, all wait.
 */
export const createAutomaticDelivery = ({
	send,
	destination,
	say,
}: {
	send(destination: Destination, event: WebhookEvent): Promise<Delivery>;
	destination: string;
	say(line: string): void;
}): AutomaticDelivery => {
	const queue: WebhookEvent[] = [];
	const attempts: DeliveryRecord[] = [];
	const sent = new Map<string, WebhookEvent>();
	const stopped = new AbortController();
	let isHeld = false;
	let isReachable = true;
	let running: Promise<void> = Promise.resolve();
	let isRunning = false;

	const pause = (seconds: number) => wait(seconds * 1000, undefined, {signal: stopped.signal});

	/** Whether the receiver accepted it. Throws without an answer. */
	const attempt = async (event: WebhookEvent): Promise<boolean> => {
		const {status, body} = await send(destination, event);
		attempts.push({id: event.id, type: event.type, status});
		const isTaken = status >= 200 && status < 300;
		say(`${event.type} ${event.id}: ${status}${isTaken ? '' : ` ${JSON.stringify(body)}`}`);
		return isTaken;
	};

	const deliver = async (event: WebhookEvent): Promise<void> => {
		let refusals = 0;
		while (!stopped.signal.aborted) {
			try {
				const isTaken = await attempt(event);
				isReachable = true;
				const delay = retryAfter[refusals];
				if (isTaken || delay === undefined) {
					return;
				}

				refusals += 1;
				await pause(delay);
			} catch {
				if (isReachable && !stopped.signal.aborted) {
					attempts.push({id: event.id, type: event.type, status: 'unreachable'});
					say(`nobody answers at ${destination} yet: webhooks wait until the service is up`);
				}

				isReachable = false;
				await pause(unreachableRetry).catch(() => undefined);
			}
		}
	};

	const work = async (): Promise<void> => {
		while (!isHeld && !stopped.signal.aborted) {
			const event = queue[0];
			if (event === undefined) {
				break;
			}

			sent.set(event.id, event);
			await deliver(event);
			queue.shift();
		}

		isRunning = false;
	};

	const start = (): void => {
		if (!isRunning && !isHeld) {
			isRunning = true;
			running = work();
		}
	};

	return {
		push: (event) => {
			queue.push(event);
			start();
		},
		hold: () => {
			isHeld = true;
		},
		release: () => {
			isHeld = false;
			start();
		},
		waiting: () => [...queue],
		attempts,
		sent,
		settle: async (seconds) => {
			if (isReachable && !isHeld) {
				await Promise.race([running, wait(seconds * 1000, undefined, {ref: false})]);
			}
		},
		stop: () => stopped.abort(),
	};
};
