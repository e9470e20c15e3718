import type {Services} from '../../services.ts';
import {emptyOutbox} from './outbox.ts';
import {reportQuotas} from './quota-marks.ts';
import {createSender} from './sender.ts';
import {deliverStoredRows, hasEndpoints} from './stored-rows.ts';

/** How often a process looks for work: with endpoints, and whether there are any. */
const TURN_MS = 250;
const IDLE_MS = 1000;
/** Clicks are collected for so long (contract/webhooks 2). */
const CLICKS_MS = 5000;
const QUOTAS_MS = 60_000;
const WATCH_MS = 1000;

/**
 * Sends webhooks until it is stopped: what happened becomes deliveries, and these are sent. Every process does it, and
 * the database gives each piece of work to one.
 * @returns a function that stops it.
 */
export const startWebhooks = (services: Services): (() => void) => {
	const {background, db, log} = services;
	const sender = createSender(services);
	const doneAt = {clicks: Number.NEGATIVE_INFINITY, quotas: Number.NEGATIVE_INFINITY};
	let timer: NodeJS.Timeout | null = null;
	let isStopped = false;
	let isAway = false;
	let isWorking = false;
	let isWoken = false;

	const isDue = (what: keyof typeof doneAt, every: number): boolean => {
		const now = performance.now();
		if (now - doneAt[what] < every) {
			return false;
		}

		doneAt[what] = now;
		return true;
	};

	/** One round. @returns whether to look again at once. */
	const work = async (): Promise<boolean> => {
		if (isDue('quotas', QUOTAS_MS)) {
			await reportQuotas(services);
		}

		const made = [
			await emptyOutbox(services),
			await deliverStoredRows(services, 'matches'),
			await deliverStoredRows(services, 'events'),
			isDue('clicks', CLICKS_MS) ? await deliverStoredRows(services, 'clicks') : 0,
		];
		const sent = await sender.sendDue();
		return made.some((count) => count > 0) || sent > 0;
	};

	const turn = async (): Promise<void> => {
		isWorking = true;
		let pause = IDLE_MS;
		try {
			if (await hasEndpoints(db)) {
				pause = (await work()) ? 0 : TURN_MS;
			}

			isAway = false;
		} catch (error) {
			if (!isAway && !isStopped) {
				log.warn({err: error}, 'webhooks wait for the database');
			}

			isAway = true;
		}

		isWorking = false;
		schedule(isWoken ? 0 : pause);
		isWoken = false;
	};

	const schedule = (pause: number): void => {
		if (timer !== null) {
			clearTimeout(timer);
		}

		if (!isStopped) {
			timer = setTimeout(() => background.run('send webhooks', turn()), pause).unref();
		}
	};

	sender.onRoom(() => {
		// Several deliveries end in one turn of the event loop.
		if (isWorking) {
			isWoken = true;
		} else {
			schedule(0);
		}
	});
	schedule(0);
	// By a timer of its own: a turn may wait for the database.
	const watch = setInterval(sender.giveBackOverdue, WATCH_MS).unref();
	return () => {
		isStopped = true;
		clearInterval(watch);
		if (timer !== null) {
			clearTimeout(timer);
		}

		sender.close();
	};
};
