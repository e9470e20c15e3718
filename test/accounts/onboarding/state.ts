import test from 'ava';
import {auditOf} from '../../helpers/audit.ts';
import {exampleAppConfig} from '../../helpers/builders.ts';
import {member, ops, session} from '../../helpers/portal.ts';
import {createOrganization, newcomer, portal, uniqueName} from './_newcomer.ts';

const path = '/portal/onboarding/state';

/** A user who joined an organization at the provider, of which no event has arrived. */
const joined = (role = 'owner') => {
	const person = newcomer();
	const organization = portal.provider.organization({name: uniqueName()});
	portal.provider.member({organization, user: person.user, role});
	return {...person, organization, inside: person.in(organization.id)};
};

const nowhere = {status: 403, body: {message: 'User does not belong to a valid organization'}};

const mirrored = (clerkOrgId: string) => portal.services.db('organizations').where({clerk_org_id: clerkOrgId});

test('a new user must create an organization', async (t) => {
	const {status, body} = await newcomer().caller.get(path);
	t.is(status, 200);
	const nothing = {planSelected: false, appConfigured: false, hasLinks: false};
	t.deepEqual(body, {organization: null, ...nothing, nextStep: 'create-organization'});
});

test('each step leads to the next one', async (t) => {
	const mona = newcomer();
	const {organization, clerkOrgId} = await createOrganization(mona);
	const owner = mona.in(clerkOrgId);
	const state = async () => {
		const {status, body} = await owner.get(path);
		t.is(status, 200);
		t.is(body.organization.id, organization.id);
		return [body.planSelected, body.appConfigured, body.hasLinks, body.nextStep];
	};

	t.deepEqual(await state(), [false, false, false, 'select-plan']);
	t.is((await owner.post('/portal/onboarding/select-plan', {plan: 'STARTER'})).status, 200);
	t.deepEqual(await state(), [true, false, false, 'configure-app']);
	t.is((await owner.put('/portal/app-config', exampleAppConfig)).status, 200);
	t.deepEqual(await state(), [true, true, false, 'create-link']);
	t.is((await owner.post('/portal/links', {path: '/sale'})).status, 201);
	t.deepEqual(await state(), [true, true, true, 'done']);
});

test('a session without an organization uses the one that its user is a member of', async (t) => {
	const {organization, user} = await member(portal, {role: 'developer'});
	const {status, body} = await session(portal, {user: user.clerkUserId}).get(path);
	t.is(status, 200);
	t.like(body, {organization: {id: organization.id, plan: 'GROWTH'}, planSelected: true, nextStep: 'create-link'});
});

test('an organization that is not mirrored is fetched for its member', async (t) => {
	const {inside, organization, email} = joined();
	const mirror = {name: organization.name, plan: null, contactEmail: email};
	t.like(await inside.get(path), {status: 200, body: {organization: mirror, nextStep: 'select-plan'}});
	t.like((await inside.get('/portal/team')).body, {total: 1, data: [{email, role: 'OWNER'}]});
});

test('an organization is fetched once, however many ask for it first', async (t) => {
	const {inside, organization} = joined();
	const answers = await Promise.all(Array.from({length: 5}, () => inside.get(path)));
	t.true(answers.every(({status}) => status === 200));
	t.is((await mirrored(organization.id)).length, 1);
});

test('an organization is fetched on no route but those of onboarding', async (t) => {
	const {inside, organization} = joined();
	t.like(await inside.get('/portal/organization'), nowhere);
	t.deepEqual(await mirrored(organization.id), []);
});

test('if the provider fails the answer is 403, and a later one is correct', async (t) => {
	const {inside, organization} = joined();
	const fault = portal.provider.fail({path: `/organizations/${organization.id}`, status: 500, times: Infinity});
	t.like(await inside.get(path), nowhere);
	fault.lift();
	t.is((await inside.get(path)).status, 200);
});

test('nothing is fetched for a user who is not a member at the provider', async (t) => {
	const organization = portal.provider.organization({name: uniqueName()});
	t.is((await newcomer().in(organization.id).get(path)).status, 403);
	t.deepEqual(await mirrored(organization.id), []);

	const known = await member(portal);
	const stranger = await newcomer().in(known.clerkOrgId).get(path);
	t.like(stranger, {status: 403, body: {message: 'User is not a member of this organization'}});
});

test('nothing is made of the ops organization', async (t) => {
	const {user} = newcomer();
	const organization = portal.provider.opsOrganization;
	portal.provider.member({organization, user});
	const {status} = await session(portal, {user, organization}).get(path);
	t.is(status, 403);
	t.deepEqual(await mirrored(organization.id), []);
});

const planPath = '/portal/onboarding/select-plan';
const selections = async (organizationId: string) =>
	(await auditOf(portal, organizationId, 'Organization')).filter(({action}) => action === 'SELECT_PLAN');
const owner = () => member(portal, {role: 'owner', plan: null, appConfig: null});

test('an owner has the free plan by choosing it, in any case', async (t) => {
	for (const plan of ['STARTER', 'starter']) {
		const {caller, organization, user} = await owner();
		const {status, body} = await caller.post(planPath, {plan});
		t.is(status, 200);
		t.like(body, {id: organization.id, plan: 'STARTER', status: 'ACTIVE'});
		t.like((await caller.get('/portal/organization')).body, {plan: 'STARTER'});
		const actor = {type: 'USER', id: user.id};
		t.like(await selections(organization.id), [{actor, details: {plan: 'STARTER'}}]);
	}
});

test('the other plans have to be bought through checkout', async (t) => {
	const {caller} = await owner();
	const body = {code: 'USE_BILLING_FLOW', billingEndpoint: '/portal/billing/checkout-session'};
	for (const plan of ['SOLO', 'growth', 'SCALE', 'ENTERPRISE']) {
		t.like(await caller.post(planPath, {plan}), {status: 422, body}, plan);
	}

	t.is((await caller.get('/portal/organization')).body.plan, null);
});

test('an unknown plan is 400, and so is a missing one', async (t) => {
	const {caller} = await owner();
	t.like(await caller.post(planPath, {plan: 'GOLD'}), {status: 400, body: {message: "Unknown plan 'GOLD'"}});
	for (const body of [{}, {plan: null}, {plan: ''}, {plan: 1}]) {
		t.is((await caller.post(planPath, body)).status, 400);
	}
});

test('a plan is selected once, also of two selections at once', async (t) => {
	const {caller} = await owner();
	const select = () => caller.post(planPath, {plan: 'STARTER'});
	const answers = await Promise.all([select(), select()]);
	t.deepEqual(answers.map(({status}) => status).toSorted(), [200, 409]);
	t.is((await caller.post(planPath, {plan: 'SOLO'})).status, 409);
});

test('an unknown stored plan does not prevent a selection', async (t) => {
	const {caller, organization} = await owner();
	await portal.services.db('organizations').where({id: organization.id}).update({plan: 'BRONZE'});
	t.is((await caller.post(planPath, {plan: 'STARTER'})).status, 200);
});

test('ops selects a plan for a customer', async (t) => {
	const {organization, caller} = await owner();
	const {status} = await ops(portal).caller.post(`${planPath}?orgId=${organization.id}`, {plan: 'STARTER'});
	t.is(status, 200);
	t.like((await caller.get('/portal/organization')).body, {plan: 'STARTER'});
	t.like(await selections(organization.id), [{actor: {type: 'ADMIN_PASSTHROUGH'}}]);
});

test('a pending session passes, and an organization that is not mirrored is fetched', async (t) => {
	const {user} = newcomer();
	const organization = portal.provider.organization({name: uniqueName(), createdBy: user});
	portal.provider.updateMember(organization, user, {role: 'owner'});
	const caller = session(portal, {user, organization, claims: {sts: 'pending'}});
	const answer = await caller.post(planPath, {plan: 'STARTER'});
	t.like(answer, {status: 200, body: {name: organization.name, plan: 'STARTER'}});
});
