import test from 'ava';
import {forgetDeliveries} from '../../../src/accounts/identity/forget-deliveries.ts';
import {organization as organizationMadeHere} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {portalOf, session, startPortal} from '../../helpers/portal.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {address, deliverAbout, mirrored, taken} from './_mirror.ts';

const portal = portalOf(test);

const auditOf = async (id: string) => (await admin(portal).get(`/admin/organizations/${id}/audit-log`)).body.data;
const idOf = async (organization: {id: string}): Promise<string> =>
	(await portal.services.db('organizations').where({clerk_org_id: organization.id}).first('id')).id;

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
	const [created, updated] = portal.provider.eventsAbout(organization);
	t.truthy(created && updated);
	taken(t, await portal.provider.deliver(portal, ...(updated ? [updated] : [])));
	t.like(await mirrored(portal, organization), {name: 'After', status: 'ACTIVE', channels: 9});
	taken(t, await portal.provider.deliver(portal, ...(created ? [created] : [])));
	t.like(await mirrored(portal, organization), {name: 'After'}, 'the older event is stale');
});

test('a repeated delivery changes nothing, whatever it says the second time', async (t) => {
	const organization = portal.provider.organization({name: 'Repeated'});
	const [event] = portal.provider.eventsAbout(organization);
	if (event === undefined) {
		return t.fail();
	}

	taken(t, await portal.provider.deliver(portal, event, event));
	const id = await idOf(organization);
	const operator = admin(portal);
	await operator.patch(`/admin/organizations/${id}`, {name: 'Named by the operator'});
	taken(t, await portal.provider.deliver(portal, event));
	t.like(await mirrored(portal, organization), {name: 'Named by the operator'});
	t.is((await auditOf(id)).length, 2);
});

test('a name that was given here stays until the provider gives another', async (t) => {
	const organization = portal.provider.organization({name: 'At the provider'});
	await deliverAbout(t, portal, organization);
	const id = await idOf(organization);
	t.is((await admin(portal).patch(`/admin/organizations/${id}`, {name: 'Here'})).status, 200);
	portal.provider.updateOrganization(organization, {publicMetadata: {tier: 2}});
	await deliverAbout(t, portal, organization);
	t.like(await mirrored(portal, organization), {name: 'Here'});
	portal.provider.updateOrganization(organization, {name: 'Somewhere else'});
	await deliverAbout(t, portal, organization);
	t.like(await mirrored(portal, organization), {name: 'Somewhere else'});
});

test('a mirrored organization has the provider’s name, even if another one here has it', async (t) => {
	const here = await organizationMadeHere(portal, {name: 'Twice there'});
	const [one, other] = [
		portal.provider.organization({name: 'twice THERE'}),
		portal.provider.organization({name: 'Once there'}),
	];
	portal.provider.updateOrganization(other, {name: 'Twice there'});
	taken(t, await portal.provider.deliverTogether(portal, ...portal.provider.eventsAbout(one, other)));
	t.like(await mirrored(portal, one), {name: 'twice THERE'});
	t.like(await mirrored(portal, other), {name: 'Twice there'});
	const operator = admin(portal);
	t.is((await operator.post('/admin/organizations', {name: 'TWICE there'})).status, 409, 'a new one may not');
	const id = await idOf(one);
	t.is((await operator.patch(`/admin/organizations/${id}`, {name: 'twice there'})).status, 200, 'its own name');
	t.is((await operator.patch(`/admin/organizations/${id}`, {name: 'Newly made alone'})).status, 200);
	t.is((await operator.patch(`/admin/organizations/${id}`, {name: 'Twice there'})).status, 409, 'another name');
	t.is((await operator.get(`/admin/organizations/${here.id}`)).body.name, 'Twice there');
});

test('many organizations of one name, all at once, are all mirrored', async (t) => {
	const all = Array.from({length: 12}, () => portal.provider.organization({name: 'The same for all'}));
	taken(t, await portal.provider.deliverTogether(portal, ...portal.provider.eventsAbout(...all)));
	for (const each of all) {
		t.like(await mirrored(portal, each), {name: 'The same for all', status: 'ACTIVE'});
	}
});

test('organization.deleted suspends: links are 410, keys 401, members 403; no later event brings it back', async (t) => {
	const user = portal.provider.user({email: address()});
	const organization = portal.provider.organization({name: 'To be deleted', createdBy: user});
	await deliverAbout(t, portal, organization, user);
	const id = await idOf(organization);
	const caller = session(portal, {user, organization, role: 'owner'});
	t.is((await caller.get('/portal/api-keys')).status, 200);
	portal.provider.updateOrganization(organization, {name: 'Renamed in the end'});
	const late = portal.provider.eventsAbout(organization);
	portal.provider.deleteOrganization(organization);
	const deleted = portal.provider.eventsAbout(organization).filter((event) => !late.includes(event));
	taken(t, await portal.provider.deliver(portal, ...deleted, ...late));
	t.like(await mirrored(portal, organization), {name: 'Renamed in the end', status: 'SUSPENDED'});
	const answer = await caller.get('/portal/api-keys');
	t.like(answer, {status: 403, body: {message: 'Organization is not active'}});
	t.true((await auditOf(id)).some(({action}: {action: string}) => action === 'SUSPEND'));
});

test('an organization whose deletion came first is suspended from the start', async (t) => {
	const organization = portal.provider.organization({name: 'Gone before it came'});
	const created = portal.provider.eventsAbout(organization);
	portal.provider.deleteOrganization(organization);
	const [deleted] = portal.provider.eventsAbout(organization).filter((event) => !created.includes(event));
	taken(t, await portal.provider.deliver(portal, ...(deleted ? [deleted] : []), ...created));
	t.like(await mirrored(portal, organization), {status: 'SUSPENDED', channels: 9});
});

test('an event without the id it is about is acknowledged and passed over', async (t) => {
	const types = [
		'organization.created',
		'organization.updated',
		'organization.deleted',
		'user.created',
		'user.updated',
	];
	const more = ['created', 'updated', 'deleted'].map((kind) => `organizationMembership.${kind}`);
	for (const type of [...types, ...more]) {
		for (const data of [undefined, null, 'text', [], {}, {id: 5}, {id: ''}, {id: 'a\u0000b', name: 'x'}]) {
			taken(t, await portal.provider.deliver(portal, portal.provider.event(type, data)));
		}
	}
});

test('odd values of the provider are stored as far as they can be, and never fail a delivery', async (t) => {
	const id = portal.provider.organization().id;
	const odd = {name: `Nul\u0000l and half \uD83D ${'x'.repeat(400)}`, created_at: 'soon', updated_at: 1e300};
	taken(t, await portal.provider.deliver(portal, portal.provider.event('organization.created', {id, ...odd})));
	const rows = await mirrored(portal, {id});
	t.true(rows?.name.startsWith('Null and half'));
	t.is(rows?.name.length, 255);
	taken(
		t,
		await portal.provider.deliver(portal, portal.provider.event('organization.updated', {id, name: '', slug: 7})),
	);
	t.like(await mirrored(portal, {id}), {name: id}, 'without a name it is called by its id');
});

test('events of other types are acknowledged and change nothing', async (t) => {
	const user = portal.provider.user();
	taken(
		t,
		await portal.provider.deliver(
			portal,
			...['user.deleted', 'session.created', 'organizationInvitation.accepted', 'organizationDomain.created', ''].map(
				(type) => portal.provider.event(type, user),
			),
		),
	);
	t.deepEqual(await portal.services.db('users').where({clerk_user_id: user.id}), []);
});

test('only POST is a webhook', async (t) => {
	t.is((await anonymous(portal).get('/webhooks/idp')).status, 404);
	t.is((await anonymous(portal).post('/webhooks/other', {})).status, 404);
});

test('deliveries are forgotten after 30 days, deletions after 400', async (t) => {
	const clock = createFakeClock();
	const own = await startPortal({}, clock);
	t.teardown(() => own.stop());
	const {db, background} = own.services;
	const user = own.provider.user();
	const organization = own.provider.organization({createdBy: user});
	own.provider.updateMember(organization, user, {role: 'admin'});
	const [early] = own.provider.eventsAbout(user).filter(({type}) => type.endsWith('Membership.updated'));
	own.provider.deleteOrganization(organization);
	taken(t, await own.provider.deliver(own, ...own.provider.events, ...(early ? [early] : [])));

	const left = async () => [(await db('webhook_deliveries')).length > 0, (await db('identity_tombstones')).length > 0];
	clock.advance(29 * 24 * 3600);
	await forgetDeliveries(own.services);
	t.deepEqual(await left(), [true, true]);
	clock.advance(2 * 24 * 3600);
	await forgetDeliveries(own.services);
	t.deepEqual(await left(), [false, true]);
	clock.advance(370 * 24 * 3600);
	await forgetDeliveries(own.services);
	t.deepEqual(await left(), [false, false]);
	await background.settle();
});
