import test from 'ava';
import {auditOf} from '../../helpers/audit.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {member, ops, portalOf, session} from '../../helpers/portal.ts';

const portal = portalOf(test);

const path = '/portal/organization';
const atProvider = (clerkOrgId: string) => portal.provider.directory.organizations.get(clerkOrgId);

test('every member reads the organization', async (t) => {
	const {caller, organization} = await member(portal);
	const {status, body} = await caller.get(path);
	t.is(status, 200);
	const {createdAt, ...rest} = body;
	t.deepEqual(rest, {
		id: organization.id,
		orgKey: organization.orgKey,
		name: organization.name,
		status: 'ACTIVE',
		plan: 'GROWTH',
		contactEmail: null,
	});
	t.is(typeof createdAt, 'string');
});

test('an admin changes name and contact, and the provider follows', async (t) => {
	const {caller, organization, clerkOrgId, user} = await member(portal, {role: 'admin'});
	const name = `New ${organization.name}`;
	const {status, body} = await caller.patch(path, {name, contactEmail: 'ops@acme.test'});
	t.is(status, 200);
	t.like(body, {id: organization.id, name, contactEmail: 'ops@acme.test'});
	const records = await auditOf(portal, organization.id, 'Organization');
	t.like(
		records.filter(({action}) => action === 'UPDATE'),
		[{actor: {type: 'USER', id: user.id}, details: {name, contactEmail: 'ops@acme.test'}}],
	);
	await portal.services.background.settle();
	t.is(atProvider(clerkOrgId)?.name, name);
	await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(clerkOrgId));
	t.like((await caller.get(path)).body, {name, contactEmail: 'ops@acme.test'});
});

test('a change of nothing changes nothing', async (t) => {
	const {caller, organization} = await member(portal, {role: 'admin'});
	t.like((await caller.patch(path, {})).body, {name: organization.name});
	const records = await auditOf(portal, organization.id, 'Organization');
	t.false(records.some(({action}) => action === 'UPDATE'));
});

test('a name stays if the provider cannot be updated, whatever its later events say', async (t) => {
	const {caller, organization, clerkOrgId} = await member(portal, {role: 'admin'});
	portal.provider.fail({method: 'PATCH', path: `/organizations/${clerkOrgId}`, status: 404});
	await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(clerkOrgId));
	const name = `New ${organization.name}`;
	t.is((await caller.patch(path, {name})).status, 200);
	await portal.services.background.settle();
	t.is(atProvider(clerkOrgId)?.name, organization.name);
	portal.provider.updateOrganization(clerkOrgId, {publicMetadata: {color: 'blue'}});
	await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(clerkOrgId));
	t.is((await caller.get(path)).body.name, name);

	portal.provider.updateOrganization(clerkOrgId, {name: `Newer ${organization.name}`});
	await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(clerkOrgId));
	t.is((await caller.get(path)).body.name, `Newer ${organization.name}`);
});

test('a name in use is 409, without case', async (t) => {
	const [one, other] = [await member(portal, {role: 'admin'}), await member(portal)];
	const name = other.organization.name.toUpperCase();
	const {status, body} = await one.caller.patch(path, {name});
	t.is(status, 409);
	t.is(body.message, `An organization named '${name}' already exists`);
	t.is((await one.caller.get(path)).body.name, one.organization.name);
});

test('bad values of an organization are 400', async (t) => {
	const {caller} = await member(portal, {role: 'admin'});
	for (const body of [{name: ''}, {name: null}, {contactEmail: 'nobody'}, {plan: 'SCALE'}, {status: 'ACTIVE'}]) {
		t.is((await caller.patch(path, body)).status, 400, JSON.stringify(body));
	}
});

test('a developer changes nothing, and an admin deletes nothing', async (t) => {
	const {caller} = await member(portal, {role: 'developer'});
	t.is((await caller.patch(path, {name: 'Mine'})).status, 403);
	const {caller: notOwner} = await member(portal, {role: 'admin'});
	const {status, body} = await notOwner.delete(path);
	t.is(status, 403);
	t.is(body.message, 'Insufficient role');
});

test('an owner deletes the organization on both sides, and its links are gone', async (t) => {
	const {caller, organization, clerkOrgId, user} = await member(portal, {role: 'owner', plan: 'STARTER'});
	const made = await caller.post('/portal/links', {path: '/sale'});
	const {shortCode} = made.body;
	t.is((await anonymous(portal).get(`/${organization.orgKey}/${shortCode}`)).status, 200);
	const {status, body} = await caller.delete(path);
	t.is(status, 200);
	t.deepEqual(body, {id: organization.id, deleted: true});
	t.is(atProvider(clerkOrgId), undefined);
	t.is((await anonymous(portal).get(`/${organization.orgKey}/${shortCode}`)).status, 404);
	// A token lives on for a while.
	const gone = await session(portal, {user: user.clerkUserId, organization: clerkOrgId, role: 'owner'}).get(path);
	t.is(gone.status, 403);
	t.is(gone.body.message, 'User does not belong to a valid organization');
	t.is((await organization.server.get('/links')).status, 401);
	const records = await auditOf(portal, organization.id, 'Organization');
	t.true(records.some(({action, actor}) => action === 'DELETE' && actor.id === user.id));
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
	t.deepEqual(await portal.services.db('organizations').where({clerk_org_id: clerkOrgId}), []);
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
			delivered = portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(clerkOrgId));
			return true;
		},
	});
	t.is((await caller.delete(path)).status, 200);
	t.true((await delivered).every(({status}) => status === 200));
	t.deepEqual(await portal.services.db('organizations').where({clerk_org_id: clerkOrgId}), []);
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
	t.like(await replaced, {status: 404, body: {message: 'Organization not found'}});
});

test('an organization that pays is not deleted, here or at the provider', async (t) => {
	const {caller, organization, clerkOrgId} = await member(portal, {role: 'owner', plan: 'SCALE'});
	const {status} = await caller.delete(path);
	t.is(status, 409);
	t.truthy(atProvider(clerkOrgId));
	t.is((await organization.server.get('/links')).status, 200);
});

test('a provider that fails keeps the organization whole', async (t) => {
	const {caller, clerkOrgId, organization} = await member(portal, {role: 'owner', plan: null});
	const fault = portal.provider.fail({method: 'DELETE', path: `/organizations/${clerkOrgId}`, status: 500, times: 3});
	const {status, body} = await caller.delete(path);
	t.is(status, 502);
	t.is(body.message, 'Identity provider unavailable');
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
