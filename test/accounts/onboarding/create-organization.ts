import test from 'ava';
import {ops, portalOf, session} from '../../helpers/portal.ts';
import {createOrganization, newcomer, organizationsNamed, uniqueName} from './_newcomer.ts';

const portal = portalOf(test);

const path = '/portal/onboarding/create-organization';

test('a new user creates an organization and is its owner on both sides', async (t) => {
	const mona = newcomer(portal);
	const name = uniqueName();
	const {status, body} = await mona.caller.post(path, {name});
	t.is(status, 201);
	t.like(body, {name, status: 'ACTIVE', plan: null, contactEmail: mona.email});
	t.regex(body.orgKey, /^[A-Za-z0-9]{4}$/);
	t.deepEqual(Object.keys(body).toSorted(), ['contactEmail', 'createdAt', 'id', 'name', 'orgKey', 'plan', 'status']);

	const {there, here} = await organizationsNamed(portal, name);
	t.is(there.length, 1);
	t.like(here, [{id: body.id, clerk_org_id: there[0]?.id}]);
	const members = [...portal.provider.directory.memberships.values()].filter(
		({organizationId}) => organizationId === there[0]?.id,
	);
	t.like(members, [{userId: mona.user.id, public_metadata: {role: 'owner'}}]);
	const team = await mona.in(there[0]?.id ?? '').get('/portal/team');
	t.is(team.status, 200);
	t.like(team.body, {total: 1, data: [{email: mona.email, name: 'Mona Lisa', role: 'OWNER'}]});
	const channels = await mona.in(there[0]?.id ?? '').get('/portal/channels');
	t.true(channels.body.total > 0);
});

test('the creation is audited with its actor', async (t) => {
	const mona = newcomer(portal);
	const {organization, clerkOrgId} = await createOrganization(portal, mona);
	const {status, body} = await mona.in(clerkOrgId).get('/portal/audit-log');
	t.is(status, 200);
	const made = body.data.find(
		({action, entityType}: {action: string; entityType: string}) =>
			action === 'CREATE' && entityType === 'Organization',
	);
	t.like(made, {entityId: organization.id, actor: {type: 'USER', id: mona.user.id}});
});

test('an organization that was just created can have its first link', async (t) => {
	const mona = newcomer(portal);
	const {clerkOrgId} = await createOrganization(portal, mona);
	const owner = mona.in(clerkOrgId);
	t.is((await owner.post('/portal/onboarding/select-plan', {plan: 'STARTER'})).status, 200);
	await owner.put('/portal/app-config', {android: [], fallbackUrl: 'https://www.example.com'});
	const {status} = await owner.post('/portal/links', {path: '/sale'});
	t.is(status, 201);
});

test('an owner cannot create a second organization', async (t) => {
	const mona = newcomer(portal);
	const {clerkOrgId} = await createOrganization(portal, mona);
	for (const caller of [mona.caller, mona.in(clerkOrgId)]) {
		const name = uniqueName();
		const {status, body} = await caller.post(path, {name});
		t.is(status, 409);
		t.is(body.message, 'The user already belongs to an organization');
		t.deepEqual(await organizationsNamed(portal, name), {there: [], here: []});
	}
});

test('somebody of an organization that only the provider knows yet cannot create one, and is mirrored', async (t) => {
	const mona = newcomer(portal);
	const other = portal.provider.organization({name: uniqueName()});
	portal.provider.member({organization: other, user: mona.user, role: 'analyst'});
	const name = uniqueName();
	const {status, body} = await mona.caller.post(path, {name});
	t.is(status, 409);
	t.is(body.message, 'The user already belongs to an organization');
	t.deepEqual(await organizationsNamed(portal, name), {there: [], here: []});
	const state = await mona.caller.get('/portal/onboarding/state');
	t.like(state.body, {organization: {name: other.name}, nextStep: 'select-plan'});
});

test('a member of the ops organization cannot create one', async (t) => {
	const name = uniqueName();
	const {status} = await ops(portal).caller.post(path, {name});
	t.is(status, 409);
	t.deepEqual(await organizationsNamed(portal, name), {there: [], here: []});
});

test('a name in use is refused without case, and nothing stays at the provider', async (t) => {
	const name = uniqueName();
	await createOrganization(portal, newcomer(portal), name);
	const lisa = newcomer(portal);
	const {status, body} = await lisa.caller.post(path, {name: name.toUpperCase()});
	t.is(status, 409);
	t.is(body.message, `An organization named '${name.toUpperCase()}' already exists`);
	t.deepEqual(await organizationsNamed(portal, name.toUpperCase()), {there: [], here: []});

	// Events of records created and deleted meanwhile arrive late, in any order.
	const records = portal.provider.eventsAbout(lisa.user).map((event) => JSON.parse(event.body).data);
	const gone = records.find(({object}) => object === 'organization');
	const events = portal.provider.eventsAbout(gone.id, lisa.user);
	t.true(events.some(({type}) => type === 'organization.deleted'));
	const deliveries = await portal.provider.deliverTogether(portal.url, ...events.toReversed());
	t.true(deliveries.every((delivery) => delivery.status === 200));
	t.deepEqual(await organizationsNamed(portal, name.toUpperCase()), {there: [], here: []});
	const again = await lisa.caller.post(path, {name: uniqueName()});
	t.is(again.status, 201);
});

test('a name is refused before anything is asked of the provider', async (t) => {
	const mona = newcomer(portal);
	for (const body of [{}, {name: ''}, {name: 'x'.repeat(256)}, {name: 7}, {name: 'Acme', plan: 'SCALE'}]) {
		const {status} = await mona.caller.post(path, body);
		t.is(status, 400);
	}

	t.deepEqual(
		portal.provider.calls.filter((call) => call.path.includes(mona.user.id)),
		[],
	);
});

test('a name rejected by the provider is 400 with its message', async (t) => {
	const {status, body} = await newcomer(portal).caller.post(path, {name: 'https://acme.test'});
	t.is(status, 400);
	t.regex(body.message, /URL/);
});

test('the provider’s events of a creation change nothing', async (t) => {
	const mona = newcomer(portal);
	const {organization, clerkOrgId} = await createOrganization(portal, mona);
	const events = portal.provider.eventsAbout(clerkOrgId, mona.user);
	const deliveries = await portal.provider.deliverTogether(portal.url, ...events, ...events.toReversed());
	t.true(deliveries.every(({status}) => status === 200));
	const owner = mona.in(clerkOrgId);
	t.deepEqual((await owner.get('/portal/organization')).body, organization);
	t.like((await owner.get('/portal/team')).body, {total: 1, data: [{email: mona.email, role: 'OWNER'}]});
});

test('a former member of an organization deleted at the provider may create another', async (t) => {
	const mona = newcomer(portal);
	const {clerkOrgId} = await createOrganization(portal, mona);
	portal.provider.deleteOrganization(clerkOrgId);
	await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(clerkOrgId));
	t.is((await mona.in(clerkOrgId).get('/portal/organization')).status, 403);
	t.like((await mona.caller.get('/portal/onboarding/state')).body, {organization: null});
	t.is((await mona.caller.post(path, {name: uniqueName()})).status, 201);
});

test('a member of a suspended organization stays in it', async (t) => {
	const mona = newcomer(portal);
	const {organization} = await createOrganization(portal, mona);
	await portal.services.db('organizations').where({id: organization.id}).update({status: 'SUSPENDED'});
	t.is((await mona.caller.post(path, {name: uniqueName()})).status, 409);
	const state = await mona.caller.get('/portal/onboarding/state');
	t.is(state.status, 403);
	t.is(state.body.message, 'Organization is not active');
});

test('a session without a user is refused', async (t) => {
	const {user} = newcomer(portal);
	const {status} = await session(portal, {user, signedBy: 'foreign'}).post(path, {name: uniqueName()});
	t.is(status, 401);
});
