import test from 'ava';
import {
	readEndedMembership,
	readMembership,
	readOrganization,
	readRecordId,
	readUser,
} from '../../../src/accounts/identity/provider-payloads.ts';
import {applyRetention} from '../../../src/operations/jobs/retention.ts';
import type {WebhookEvent} from '../../fakes/shared/webhook-queue.ts';
import {organization as organizationMadeHere} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {portalOf, session} from '../../helpers/portal.ts';
import {address, deliverAbout, deliverTo, mirrored, taken} from './_mirror.ts';

const portal = portalOf(test);
const deliver = deliverTo(portal);

const auditOf = async (id: string) => (await admin(portal).get(`/admin/organizations/${id}/audit-log`)).body.data;
const idOf = async (organization: {id: string}): Promise<string> =>
	(await portal.services.db('organizations').where({clerk_org_id: organization.id}).first('id')).id;
/** Renames an organization of the provider's here. @returns the status. */
const renameHere = async (organization: {id: string}, name: string): Promise<number> =>
	(await admin(portal).patch(`/admin/organizations/${await idOf(organization)}`, {name})).status;

test('organization.created makes an active organization with an orgKey, the channels and no plan, by SYSTEM', async (t) => {
	const organization = portal.provider.organization({name: 'Newly made'});
	await deliverAbout(t, portal, organization);
	t.deepEqual(await mirrored(portal, organization), {
		name: 'Newly made',
		status: 'ACTIVE',
		plan: null,
		isOps: false,
		contactEmail: null,
		members: [],
		channels: 9,
	});
	const id = await idOf(organization);
	const {body} = await admin(portal).get(`/admin/organizations/${id}`);
	t.regex(body.orgKey, /^[A-Za-z0-9]{4}$/);
	t.like((await auditOf(id))[0], {
		action: 'CREATE',
		entityType: 'Organization',
		entityId: id,
		organizationId: id,
		actor: {type: 'SYSTEM'},
		details: {name: 'Newly made', clerkOrgId: organization.id},
	});
});

test('organization.updated renames an organization, or creates an unknown one', async (t) => {
	const organization = portal.provider.organization({name: 'Before'});
	portal.provider.updateOrganization(organization, {name: 'After'});
	const [created, updated] = portal.provider.eventsAbout(organization) as [WebhookEvent, WebhookEvent];
	await deliver(t, updated);
	t.like(await mirrored(portal, organization), {name: 'After', status: 'ACTIVE', channels: 9});
	await deliver(t, created);
	t.like(await mirrored(portal, organization), {name: 'After'}, 'the older event is stale');
});

test('a repeated delivery changes nothing, whatever it says the second time', async (t) => {
	const organization = portal.provider.organization({name: 'Repeated'});
	const events = portal.provider.eventsAbout(organization);
	await deliver(t, ...events, ...events);
	t.is(await renameHere(organization, 'Named by the operator'), 200);
	await deliver(t, ...events);
	t.like(await mirrored(portal, organization), {name: 'Named by the operator'});
	t.is((await auditOf(await idOf(organization))).length, 2);
});

test('a name that was given here stays until the provider gives another', async (t) => {
	const organization = portal.provider.organization({name: 'At the provider'});
	await deliverAbout(t, portal, organization);
	t.is(await renameHere(organization, 'Here'), 200);
	portal.provider.updateOrganization(organization, {publicMetadata: {tier: 2}});
	await deliverAbout(t, portal, organization);
	t.like(await mirrored(portal, organization), {name: 'Here'});
	portal.provider.updateOrganization(organization, {name: 'Somewhere else'});
	await deliverAbout(t, portal, organization);
	t.like(await mirrored(portal, organization), {name: 'Somewhere else'});
});

test('a mirrored organization has the provider’s name, even if another one here has it', async (t) => {
	const here = await organizationMadeHere(portal, {name: 'Twice there'});
	const one = portal.provider.organization({name: 'twice THERE'});
	const other = portal.provider.organization({name: 'Once there'});
	portal.provider.updateOrganization(other, {name: 'Twice there'});
	taken(t, await portal.provider.deliverTogether(portal, ...portal.provider.eventsAbout(one, other)));
	t.like(await mirrored(portal, one), {name: 'twice THERE'});
	t.like(await mirrored(portal, other), {name: 'Twice there'});
	t.is((await admin(portal).post('/admin/organizations', {name: 'TWICE there'})).status, 409, 'a new one may not');
	t.is(await renameHere(one, 'twice there'), 200, 'its own name');
	t.is(await renameHere(one, 'Newly made alone'), 200);
	t.is(await renameHere(one, 'Twice there'), 409, 'another name');
	t.is((await admin(portal).get(`/admin/organizations/${here.id}`)).body.name, 'Twice there');
});

test('many organizations of one name, all at once, are all mirrored', async (t) => {
	const all = Array.from({length: 12}, () => portal.provider.organization({name: 'The same for all'}));
	taken(t, await portal.provider.deliverTogether(portal, ...portal.provider.eventsAbout(...all)));
	for (const each of all) {
		t.like(await mirrored(portal, each), {name: 'The same for all', status: 'ACTIVE'});
	}
});

/** Deletes an organization at the provider. @returns the event of that. */
const deleteThere = (organization: {id: string}): WebhookEvent => {
	portal.provider.deleteOrganization(organization);
	return portal.provider.eventsAbout(organization).at(-1) as WebhookEvent;
};

test('organization.deleted suspends, which refuses its members; no later event brings it back', async (t) => {
	const user = portal.provider.user({email: address()});
	const organization = portal.provider.organization({name: 'To be deleted', createdBy: user});
	await deliverAbout(t, portal, organization, user);
	const caller = session(portal, {user, organization, role: 'owner'});
	t.is((await caller.get('/portal/api-keys')).status, 200);
	portal.provider.updateOrganization(organization, {name: 'Renamed in the end'});
	const late = portal.provider.eventsAbout(organization);
	await deliver(t, deleteThere(organization), ...late);
	t.like(await mirrored(portal, organization), {name: 'Renamed in the end', status: 'SUSPENDED'});
	const refused = {status: 403, body: {message: 'Organization is not active'}};
	t.like(await caller.get('/portal/api-keys'), refused);
	const audit = await auditOf(await idOf(organization));
	t.true(audit.some(({action}: {action: string}) => action === 'SUSPEND'));
});

test('an organization whose deletion came first is suspended from the start', async (t) => {
	const organization = portal.provider.organization({name: 'Gone before it came'});
	const created = portal.provider.eventsAbout(organization);
	await deliver(t, deleteThere(organization), ...created);
	t.like(await mirrored(portal, organization), {status: 'SUSPENDED', channels: 9});
});

test('an event without the id it is about is acknowledged and passed over', async (t) => {
	for (const data of [undefined, null, 'text', [], {}, {id: 5}, {id: ''}, {id: 'a\u0000b', name: 'x'}]) {
		for (const read of [readOrganization, readRecordId, readUser, readMembership, readEndedMembership]) {
			t.is(read(data), null, `${read.name} ${JSON.stringify(data)}`);
		}
	}

	const types = ['organization', 'organizationMembership', 'user'].flatMap((what) =>
		['created', 'updated', 'deleted'].map((kind) => `${what}.${kind}`),
	);
	await deliver(t, ...types.map((type) => portal.provider.event(type, {id: 5})));
});

test('odd values of the provider are stored as far as they can be, and never fail a delivery', async (t) => {
	const {id} = portal.provider.organization();
	const odd = {name: `Nul\u0000l and half \uD83D ${'😀'.repeat(200)}`, created_at: 'soon', updated_at: 1e300};
	await deliver(t, portal.provider.event('organization.created', {id, ...odd}));
	const rows = await mirrored(portal, {id});
	t.is(rows?.name, `Null and half \uFFFD ${'😀'.repeat(119)}`);
	await deliver(t, portal.provider.event('organization.updated', {id, name: '', slug: 7}));
	t.like(await mirrored(portal, {id}), {name: id}, 'without a name it is called by its id');
});

// Before the others: their deliveries would be left.
test.serial('deliveries are forgotten after 30 days, deletions after 400', async (t) => {
	const {provider, clock, services} = portal;
	const user = provider.user();
	const organization = provider.organization({createdBy: user});
	provider.updateMember(organization, user, {role: 'admin'});
	const early = provider.eventsAbout(user).filter(({type}) => type === 'organizationMembership.updated');
	provider.deleteOrganization(organization);
	await deliver(t, ...provider.events, ...early);

	for (const [days, left] of [
		[0, [true, true]],
		[29, [true, true]],
		[2, [false, true]],
		[370, [false, false]],
	] as const) {
		clock.advance(days * 86_400);
		await applyRetention(services.db, clock.now(), 'forget_deliveries');
		const rows = [await services.db('webhook_deliveries'), await services.db('identity_tombstones')];
		const found = rows.map(({length}) => length > 0);
		t.deepEqual(found, left, `after ${days} days more`);
	}

	await services.background.settle();
});
