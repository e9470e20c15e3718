import {Agent as HttpAgent} from 'node:http';
import {Agent as HttpsAgent} from 'node:https';
import {recordAudit, systemCaller} from '../../accounts/audit/audit-log.ts';
import {DAY_MS} from '../../platform/clock.ts';
import {createBatches} from '../../platform/db/batches.ts';
import {inTransaction} from '../../platform/db/db.ts';
import type {Services} from '../../services.ts';
import {type Claimed, claimDeliveries} from './claim-deliveries.ts';
import {type Outcome, recordTries} from './delivery-store.ts';
import {writeOutbox} from './outbox.ts';
import type {AddressRules} from './safe-address.ts';
import {isTaken, sendDelivery, type Try} from './send-delivery.ts';
import {createSlots} from './slots.ts';
import {webhookPolicy} from './webhook-policy.ts';

/** Answers that ask for patience: their `Retry-After` counts (contract/webhooks 4). */
const PATIENCE = new Set([429, 502, 503, 504]);
const GONE = 410;

type Deps = Pick<Services, 'background' | 'clock' | 'config' | 'db' | 'keyCipher' | 'log' | 'metrics'>;

/** Where deliveries may go, by the configuration. */
export const addressRulesOf = ({config}: Pick<Services, 'config'>): AddressRules => ({
	networks: config.webhookNetworks,
	dnsServers: config.dnsServers,
	isProduction: config.nodeEnv === 'production',
});

/** The next try after so many; null after the last one. */
const nextTryAt = ({at, status, retryAfter}: Try, tries: number): Date | null => {
	const {retrySeconds, jitter} = webhookPolicy();
	const pause = retrySeconds[tries];
	if (pause === undefined) {
		return null;
	}

	const asked = status !== null && PATIENCE.has(status) ? (retryAfter ?? 0) : 0;
	const longest = Math.max(...retrySeconds);
	const seconds = Math.max(pause * (1 + jitter * Math.random()), Math.min(asked, longest));
	return new Date(at.getTime() + seconds * 1000);
};

const outcomeOf = ({id, endpointId, tries, leasedUntil}: Claimed, tried: Try): Outcome => {
	const next = isTaken(tried) ? null : nextTryAt(tried, tries);
	return {
		id,
		endpointId,
		status: isTaken(tried) ? 'DELIVERED' : next === null ? 'FAILED' : 'PENDING',
		nextTryAt: next ?? tried.at,
		leasedUntil,
		tried,
	};
};

/** Connections to endpoints, which stay open between deliveries. */
export const createSenders = () => {
	const options = {
		keepAlive: true,
		keepAliveMsecs: 5000,
		maxFreeSockets: webhookPolicy().slots.endpoint,
		timeout: 60_000,
	};
	return {http: new HttpAgent(options), https: new HttpsAgent(options)};
};

/** The secrets that sign now: the endpoint's, and the one before it where that still signs. */
export const signingSecrets = (
	keyCipher: Services['keyCipher'],
	{secret, previousSecret}: Pick<Claimed, 'secret' | 'previousSecret'>,
): string[] => [secret, previousSecret].flatMap((sealed) => keyCipher.open(sealed) ?? []);

/** Sends due deliveries. Each process has a sender; the database gives each delivery to one of them. */
export const createSender = (services: Deps) => {
	const {clock, db, keyCipher, log, metrics} = services;
	const senders = createSenders();
	const slots = createSlots();
	let isClosed = false;
	let wake = (): void => {};

	const record = createBatches<Outcome, true>({
		max: 500,
		many: async (outcomes) => {
			await recordTries(db, outcomes);
			return outcomes.map(() => true);
		},
	});

	/** Disables an endpoint that is gone, or has answered nothing well for days. */
	const disableIfDead = async ({endpointId, organizationId}: Claimed, {status, at}: Try): Promise<void> => {
		const {disableAfterDays} = webhookPolicy();
		const reason =
			status === GONE ? 'It answered 410 Gone' : `It answered no delivery with 2xx for ${disableAfterDays} days`;
		await inTransaction(db, async (trx) => {
			const [disabled] = await trx('webhook_endpoints')
				.where({id: endpointId, enabled: true})
				.modify((one) =>
					status === GONE ? one : one.where('failing_since', '<=', new Date(at.getTime() - disableAfterDays * DAY_MS)),
				)
				.update({enabled: false, disabled_reason: reason, updated_at: at})
				.returning('url');
			if (disabled === undefined) {
				return;
			}

			await recordAudit(trx, at, systemCaller, {
				action: 'DISABLE',
				entityType: 'WebhookEndpoint',
				entityId: endpointId,
				organizationId,
				details: {url: disabled.url, reason},
			});
			const data = {id: endpointId, url: disabled.url, reason};
			await writeOutbox(trx, {organizationId, type: 'endpoint.disabled', at, data});
			metrics.endpointDisabled();
			log.warn({organizationId, endpointId, reason}, 'a webhook endpoint was disabled');
		});
	};

	/** Most failures need no look at the endpoint: it has not failed for long. */
	const mayBeDead = ({failingSince}: Claimed, {status, at}: Try): boolean =>
		status === GONE ||
		(failingSince !== null && at.getTime() - failingSince.getTime() >= webhookPolicy().disableAfterDays * DAY_MS);

	const send = async (claimed: Claimed): Promise<void> => {
		const {timeoutSeconds} = webhookPolicy();
		const tried = await sendDelivery(
			{...claimed, secrets: signingSecrets(keyCipher, claimed)},
			{now: clock.now(), timeoutSeconds, rules: addressRulesOf(services), senders},
		);
		await record(outcomeOf(claimed, tried));
		metrics.delivery(isTaken(tried) ? 'delivered' : 'failed');
		if (!isTaken(tried) && mayBeDead(claimed, tried)) {
			await disableIfDead(claimed, tried);
		}
	};

	const begin = async (claimed: Claimed): Promise<void> => {
		slots.take(claimed);
		try {
			await send(claimed);
		} finally {
			slots.release(claimed);
			metrics.overdueAttempts(slots.overdue());
			wake();
		}
	};

	return {
		/** Begins to send what is due and has a slot. @returns how many. */
		sendDue: async (): Promise<number> => {
			const free = webhookPolicy().slots.all - slots.taken();
			if (free <= 0 || isClosed) {
				return 0;
			}

			const claimed = await claimDeliveries(db, clock.now(), {sending: slots.sending(), free});
			for (const one of claimed) {
				services.background.run('send a webhook', begin(one));
			}

			return claimed.length;
		},
		/** Gives the slots of attempts back that have not ended within their leases. */
		giveBackOverdue: (): void => {
			const late = slots.giveBackOverdue(clock.now());
			if (late.length > 0) {
				metrics.overdueAttempts(slots.overdue());
				const endpoints = [...new Set(late.map(({endpointId}) => endpointId))];
				log.error(
					{attempts: late.length, endpoints},
					'attempts to send webhooks did not end: their slots are given back',
				);
				wake();
			}
		},
		/** Calls back whenever a delivery is done. */
		onRoom: (call: () => void): void => {
			wake = call;
		},
		close: (): void => {
			isClosed = true;
			senders.http.destroy();
			senders.https.destroy();
		},
	};
};
