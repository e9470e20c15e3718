import type {Db} from '../../platform/db/db.ts';
import type {SnapshotRange} from '../../platform/db/new-rows.ts';
import type {Services} from '../../services.ts';
import type {StreamEvent} from '../reports/stream/click-stream-store.ts';
import type {NewDelivery} from './delivery-store.ts';
import {bodyOf, isSubscribed, type Listeners, readLabels} from './listeners.ts';

/** Maximum clicks of a delivery. */
const MAX_CLICKS = 100;
/** Standard Webhooks: a body has less than 20 KB. */
export const MAX_BYTES = 20_000;

export type ClickDeps = Pick<Services, 'clicks' | 'clock'>;

/** The deliveries of an endpoint's clicks, each within the bounds above. */
const batchesOf = (organizationId: string, endpointId: string, clicks: readonly object[], now: Date): NewDelivery[] => {
	const batches: object[][] = [];
	let bytes = 0;
	for (const click of clicks) {
		const size = Buffer.byteLength(JSON.stringify(click)) + 1;
		const batch = batches.at(-1);
		if (batch === undefined || batch.length === MAX_CLICKS || bytes + size > MAX_BYTES - 200) {
			batches.push([click]);
			bytes = size;
		} else {
			batch.push(click);
			bytes += size;
		}
	}

	return batches.map((batch) => ({
		endpointId,
		organizationId,
		type: 'click.recorded',
		at: now,
		body: bodyOf('click.recorded', now, {clicks: batch}),
	}));
};

/** Whether an event is a click by a person, not by a crawler. */
const isPersonsClick = (event: StreamEvent): event is Extract<StreamEvent, {type: 'click'}> =>
	event.type === 'click' && event.data.botClass === null;

/** Deliveries of the clicks of people that were written between two snapshots. */
export async function* clickDeliveries(
	{clicks: stored, clock}: ClickDeps,
	db: Db,
	listeners: Listeners,
	range: SnapshotRange,
) {
	const waiting = new Map<string, object[]>();
	for await (const page of stored.stream.between(db, range, ['click'])) {
		const own = page.filter(isPersonsClick).filter(({data}) => listeners.has(data.organization?.id ?? ''));
		const links = await readLabels(
			db,
			listeners,
			own.map(({data}) => data.link?.id ?? null),
		);
		const deliveries: NewDelivery[] = [];
		for (const {data} of own) {
			const {organization, botClass: _, ...click} = data;
			const link = links.get(click.link?.id ?? '') ?? null;
			for (const listener of listeners.get(organization?.id ?? '') ?? []) {
				if (isSubscribed(listener, {type: 'click.recorded', link})) {
					waiting.set(listener.id, [...(waiting.get(listener.id) ?? []), click]);
				}
			}
		}

		for (const [organizationId, endpoints] of listeners) {
			for (const {id} of endpoints) {
				deliveries.push(...batchesOf(organizationId, id, waiting.get(id) ?? [], clock.now()));
				waiting.delete(id);
			}
		}

		yield deliveries;
	}
}
