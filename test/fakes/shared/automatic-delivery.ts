import {setTimeout as wait} from 'node:timers/promises';
import type {Delivery, Destination, WebhookEvent} from './webhook-queue.ts';

/** Seconds before each retry; shorter than a provider's, so that a person can watch them. */
const retryAfter = [1, 2, 5, 10, 30, 60, 60];
const unreachableRetry = 1;

/**
 * Delivers events one by one as they occur. A refused one is tried eight times in total; without an answer, all wait.
 */
export const createAutomaticDelivery = <Event extends WebhookEvent>({
	send,
	destination,
	say,
}: {
	send(destination: Destination, event: Event): Promise<Delivery>;
	destination: string;
	say(line: string): void;
}) => {
	const queue: Event[] = [];
	/** Every attempt, oldest first; without an answer, only the first. */
	const attempts: Array<{id: string; type: string; status: number | 'unreachable'}> = [];
	/** Sent events by id. */
	const sent = new Map<string, Event>();
	const stopped = new AbortController();
	let isHeld = false;
	let isReachable = true;
	let running: Promise<void> | null = null;

	const pause = (seconds: number) => wait(seconds * 1000, undefined, {signal: stopped.signal});

	/** Whether the receiver accepted it. Throws without an answer. */
	const attempt = async (event: Event): Promise<boolean> => {
		const {status, body} = await send(event.receiver ?? destination, event);
		attempts.push({id: event.id, type: event.type, status});
		const isTaken = status >= 200 && status < 300;
		say(`${event.type} ${event.id}: ${status}${isTaken ? '' : ` ${JSON.stringify(body)}`}`);
		return isTaken;
	};

	const deliver = async (event: Event): Promise<void> => {
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
		for (let event = queue[0]; event !== undefined && !isHeld && !stopped.signal.aborted; event = queue[0]) {
			sent.set(event.id, event);
			await deliver(event);
			queue.shift();
		}

		running = null;
	};

	const start = (): void => {
		if (!isHeld && queue.length > 0) {
			running ??= work();
		}
	};

	return {
		push: (event: Event): void => {
			queue.push(event);
			start();
		},
		/** Holds new events until they are released. */
		hold: (): void => {
			isHeld = true;
		},
		release: (): void => {
			isHeld = false;
			start();
		},
		waiting: () => queue.map(({id, type}) => ({id, type})),
		attempts,
		/** Sends an event again. */
		redeliver: (id: string): void => {
			const event = sent.get(id);
			if (event === undefined) {
				throw new Error(`No event ${id} was sent`);
			}

			queue.push(event);
			start();
		},
		/** Resolves when nothing waits, the receiver cannot be reached, or the time is up. */
		settle: async (seconds: number): Promise<void> => {
			if (isReachable && !isHeld) {
				await Promise.race([running, wait(seconds * 1000, undefined, {ref: false})]);
			}
		},
		stop: (): void => stopped.abort(),
	};
};
