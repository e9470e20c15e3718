import test from 'ava';
import {auditOf} from '../../helpers/audit.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {member, ops, session} from '../../helpers/portal.ts';
import {portal, refusal, unavailable} from './_team.ts';

const path = '/portal/organization';
const atProvider = (clerkOrgId: string) => portal.provider.directory.organizations.get(clerkOrgId);
const deliverAbout = (clerkOrgId: string) =>
	portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(clerkOrgId));
const recordsOf = async (organizationId: string, wanted: string) =>
	(await auditOf(portal, organizationId, 'Organization')).filter(({action}) => action === wanted);
const mirrored = (clerkOrgId: string) => portal.services.db('organizations').where({clerk_org_id: clerkOrgId});

test('every member reads the organization', async (t) => {
	const {caller, organization} = await member(portal);
	const {status, body} = await caller.get(path);
	t.is(status, 200);
	const {id, orgKey, name} = organization;
	const {createdAt, ...rest} = body;
	t.deepEqual(rest, {id, orgKey, name, status: 'ACTIVE', plan: 'GROWTH', contactEmail: null});
	t.is(typeof createdAt, 'string');
});

test('an admin changes name and contact, and the provider follows', async (t) => {
	const {caller, organization, clerkOrgId, user} = await member(portal, {role: 'admin'});
	const name = `New ${organization.name}`;
	const fields = {name, contactEmail: 'ops@acme.test'};
	t.like(await caller.patch(path, fields), {status: 200, body: {id: organization.id, ...fields}});
	const record = {actor: {type: 'USER', id: user.id}, details: fields};
	t.like(await recordsOf(organization.id, 'UPDATE'), [record]);
	await portal.services.background.settle();
	t.is(atProvider(clerkOrgId)?.name, name);
	await deliverAbout(clerkOrgId);
	t.like((await caller.get(path)).body, fields);
});

test('a change of nothing changes nothing', async (t) => {
	const {caller, organization} = await member(portal, {role: 'admin'});
	t.like((await caller.patch(path, {})).body, {name: organization.name});
	t.deepEqual(await recordsOf(organization.id, 'UPDATE'), []);
});

test('a name stays if the provider cannot be updated, whatever its later events say', async (t) => {
	const {caller, organization, clerkOrgId} = await member(portal, {role: 'admin'});
	portal.provider.fail({method: 'PATCH', path: `/organizations/${clerkOrgId}`, status: 404});
	await deliverAbout(clerkOrgId);
	const name = `New ${organization.name}`;
	t.is((await caller.patch(path, {name})).status, 200);
	await portal.services.background.settle();
	t.is(atProvider(clerkOrgId)?.name, organization.name);
	portal.provider.updateOrganization(clerkOrgId, {publicMetadata: {color: 'blue'}});
	await deliverAbout(clerkOrgId);
	t.is((await caller.get(path)).body.name, name);

	portal.provider.updateOrganization(clerkOrgId, {name: `Newer ${organization.name}`});
	await deliverAbout(clerkOrgId);
	t.is((await caller.get(path)).body.name, `Newer ${organization.name}`);
});

test('an owner deletes the organization on both sides, and its links are gone', async (t) => {
	const {caller, organization, clerkOrgId, user} = await member(portal, {role: 'owner', plan: 'STARTER'});
	const {shortCode} = (await caller.post('/portal/links', {path: '/sale'})).body;
	const visit = async () => (await anonymous(portal).get(`/${organization.orgKey}/${shortCode}`)).status;
	t.is(await visit(), 200);
	t.like(await caller.delete(path), {status: 200, body: {id: organization.id, deleted: true}});
	t.is(atProvider(clerkOrgId), undefined);
	t.is(await visit(), 404);
	// A token lives on for a while.
	const stale = session(portal, {user: user.clerkUserId, organization: clerkOrgId, role: 'owner'});
	t.like(await stale.get(path), refusal(403, 'User does not belong to a valid organization'));
	t.is((await organization.server.get('/links')).status, 401);
	t.like(await recordsOf(organization.id, 'DELETE'), [{actor: {id: user.id}}]);
});

test('no event of a deleted organization brings it back', async (t) => {
	const {caller, clerkOrgId, user} = await member(portal, {role: 'owner', plan: 'STARTER'});
	portal.provider.updateOrganization(clerkOrgId, {publicMetadata: {color: 'blue'}});
	portal.provider.updateMember(clerkOrgId, user.clerkUserId, {color: 'blue'});
	t.is((await caller.delete(path)).status, 200);
	const events = portal.provider.eventsAbout(clerkOrgId);
	t.true(events.length >= 4);
	const deliveries = await portal.provider.deliverTogether(portal.url, ...events);
	t.true(deliveries.every((delivery) => delivery.status === 200));
	const stale = session(portal, {user: user.clerkUserId, organization: clerkOrgId, role: 'owner'});
	t.is((await stale.get('/portal/onboarding/state')).status, 403);
	t.deepEqual(await mirrored(clerkOrgId), []);
});

test('an event that comes while an organization is deleted does not bring it back', async (t) => {
	const {caller, clerkOrgId} = await member(portal, {role: 'owner', plan: 'STARTER'});
	let delivered: Promise<Array<{status: number}>> = Promise.resolve([]);
	portal.provider.fail({
		method: 'DELETE',
		path: `/organizations/${clerkOrgId}`,
		delay: 300,
		when: () => {
			portal.provider.updateOrganization(clerkOrgId, {name: `Newer ${clerkOrgId}`});
			delivered = deliverAbout(clerkOrgId);
			return true;
		},
	});
	t.is((await caller.delete(path)).status, 200);
	t.true((await delivered).every(({status}) => status === 200));
	t.deepEqual(await mirrored(clerkOrgId), []);
});

test('a key that is replaced while its organization is deleted is 404', async (t) => {
	const {caller, organization, clerkOrgId} = await member(portal, {role: 'owner', plan: null});
	await portal.services.db('organizations').where({id: organization.id}).update({plan: 'GROWTH'});
	let replaced: ReturnType<typeof caller.post> | undefined;
	portal.provider.fail({
		method: 'DELETE',
		path: `/organizations/${clerkOrgId}`,
		delay: 1000,
		when: () => {
			replaced = caller.post('/portal/api-keys/SERVER/regenerate');
			return true;
		},
	});
	t.is((await caller.delete(path)).status, 200);
	t.like(await replaced, refusal(404, 'Organization not found'));
});

test('an organization that pays is not deleted, here or at the provider', async (t) => {
	const {caller, organization, clerkOrgId} = await member(portal, {role: 'owner', plan: 'SCALE'});
	t.is((await caller.delete(path)).status, 409);
	t.truthy(atProvider(clerkOrgId));
	t.is((await organization.server.get('/links')).status, 200);
});

test('a provider that fails keeps the organization whole', async (t) => {
	const {caller, clerkOrgId, organization} = await member(portal, {role: 'owner', plan: null});
	const fault = portal.provider.fail({method: 'DELETE', path: `/organizations/${clerkOrgId}`, status: 500, times: 3});
	t.like(await caller.delete(path), unavailable);
	t.like((await caller.get(path)).body, {id: organization.id, status: 'ACTIVE'});
	fault.lift();
	t.is((await caller.delete(path)).status, 200);
});

test('an organization deleted at the provider without an event is deleted here as well', async (t) => {
	const {caller, clerkOrgId} = await member(portal, {role: 'owner', plan: null});
	portal.provider.fail({method: 'DELETE', path: `/organizations/${clerkOrgId}`, hang: true, afterwards: true});
	t.is((await caller.delete(path)).status, 200);
	t.is(atProvider(clerkOrgId), undefined);
});

test('ops deletes for a customer, and so does the operator', async (t) => {
	const one = await member(portal, {plan: null});
	t.is((await ops(portal).caller.delete(`${path}?orgId=${one.organization.id}`)).status, 200);
	t.is(atProvider(one.clerkOrgId), undefined);
	const other = await member(portal, {plan: null});
	t.is((await admin(portal).delete(`/admin/organizations/${other.organization.id}`)).status, 200);
	t.is(atProvider(other.clerkOrgId), undefined);
});
