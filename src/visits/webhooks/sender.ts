import {Agent as HttpAgent} from 'node:http';
import {Agent as HttpsAgent} from 'node:https';
import {recordAudit, systemCaller} from '../../accounts/audit/audit-log.ts';
import {DAY_MS} from '../../platform/clock.ts';
import {createBatches} from '../../platform/db/batches.ts';
import {inTransaction} from '../../platform/db/db.ts';
import type {Services} from '../../services.ts';
import {type ClaimedDelivery, claimDeliveries, Slots} from './claim-deliveries.ts';
import {type Outcome, recordAttempts} from './delivery-store.ts';
import {writeOutbox} from './outbox.ts';
import type {AddressRules} from './safe-address.ts';
import {type Attempt, hasSucceeded, sendDelivery} from './send-delivery.ts';
import {webhookPolicy} from './webhook-policy.ts';

/** Statuses whose `Retry-After` counts (contract/webhooks 4). */
const RETRY_LATER = new Set([429, 502, 503, 504]);
const GONE = 410;

type Deps = Pick<Services, 'background' | 'clock' | 'config' | 'db' | 'keyCipher' | 'log' | 'metrics'>;

/** The addresses that deliveries may go to, by the configuration. */
export const addressRulesOf = ({config}: Pick<Services, 'config'>): AddressRules => ({
	networks: config.webhookNetworks,
	dnsServers: config.dnsServers,
	isProduction: config.nodeEnv === 'production',
});

/** The time of the next attempt. @param tries the number of attempts before this one. @returns null after the last one. */
const nextTryAt = ({at, status, retryAfter}: Attempt, tries: number): Date | null => {
	const {retrySeconds, jitter} = webhookPolicy();
	const pause = retrySeconds[tries];
	if (pause === undefined) {
		return null;
	}

	const asked = status !== null && RETRY_LATER.has(status) ? (retryAfter ?? 0) : 0;
	const longest = Math.max(...retrySeconds);
	const seconds = Math.max(pause * (1 + jitter * Math.random()), Math.min(asked, longest));
	return new Date(at.getTime() + seconds * 1000);
};

const outcomeOf = ({id, endpointId, tries, leasedUntil}: ClaimedDelivery, tried: Attempt): Outcome => {
	const next = hasSucceeded(tried) ? null : nextTryAt(tried, tries);
	return {
		id,
		endpointId,
		status: hasSucceeded(tried) ? 'DELIVERED' : next === null ? 'FAILED' : 'PENDING',
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

/** The secrets that sign now: the endpoint's, and the previous one while it still signs. */
export const signingSecrets = (
	keyCipher: Services['keyCipher'],
	{secret, previousSecret}: Pick<ClaimedDelivery, 'secret' | 'previousSecret'>,
): string[] => [secret, previousSecret].flatMap((sealed) => keyCipher.open(sealed) ?? []);

/** Usually a failure needs no check of the endpoint, which has not failed for long. */
const mayBeDead = ({failingSince}: ClaimedDelivery, {status, at}: Attempt): boolean =>
	status === GONE ||
	(failingSince !== null && at.getTime() - failingSince.getTime() >= webhookPolicy().disableAfterDays * DAY_MS);

/** Disables an endpoint that is gone, or whose deliveries have failed for days. */
const disableIfDead = async (
	{db, log, metrics}: Deps,
	{endpointId, organizationId}: ClaimedDelivery,
	{status, at}: Attempt,
): Promise<void> => {
	const {disableAfterDays} = webhookPolicy();
	const reason =
		status === GONE ? 'It answered 410 Gone' : `It answered no delivery with 2xx for ${disableAfterDays} days`;
	const failedSince = new Date(at.getTime() - disableAfterDays * DAY_MS);
	await inTransaction(db, async (trx) => {
		const [disabled] = await trx('webhook_endpoints')
			.where({id: endpointId, enabled: true})
			.modify((one) => (status === GONE ? one : one.where('failing_since', '<=', failedSince)))
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

/** Sends due deliveries. Each process has a sender; the database gives each delivery to one of them. */
export class Sender {
	readonly #services: Deps;
	readonly #onEnd: () => void;
	readonly #connections = createSenders();
	readonly #slots = new Slots();
	readonly #record: (outcome: Outcome) => Promise<true>;
	#isClosed = false;

	/** @param onEnd called when an attempt has ended, or has given its slot back. */
	constructor(services: Deps, onEnd: () => void) {
		this.#services = services;
		this.#onEnd = onEnd;
		this.#record = createBatches<Outcome, true>({
			max: 500,
			many: async (outcomes) => {
				await recordAttempts(services.db, outcomes);
				return outcomes.map(() => true);
			},
		});
	}

	/** Begins to send deliveries that are due and have a slot. @returns how many. */
	async sendDue(): Promise<number> {
		const {background, clock, db} = this.#services;
		const free = webhookPolicy().slots.all - this.#slots.taken;
		if (free <= 0 || this.#isClosed) {
			return 0;
		}

		const claimed = await claimDeliveries(db, clock.now(), {inFlight: this.#slots.inFlight(), free});
		for (const one of claimed) {
			background.run('send a webhook', this.#send(one));
		}

		return claimed.length;
	}

	/** Gives the slots of attempts back that have not ended within their leases. */
	giveBackOverdue(): void {
		const {clock, log, metrics} = this.#services;
		const late = this.#slots.giveBackOverdue(clock.now());
		if (late.length > 0) {
			metrics.overdueAttempts(this.#slots.overdue);
			const endpoints = [...new Set(late.map(({endpointId}) => endpointId))];
			log.error(
				{attempts: late.length, endpoints},
				'attempts to send webhooks did not end: their slots are given back',
			);
			this.#onEnd();
		}
	}

	close(): void {
		this.#isClosed = true;
		this.#connections.http.destroy();
		this.#connections.https.destroy();
	}

	async #send(claimed: ClaimedDelivery): Promise<void> {
		this.#slots.take(claimed);
		try {
			await this.#attempt(claimed);
		} finally {
			this.#slots.release(claimed);
			this.#services.metrics.overdueAttempts(this.#slots.overdue);
			this.#onEnd();
		}
	}

	async #attempt(claimed: ClaimedDelivery): Promise<void> {
		const {clock, keyCipher, metrics} = this.#services;
		const {timeoutSeconds} = webhookPolicy();
		const attempt = await sendDelivery(
			{...claimed, secrets: signingSecrets(keyCipher, claimed)},
			{now: clock.now(), timeoutSeconds, rules: addressRulesOf(this.#services), senders: this.#connections},
		);
		await this.#record(outcomeOf(claimed, attempt));
		metrics.delivery(hasSucceeded(attempt) ? 'delivered' : 'failed');
		if (!hasSucceeded(attempt) && mayBeDead(claimed, attempt)) {
			await disableIfDead(this.#services, claimed, attempt);
		}
	}
}
