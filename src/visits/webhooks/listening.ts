import type {Db} from '../../platform/db/db.ts';
import type {NewDelivery} from './delivery-store.ts';
import type {EventType} from './endpoint.ts';

/** An endpoint that hears some of what happens now. */
export type Listener = {
	id: string;
	organizationId: string;
	events: string[];
	tags: string[] | null;
	channels: string[] | null;
};

/** What happened, and the link that filters look at; null: none. */
export type Happened = {
	organizationId: string;
	type: EventType;
	at: Date;
	data: object;
	link: {tags: readonly string[] | null; channel: string | null} | null;
};

/** The endpoints that hear one of the types, by their organization. */
export const readListeners = async (
	db: Db,
	types: readonly EventType[],
	organizationIds: readonly string[] | null = null,
): Promise<Map<string, Listener[]>> => {
	const {rows} = await db.raw<{rows: Listener[]}>(
		`SELECT id, organization_id AS "organizationId", events, tags, channels FROM webhook_endpoints
		WHERE enabled AND events && CAST(:types AS text[])
			AND (CAST(:ids AS uuid[]) IS NULL OR organization_id = ANY (CAST(:ids AS uuid[])))`,
		{types: ['*', ...types], ids: organizationIds},
	);
	const byOrganization = new Map<string, Listener[]>();
	for (const row of rows) {
		byOrganization.set(row.organizationId, [...(byOrganization.get(row.organizationId) ?? []), row]);
	}

	return byOrganization;
};

const meets = (wanted: readonly string[] | null, values: readonly string[]): boolean =>
	wanted === null || wanted.some((value) => values.includes(value));

/** Whether the endpoint hears of it: its types, and the tags and channels of the link. */
export const hears = (listener: Listener, {type, link}: Pick<Happened, 'type' | 'link'>): boolean => {
	const isWanted = listener.events.includes('*') || listener.events.includes(type);
	// What is about no link, such as a quota, is not filtered.
	const isAboutLinks = /^(?:link|click|match|event)\./.test(type);
	return (
		isWanted &&
		(!isAboutLinks ||
			(meets(listener.tags, link?.tags ?? []) && meets(listener.channels, link?.channel == null ? [] : [link.channel])))
	);
};

/** What is sent (Standard Webhooks 1.0). */
export const bodyOf = (type: string, at: Date, data: object): string =>
	JSON.stringify({type, timestamp: at.toISOString(), data});

/** The deliveries of what happened: one for each endpoint that hears it. */
export const deliveriesOf = (listeners: readonly Listener[], happened: Happened): NewDelivery[] => {
	const {organizationId, type, at, data} = happened;
	const hearing = listeners.filter((listener) => hears(listener, happened));
	if (hearing.length === 0) {
		return [];
	}

	const body = bodyOf(type, at, data);
	return hearing.map(({id}) => ({endpointId: id, organizationId, type, at, body}));
};
