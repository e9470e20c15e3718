import test from 'ava';
import {auditOf} from '../helpers/audit.ts';
import {member, ops, portalOf, session} from '../helpers/portal.ts';
import {newcomer, uniqueName} from './_newcomer.ts';

const portal = portalOf(test);

const path = '/portal/onboarding/select-plan';
const owner = () => member(portal, {role: 'owner', plan: null, appConfig: null});

for (const plan of ['STARTER', 'starter']) {
	test(`an owner has ${plan} by choosing it`, async (t) => {
		const {caller, organization, user} = await owner();
		const {status, body} = await caller.post(path, {plan});
		t.is(status, 200);
		t.like(body, {id: organization.id, plan: 'STARTER', status: 'ACTIVE'});
		t.like((await caller.get('/portal/organization')).body, {plan: 'STARTER'});
		const records = await auditOf(portal, organization.id, 'Organization');
		const selected = records.filter(({action}) => action === 'SELECT_PLAN');
		t.like(selected, [{actor: {type: 'USER', id: user.id}, details: {plan: 'STARTER'}}]);
	});
}

for (const plan of ['SOLO', 'growth', 'ENTERPRISE']) {
	test(`${plan} has to be bought through checkout`, async (t) => {
		const {caller} = await owner();
		const {status, body} = await caller.post(path, {plan});
		t.is(status, 422);
		t.like(body, {code: 'USE_BILLING_FLOW', billingEndpoint: '/portal/billing/checkout-session'});
		t.is((await caller.get('/portal/organization')).body.plan, null);
	});
}

test('an unknown plan is 400, and so is a missing one', async (t) => {
	const {caller} = await owner();
	const unknown = await caller.post(path, {plan: 'GOLD'});
	t.is(unknown.status, 400);
	t.is(unknown.body.message, "Unknown plan 'GOLD'");
	for (const body of [{}, {plan: null}, {plan: ''}, {plan: 1}]) {
		t.is((await caller.post(path, body)).status, 400);
	}
});

test('a plan is selected once', async (t) => {
	const {caller} = await member(portal, {role: 'owner', plan: 'STARTER', appConfig: null});
	for (const plan of ['STARTER', 'SOLO']) {
		const {status} = await caller.post(path, {plan});
		t.is(status, 409);
	}
});

test('of two selections at once one is the first', async (t) => {
	const {caller} = await owner();
	const answers = await Promise.all([caller.post(path, {plan: 'STARTER'}), caller.post(path, {plan: 'STARTER'})]);
	t.deepEqual(answers.map(({status}) => status).toSorted(), [200, 409]);
});

test('an unknown stored plan does not prevent a selection', async (t) => {
	const {caller, organization} = await owner();
	await portal.services.db('organizations').where({id: organization.id}).update({plan: 'BRONZE'});
	t.is((await caller.post(path, {plan: 'STARTER'})).status, 200);
});

test('an admin cannot select a plan', async (t) => {
	const {caller} = await member(portal, {role: 'admin', plan: null, appConfig: null});
	const {status, body} = await caller.post(path, {plan: 'STARTER'});
	t.is(status, 403);
	t.is(body.message, 'Insufficient role');
});

test('ops selects a plan for a customer', async (t) => {
	const {organization, caller} = await owner();
	const {status} = await ops(portal).caller.post(`${path}?orgId=${organization.id}`, {plan: 'STARTER'});
	t.is(status, 200);
	t.like((await caller.get('/portal/organization')).body, {plan: 'STARTER'});
	const records = await auditOf(portal, organization.id, 'Organization');
	t.true(records.some(({action, actor}) => action === 'SELECT_PLAN' && actor.type === 'ADMIN_PASSTHROUGH'));
});

test('a pending session passes, and an organization that is not mirrored is fetched', async (t) => {
	const {user} = newcomer(portal);
	const organization = portal.provider.organization({name: uniqueName(), createdBy: user});
	portal.provider.updateMember(organization, user, {role: 'owner'});
	const caller = session(portal, {user, organization, claims: {sts: 'pending'}});
	const {status, body} = await caller.post(path, {plan: 'STARTER'});
	t.is(status, 200);
	t.like(body, {name: organization.name, plan: 'STARTER'});
});
