import type {Claimed, Sending} from './claim-deliveries.ts';

/** A delivery that this process sends. */
export type Slot = Pick<Claimed, 'id' | 'endpointId' | 'organizationId' | 'leasedUntil'>;

/**
 * The deliveries that this process sends. One whose attempt outlives its lease gives its slot back: the delivery is
 * anybody's by then, and a fault of ours must not stop the others for good.
 */
export const createSlots = () => {
	const taken = new Set<Slot>();
	const overdue = new Set<Slot>();
	return {
		take: (slot: Slot): void => void taken.add(slot),
		/** The attempt has ended. */
		release: (slot: Slot): void => {
			taken.delete(slot);
			overdue.delete(slot);
		},
		/** @returns the slots that are given back. */
		giveBackOverdue: (now: Date): Slot[] => {
			const late = [...taken].filter(({leasedUntil}) => leasedUntil <= now);
			for (const slot of late) {
				taken.delete(slot);
				overdue.add(slot);
			}

			return late;
		},
		taken: (): number => taken.size,
		/** Attempts that have outlived their leases and not ended. */
		overdue: (): number => overdue.size,
		sending: (): Sending[] => {
			const byEndpoint = new Map<string, Sending>();
			for (const {endpointId: endpoint, organizationId: organization} of taken) {
				const known = byEndpoint.get(endpoint)?.sending ?? 0;
				byEndpoint.set(endpoint, {endpoint, organization, sending: known + 1});
			}

			return [...byEndpoint.values()];
		},
	};
};
