import test from 'ava';
import {auditOf} from '../../helpers/audit.ts';
import {ops} from '../../helpers/portal.ts';
import {createOrganization, newcomer, organizationsNamed, portal, uniqueName} from './_newcomer.ts';

const path = '/portal/onboarding/create-organization';

test('a new user creates an organization and is its owner on both sides', async (t) => {
	const mona = newcomer();
	const name = uniqueName();
	const {status, body} = await mona.caller.post(path, {name});
	t.is(status, 201);
	t.like(body, {name, status: 'ACTIVE', plan: null, contactEmail: mona.email});
	t.regex(body.orgKey, /^[A-Za-z0-9]{4}$/);
	t.deepEqual(Object.keys(body).toSorted(), ['contactEmail', 'createdAt', 'id', 'name', 'orgKey', 'plan', 'status']);

	const {there, here} = await organizationsNamed(name);
	t.is(there.length, 1);
	t.like(here, [{id: body.id, clerk_org_id: there[0]?.id}]);
	const members = [...portal.provider.directory.memberships.values()].filter(
		({organizationId}) => organizationId === there[0]?.id,
	);
	t.like(members, [{userId: mona.user.id, public_metadata: {role: 'owner'}}]);
	const owner = mona.in(there[0]?.id ?? '');
	const {body: team} = await owner.get('/portal/team');
	t.like(team, {total: 1, data: [{email: mona.email, name: 'Mona Lisa', role: 'OWNER'}]});
	t.true((await owner.get('/portal/channels')).body.total > 0);
	const actor = {type: 'USER', id: mona.user.id};
	const created = (await auditOf(portal, body.id, 'Organization')).filter(({action}) => action === 'CREATE');
	t.like(created, [{entityId: body.id, actor}]);
});

const belongs = {status: 409, body: {message: 'The user already belongs to an organization'}};
const nowhere = {there: [], here: []};

test('an owner cannot create a second organization', async (t) => {
	const mona = newcomer();
	const {clerkOrgId} = await createOrganization(mona);
	for (const caller of [mona.caller, mona.in(clerkOrgId)]) {
		const name = uniqueName();
		t.like(await caller.post(path, {name}), belongs);
		t.deepEqual(await organizationsNamed(name), nowhere);
	}
});

test('somebody of an organization that only the provider knows yet cannot create one, and is mirrored', async (t) => {
	const mona = newcomer();
	const other = portal.provider.organization({name: uniqueName()});
	portal.provider.member({organization: other, user: mona.user, role: 'analyst'});
	const name = uniqueName();
	t.like(await mona.caller.post(path, {name}), belongs);
	t.deepEqual(await organizationsNamed(name), nowhere);
	const {body: state} = await mona.caller.get('/portal/onboarding/state');
	t.like(state, {organization: {name: other.name}, nextStep: 'select-plan'});
});

test('a member of the ops organization cannot create one', async (t) => {
	const name = uniqueName();
	t.is((await ops(portal).caller.post(path, {name})).status, 409);
	t.deepEqual(await organizationsNamed(name), nowhere);
});

test('a name in use is refused without case, and nothing stays at the provider', async (t) => {
	const name = uniqueName();
	await createOrganization(newcomer(), name);
	const lisa = newcomer();
	const taken = name.toUpperCase();
	const answer = await lisa.caller.post(path, {name: taken});
	t.like(answer, {status: 409, body: {message: `An organization named '${taken}' already exists`}});
	t.deepEqual(await organizationsNamed(taken), nowhere);

	// Events of records created and deleted meanwhile arrive late, in any order.
	const records = portal.provider.eventsAbout(lisa.user).map((event) => JSON.parse(event.body).data);
	const gone = records.find(({object}) => object === 'organization');
	const events = portal.provider.eventsAbout(gone.id, lisa.user);
	t.true(events.some(({type}) => type === 'organization.deleted'));
	const deliveries = await portal.provider.deliverTogether(portal.url, ...events.toReversed());
	t.true(deliveries.every((delivery) => delivery.status === 200));
	t.deepEqual(await organizationsNamed(taken), nowhere);
	t.is((await lisa.caller.post(path, {name: uniqueName()})).status, 201);
});

test('a name is refused before anything is asked of the provider', async (t) => {
	const mona = newcomer();
	for (const body of [{}, {name: ''}, {name: 'x'.repeat(256)}, {name: 7}, {name: 'Acme', plan: 'SCALE'}]) {
		t.is((await mona.caller.post(path, body)).status, 400);
	}

	t.false(portal.provider.calls.some((call) => call.path.includes(mona.user.id)));
});

test('a name rejected by the provider is 400 with its message', async (t) => {
	const {status, body} = await newcomer().caller.post(path, {name: 'https://acme.test'});
	t.is(status, 400);
	t.regex(body.message, /URL/);
});

test('the provider’s events of a creation change nothing', async (t) => {
	const mona = newcomer();
	const {organization, clerkOrgId} = await createOrganization(mona);
	const events = portal.provider.eventsAbout(clerkOrgId, mona.user);
	const deliveries = await portal.provider.deliverTogether(portal.url, ...events, ...events.toReversed());
	t.true(deliveries.every(({status}) => status === 200));
	const owner = mona.in(clerkOrgId);
	t.deepEqual((await owner.get('/portal/organization')).body, organization);
	t.like((await owner.get('/portal/team')).body, {total: 1, data: [{email: mona.email, role: 'OWNER'}]});
});

test('a former member of an organization deleted at the provider may create another', async (t) => {
	const mona = newcomer();
	const {clerkOrgId} = await createOrganization(mona);
	portal.provider.deleteOrganization(clerkOrgId);
	await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(clerkOrgId));
	t.is((await mona.in(clerkOrgId).get('/portal/organization')).status, 403);
	t.like((await mona.caller.get('/portal/onboarding/state')).body, {organization: null});
	t.is((await mona.caller.post(path, {name: uniqueName()})).status, 201);
});

test('a member of a suspended organization stays in it', async (t) => {
	const mona = newcomer();
	const {organization} = await createOrganization(mona);
	await portal.services.db('organizations').where({id: organization.id}).update({status: 'SUSPENDED'});
	t.is((await mona.caller.post(path, {name: uniqueName()})).status, 409);
	const state = await mona.caller.get('/portal/onboarding/state');
	t.like(state, {status: 403, body: {message: 'Organization is not active'}});
});
