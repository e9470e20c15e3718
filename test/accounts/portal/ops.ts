import {randomUUID} from 'node:crypto';
import test from 'ava';
import {auditOf} from '../../helpers/audit.ts';
import {organization} from '../../helpers/builders.ts';
import {member, ops, session, startPortal} from '../../helpers/portal.ts';
import {startedIn} from '../../helpers/started.ts';
import {portal} from './_portal.ts';
import {invalid, noMember, noOrganization, opsOnly, refused} from './_refused.ts';

const notFound = {status: 404, message: 'Organization not found'};
const planPath = (orgId: string) => `/portal/admin/billing/organizations/${orgId}/plan`;

/** Records of one kind of an organization's objects that no builder left. */
const recordsOf = async (organizationId: string, entityType: string) =>
	(await auditOf(portal, organizationId, entityType)).filter(({actor}) => actor.type !== 'ADMIN_BEARER');

test('an ops session acts for the customer that orgId names, also a suspended one, whatever its own role', async (t) => {
	const acme = await member(portal);
	const {caller, clerkUserId, email} = ops(portal);
	const created = await caller.post(`/portal/links?orgId=${acme.organization.id}`, {path: '/by-ops'});
	t.like(created, {status: 201, body: {organizationId: acme.organization.id}});
	t.is((await acme.caller.get(`/portal/links/${created.body.id}`)).status, 200);
	const actor = {type: 'ADMIN_PASSTHROUGH', id: clerkUserId, name: email};
	t.like(await recordsOf(acme.organization.id, 'Link'), [{entityId: created.body.id, actor}]);

	await acme.organization.operator.post('/suspend');
	t.is((await caller.get(`/portal/links?orgId=${acme.organization.id}`)).body.total, 1);
});

test.serial('without orgId an ops session acts for the ops organization, which must be mirrored', async (t) => {
	const {caller: unmirrored} = ops(portal);
	refused(t, await unmirrored.post('/portal/links', {path: '/sale'}), noOrganization);
	const {db} = portal.services;
	const home = await organization(portal);
	await db('organizations').where({id: home.id}).update({clerk_org_id: portal.provider.opsOrganization.id});
	refused(t, await unmirrored.get('/portal/links'), noMember);

	const {caller, user} = await member(portal, {organization: home, role: null});
	const named = {id: user.id, name: user.name};
	t.is((await caller.post('/portal/links', {path: '/sale'})).status, 201);
	t.like(await recordsOf(home.id, 'Link'), [{action: 'CREATE', actor: {type: 'ADMIN', ...named}}]);

	// A mirrored person is named in a pass-through as well.
	const customer = await organization(portal);
	await caller.put(`/portal/app-config?orgId=${customer.id}`, {});
	const actor = {type: 'ADMIN_PASSTHROUGH', ...named};
	t.like(await recordsOf(customer.id, 'AppConfig'), [{action: 'UPDATE', actor}]);
});

test('orgId is ignored from everyone else, another’s as well as a malformed one', async (t) => {
	const acme = await member(portal, {role: 'owner'});
	const other = await member(portal);
	for (const orgId of [other.organization.id, other.organization.orgKey, 'nonsense', '']) {
		const created = await acme.caller.post(`/portal/links?orgId=${orgId}`, {path: '/mine'});
		t.like(created, {status: 201, body: {organizationId: acme.organization.id}});
	}

	const actor = {type: 'USER', id: acme.user.id, name: acme.user.name};
	t.like((await recordsOf(acme.organization.id, 'Link'))[0], {action: 'CREATE', actor});
	t.is((await other.caller.get('/portal/links')).body.total, 0);
});

test('a malformed orgId of an ops session is 400, an unknown one 404', async (t) => {
	const {caller} = ops(portal);
	const {organization: acme} = await member(portal);
	for (const orgId of ['nonsense', '', acme.orgKey, `${acme.id}&orgId=${acme.id}`]) {
		const answer = await caller.get(`/portal/links?orgId=${orgId}`);
		refused(t, answer, invalid);
		t.deepEqual(answer.body.details, [{message: 'orgId must be a UUID', field: 'orgId'}]);
	}

	refused(t, await caller.get(`/portal/links?orgId=${randomUUID()}`), notFound);
});

test('without a configured ops organization nobody is ops', async (t) => {
	const own = await startedIn(t, startPortal({OPS_ORG_ID: ''}));
	const acme = await member(own, {role: 'owner'});
	const {caller} = ops(own);
	refused(t, await caller.post(planPath(acme.organization.id), {plan: 'SCALE'}), opsOnly);
	refused(t, await caller.get('/dev/session'), opsOnly);
	refused(t, await caller.get(`/portal/api-keys?orgId=${acme.organization.id}`), noOrganization);
	const nowhere = session(own, {user: acme.user.clerkUserId, claims: {sts: 'active'}});
	refused(t, await nowhere.get('/dev/session'), opsOnly);
});

test('ops set a plan: the organization has it, with a subscription that does not renew', async (t) => {
	const acme = await member(portal, {plan: null});
	const {caller, clerkUserId, email} = ops(portal);
	const {status, body} = await caller.post(planPath(acme.organization.id), {plan: 'scale'});
	const at = portal.clock.now().toISOString();
	t.is(status, 200);
	const {id, orgKey, name} = acme.organization;
	const {subscription, ...changed} = body;
	t.deepEqual(changed, {id, orgKey, name, status: 'ACTIVE', plan: 'SCALE', contactEmail: null, createdAt: at});
	t.deepEqual(subscription, {
		id: subscription.id,
		plan: 'SCALE',
		status: 'ACTIVE',
		gateway: 'MANUAL',
		currentPeriodStart: at,
		currentPeriodEnd: null,
		cancelAtPeriodEnd: false,
		scheduledPlan: null,
		createdAt: at,
		updatedAt: at,
	});
	const actor = {type: 'ADMIN', id: clerkUserId, name: email};
	t.like(await recordsOf(id, 'Organization'), [{action: 'SET_PLAN', actor, details: {plan: 'SCALE'}}]);
	t.is((await acme.caller.get('/portal/usage')).body.links.limit, 100_000);
});

test('a plan set by ops clears a scheduled change', async (t) => {
	const {organization: acme} = await member(portal);
	const {caller} = ops(portal);
	await portal.services
		.db('subscriptions')
		.where({organization_id: acme.id})
		.update({scheduled_plan: 'SOLO', cancel_at_period_end: true});
	const {body} = await caller.post(planPath(acme.orgKey), {plan: 'SCALE'});
	t.like(body.subscription, {plan: 'SCALE', gateway: 'MANUAL', scheduledPlan: null, cancelAtPeriodEnd: false});
});

test('STARTER and no plan need no subscription: the one that ops had set is canceled', async (t) => {
	const {caller} = ops(portal);
	for (const plan of ['STARTER', null]) {
		const {organization: acme} = await member(portal);
		const answer = await caller.post(planPath(acme.id), {plan});
		t.like(answer, {status: 200, body: {plan, subscription: {status: 'CANCELED'}}});
	}

	const never = await organization(portal, {plan: null});
	t.is((await caller.post(planPath(never.id), {plan: 'STARTER'})).body.subscription, null);
});

test('a bad plan is 400, an unknown organization 404', async (t) => {
	const {organization: acme} = await member(portal);
	const {caller} = ops(portal);
	const unknownPlan = {status: 400, message: "Unknown plan 'PLATINUM'"};
	for (const [orgId, body, expected] of [
		[acme.id, {plan: 'PLATINUM'}, unknownPlan],
		[acme.id, {}, invalid],
		[acme.id, {plan: 7}, invalid],
		[acme.id, {plan: ''}, invalid],
		[acme.id, {plan: 'SCALE', note: 'x'}, invalid],
		['nonsense', {plan: 'SCALE'}, invalid],
		[randomUUID(), {plan: 'SCALE'}, notFound],
	] as const) {
		refused(t, await caller.post(planPath(orgId), body), expected);
	}
});

test('removed routes are unknown paths', async (t) => {
	const {caller} = ops(portal);
	for (const path of [
		'/portal/billing/subscribe',
		'/portal/billing/summary',
		'/dev/billing/activate',
		'/dev/billing',
		'/portal/admin/billing/invoices',
		`/portal/admin/billing/accounts/${randomUUID()}`,
		'/portal/admin/billing/configs',
	]) {
		refused(t, await caller.get(path), {status: 404, message: 'Not found'});
		refused(t, await caller.post(path, {}), {status: 404, message: 'Not found'});
	}
});
