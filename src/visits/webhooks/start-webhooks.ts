import {MINUTE_MS} from '../../platform/clock.ts';
import {Loop} from '../../platform/loop.ts';
import {Outage} from '../../platform/outage.ts';
import type {Services} from '../../services.ts';
import {emptyOutbox} from './outbox.ts';
import {reportQuotas} from './quota-marks.ts';
import {Sender} from './sender.ts';
import {deliverStoredRows, hasEndpoints} from './stored-rows.ts';

/** How often a process looks for work: with endpoints, and for the first endpoint. */
const TURN_MS = 250;
const IDLE_MS = 1000;
/** Clicks of this time share deliveries (contract/webhooks 2). */
const CLICKS_MS = 5000;
const QUOTAS_MS = MINUTE_MS;
const WATCH_MS = 1000;

/** One round. @returns whether more work may be waiting. */
const work = async (
	services: Services,
	sender: Sender,
	isDue: {quotas: boolean; clicks: boolean},
): Promise<boolean> => {
	if (isDue.quotas) {
		await reportQuotas(services);
	}

	const made = [
		await emptyOutbox(services),
		await deliverStoredRows(services, 'matches'),
		await deliverStoredRows(services, 'events'),
		isDue.clicks ? await deliverStoredRows(services, 'clicks') : 0,
		await sender.sendDue(),
	];
	return made.some((count) => count > 0);
};

/** The function returns whether `milliseconds` have passed since it last returned true. */
const createInterval = (milliseconds: number): (() => boolean) => {
	let last = Number.NEGATIVE_INFINITY;
	return () => {
		const isOver = performance.now() - last >= milliseconds;
		last = isOver ? performance.now() : last;
		return isOver;
	};
};

/**
 * Turns events into deliveries, and sends them, until it is stopped. Every process does it, and the database gives each
 * piece of work to one.
 * @returns a function that stops it.
 */
export const startWebhooks = (services: Services): (() => void) => {
	const {background, db, log} = services;
	const outage = new Outage(log, {began: 'webhooks wait for the database', ended: null});
	const [areQuotasDue, areClicksDue] = [createInterval(QUOTAS_MS), createInterval(CLICKS_MS)];

	const turn = async (): Promise<number> => {
		try {
			const isUsed = await hasEndpoints(db);
			const isBusy = isUsed && (await work(services, sender, {quotas: areQuotasDue(), clicks: areClicksDue()}));
			outage.end();
			return isBusy ? 0 : isUsed ? TURN_MS : IDLE_MS;
		} catch (error) {
			outage.begin(error);
			return IDLE_MS;
		}
	};
	const loop = new Loop(() => {
		const running = turn();
		background.run('send webhooks', running);
		return running;
	});
	const sender = new Sender(services, () => loop.wake());
	loop.wake();
	// On a separate timer, because a turn may wait for the database.
	const watch = setInterval(() => sender.giveBackOverdue(), WATCH_MS).unref();
	return () => {
		outage.close();
		clearInterval(watch);
		void loop.stop();
		sender.close();
	};
};
