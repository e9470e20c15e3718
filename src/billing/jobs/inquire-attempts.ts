import {createAttemptStore} from '../attempt-store.ts';
import {CHECKOUT_MINUTES, inquireAttempt, PATIENCE_MINUTES} from '../paymob/inquire-attempt.ts';
import {type BillingRun, perOrganization} from './per-organization.ts';

const BATCH = 100;
const MINUTE_MS = 60_000;

/**
 * Asks Paymob about attempts without a callback for 15 minutes, because it may not repeat a failed one (contract/paymob
 * 7). Superseded attempts included: they could be paid until they expired.
 */
export const inquireAttempts = async (run: BillingRun): Promise<void> => {
	const {db, clock, paymob} = run.services;
	if (paymob === null) {
		return;
	}

	const before = new Date(clock.now().getTime() - PATIENCE_MINUTES * MINUTE_MS);
	const lifeMinutes = CHECKOUT_MINUTES + PATIENCE_MINUTES;
	const unreported = await createAttemptStore(db).listUnreported({before, lifeMinutes}, BATCH);
	for (const attempt of unreported) {
		await perOrganization(run, 'inquire about an attempt', [attempt.organizationId], () =>
			inquireAttempt(paymob, attempt),
		);
	}
};
