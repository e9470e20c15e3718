import type {Db} from '../../db/db.ts';
import {type AttemptRow, type BillingAttempt, toAttempt} from '../attempt-store.ts';

/** When something was last heard or asked of an attempt. It leaves out what is null. */
const LAST_KNOWN = 'GREATEST(created_at, charged_at, asked_at)';

/** The statements on attempts for which a saved card is charged, or of whose payment nobody told. */
export const createChargeStore = (db: Db) => ({
	/**
	 * Writes down that a saved card is being charged, and for which order. @returns false where it was before: then
	 * somebody else charges it, and nobody may again.
	 */
	claim: async (
		{organizationId, id}: BillingAttempt,
		{gatewayRef, gatewayRef2}: Pick<BillingAttempt, 'gatewayRef' | 'gatewayRef2'>,
		now: Date,
	): Promise<boolean> => {
		const count = await db('billing_attempts')
			.where({organization_id: organizationId, id, status: 'OPEN', charged_at: null})
			.update({charged_at: now, gateway_ref: gatewayRef, gateway_ref2: gatewayRef2, updated_at: now});
		return count > 0;
	},

	/** The organization's charges of which nobody knows yet what came of them, the oldest first. */
	listUnanswered: async (organizationId: string): Promise<BillingAttempt[]> => {
		const rows: AttemptRow[] = await db('billing_attempts')
			.where({organization_id: organizationId, status: 'OPEN'})
			.whereNotNull('charged_at')
			.orderBy('created_at');
		return rows.map(toAttempt);
	},

	/** Writes down that the gateway is being asked what became of one. */
	noteAsked: async ({organizationId, id}: BillingAttempt, now: Date): Promise<void> => {
		await db('billing_attempts').where({organization_id: organizationId, id}).update({asked_at: now, updated_at: now});
	},

	/**
	 * Attempts that may have been paid without our being told, neither made nor charged nor asked about since `before`,
	 * the longest first: the open ones, and superseded ones until a charge was answered for, or a checkout asked about
	 * `lifeMinutes` after it was made, however late it was superseded.
	 */
	listUntold: async (
		{before, lifeMinutes}: {before: Date; lifeMinutes: number},
		limit: number,
	): Promise<BillingAttempt[]> => {
		const rows: AttemptRow[] = await db('billing_attempts')
			.where({gateway: 'GATEWAY_B'})
			.whereRaw(`${LAST_KNOWN} <= ?`, [before])
			.whereRaw(
				`(status = 'OPEN' OR (status = 'SUPERSEDED' AND gateway_ref IS NOT NULL AND (charged_at IS NOT NULL
					OR asked_at IS NULL OR asked_at < created_at + make_interval(mins => ?))))`,
				[lifeMinutes],
			)
			.orderByRaw(LAST_KNOWN)
			.limit(limit);
		return rows.map(toAttempt);
	},
});
