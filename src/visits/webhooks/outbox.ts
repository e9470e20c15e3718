import {type LinkOwner, type LinkRow, linkJson} from '../../links/links/link.ts';
import {readReferences} from '../../links/links/link-references.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {execute, literal, run, sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import {insertDeliveries, type NewDelivery} from './delivery-store.ts';
import type {EventType} from './endpoint.ts';
import {deliveriesOf, type Listeners, readListeners, readWrittenLabels} from './listeners.ts';

/** A row that was written in the transaction of its event. */
type Row = {id: string; organizationId: string; type: EventType; at: Date; data: object};

/** The row of a link in JSON, which has no dates. */
type LinkData = Omit<LinkRow, 'expiry' | 'created_at' | 'updated_at'> & {
	expiry: string | null;
	created_at: string;
	updated_at: string;
};

/** Rows of a transaction. */
const MAX_COUNT = 500;

type Deps = Pick<Services, 'addresses' | 'clock' | 'config' | 'db' | 'linkPolicy' | 'log'>;

/** Writes an event in the transaction of its cause; nothing if no endpoint is subscribed. */
export const writeOutbox = async (trx: Db, {organizationId, type, at, data}: Omit<Row, 'id'>): Promise<void> => {
	await execute(
		trx,
		sql`INSERT INTO webhook_outbox (organization_id, type, at, data)
		SELECT ${organizationId}::uuid, ${type}::text, ${at}::timestamptz, ${JSON.stringify(data)}::jsonb
		WHERE wants_webhook(${organizationId}, ${type})`,
	);
};

const isOfLink = ({type}: Row): boolean => type.startsWith('link.');

/** A stored row of a link, as the trigger wrote it: JSON has no dates. */
const linkOf = ({data}: Row): LinkRow => {
	const {expiry, created_at: createdAt, updated_at: updatedAt, ...row} = data as LinkData;
	return {
		...row,
		expiry: expiry === null ? null : new Date(expiry),
		created_at: new Date(createdAt),
		updated_at: new Date(updatedAt),
	};
};

/** The events of the rows of one organization, with data as the API shows it, and with the link of events about one. */
const eventsOf = async (services: Deps, trx: Db, owner: LinkOwner, rows: readonly Row[], listeners: Listeners) => {
	const links = new Map(rows.filter(isOfLink).map((row) => [row.id, linkOf(row)]));
	const references = links.size === 0 ? null : await readReferences(services, trx, owner, {links: [...links.values()]});
	const labels = await readWrittenLabels(
		trx,
		listeners,
		[...links].map(([id, {template_id, tags, channel}]) => ({id, template_id, tags, channel})),
	);
	return rows.map(({id, organizationId, type, at, data}) => {
		const link = links.get(id);
		if (link === undefined || references === null) {
			return {organizationId, type, at, data, link: null};
		}

		const shown =
			type === 'link.deleted'
				? {id: link.id, shortCode: link.short_code, externalId: link.external_id}
				: linkJson(services.addresses, owner, references.view(link));
		return {organizationId, type, at, data: shown, link: labels.get(id) ?? null};
	});
};

/** Turns rows of the outbox into deliveries. @returns the number of rows. */
export const emptyOutbox = (services: Deps): Promise<number> =>
	inTransaction(services.db, async (trx) => {
		const rows = await run<Row>(
			trx,
			sql`DELETE FROM webhook_outbox
			WHERE id IN (SELECT id FROM webhook_outbox ORDER BY at, id LIMIT ${literal(MAX_COUNT)} FOR UPDATE SKIP LOCKED)
			RETURNING id, organization_id AS "organizationId", type, at, data`,
		);
		if (rows.length === 0) {
			return 0;
		}

		const ids = [...new Set(rows.map(({organizationId}) => organizationId))];
		const listeners = await readListeners(trx, [...new Set(rows.map(({type}) => type))], ids);
		const owners: LinkOwner[] = await trx('organizations')
			.whereIn('id', [...listeners.keys()])
			.select('id', {
				orgKey: 'org_key',
				defaultDomainId: 'default_domain_id',
				plan: 'plan',
				entitledUntil: 'entitled_until',
			});
		const deliveries: NewDelivery[] = [];
		for (const owner of owners) {
			const own = rows
				.filter(({organizationId}) => organizationId === owner.id)
				.toSorted((one, other) => one.at.getTime() - other.at.getTime());
			for (const happened of await eventsOf(services, trx, owner, own, listeners)) {
				deliveries.push(...deliveriesOf(listeners.get(owner.id) ?? [], happened));
			}
		}

		await insertDeliveries(trx, deliveries, services.clock.now());
		return rows.length;
	});
