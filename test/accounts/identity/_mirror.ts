import {randomUUID} from 'node:crypto';
import type {ExecutionContext} from 'ava';
import type {Delivery} from '../../fakes/identity-provider/identity-provider.ts';
import type {MembershipRecord} from '../../fakes/identity-provider/present.ts';
import type {WebhookEvent} from '../../fakes/shared/webhook-queue.ts';
import type {Portal} from '../../helpers/portal.ts';

/** The service's records of an organization, without the parts that differ between runs. */
export const mirrored = async ({services: {db}}: Portal, organization: {id: string}) => {
	const [row] = await db('organizations').where({clerk_org_id: organization.id});
	if (row === undefined) {
		return null;
	}

	const members: unknown[] = await db('org_members')
		.join('users', 'users.id', 'org_members.user_id')
		.where({organization_id: row.id})
		.orderBy('clerk_user_id')
		.select('clerk_user_id as user', 'users.email', 'users.name', 'org_members.role');
	const channels: string[] = await db('channels').where({organization_id: row.id}).orderBy('name').pluck('name');
	const {name, status, plan, is_ops_org: isOps, contact_email: contactEmail} = row;
	return {name, status, plan, isOps, contactEmail, members, channels: channels.length};
};

/** The mirrored person of that id, or null. */
export const mirroredUser = async ({services: {db}}: Portal, user: {id: string}) => {
	const [row] = await db('users').where({clerk_user_id: user.id}).select('email', 'name', 'role', 'last_login_at');
	return row ?? null;
};

/** A unique address. */
export const address = (): string => `${randomUUID().slice(0, 12)}@acme.test`;

/** Asserts that each delivery was taken. */
export const taken = (t: ExecutionContext, deliveries: Delivery[]): void => {
	for (const {event, status, body} of deliveries) {
		t.deepEqual({type: event.type, status, body}, {type: event.type, status: 200, body: {received: true}});
	}
};

/** Delivers events one after another, each of which is taken. */
export const deliverTo =
	(portal: Portal) =>
	async (t: ExecutionContext, ...events: WebhookEvent[]): Promise<void> =>
		taken(t, await portal.provider.deliver(portal, ...events));

/** Delivers the events that name any of these, in their order. */
export const deliverAbout = async (t: ExecutionContext, portal: Portal, ...refs: Array<{id: string}>) =>
	taken(t, await portal.provider.deliver(portal, ...portal.provider.eventsAbout(...refs)));

/** What differs from a membership as it is; what is undefined is not sent. */
export type MembershipChanges = {[K in keyof MembershipRecord]?: MembershipRecord[K] | undefined};

/** An event of the test's own making, with the data of a membership changed. */
export const membershipEvent = (
	{provider}: Portal,
	type: 'created' | 'updated' | 'deleted',
	membership: MembershipRecord,
	changes: MembershipChanges = {},
): WebhookEvent => provider.event(`organizationMembership.${type}`, {...membership, ...changes});

/** Every order of some things. */
export const orders = <T>(items: readonly T[]): T[][] =>
	items.length < 2
		? [[...items]]
		: items.flatMap((item, index) => orders(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
