import {createChargeStore} from '../paymob/charge-store.ts';
import {CHECKOUT_MINUTES, inquireAttempt, PATIENCE_MINUTES} from '../paymob/inquire-attempt.ts';
import {type BillingRun, perOrganization} from './per-organization.ts';

const BATCH = 100;
const MINUTE_MS = 60_000;

/**
 * Asks gateway B about attempts of which nobody told for 15 minutes, because nobody knows whether it repeats a callback
 * that failed (contract/paymob 7). Superseded ones are asked for too: they could be paid until they expired.
 */
export const inquireAttempts = async (run: BillingRun): Promise<void> => {
	const {db, clock, paymob} = run.services;
	if (paymob === null) {
		return;
	}

	const before = new Date(clock.now().getTime() - PATIENCE_MINUTES * MINUTE_MS);
	const lifeMinutes = CHECKOUT_MINUTES + PATIENCE_MINUTES;
	const untold = await createChargeStore(db).listUntold({before, lifeMinutes}, BATCH);
	for (const attempt of untold) {
		await perOrganization(run, 'inquire about an attempt', [attempt.organizationId], () =>
			inquireAttempt(paymob, attempt),
		);
	}
};
