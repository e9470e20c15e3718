import {randomUUID} from 'node:crypto';
import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin, anonymous, type Caller} from '../../helpers/callers.ts';
import {member, ops, portalOf, session, startPortal} from '../../helpers/portal.ts';
import {invalid, missing, noOrganization, opsOnly, refused} from './_refused.ts';

const portal = portalOf(test);

const notFound = {status: 404, message: 'Organization not found'};
const planPath = (orgId: string) => `/portal/admin/billing/organizations/${orgId}/plan`;

type AuditRecord = {action: string; entityType: string; entityId: string; actor: object; details: {plan: string}};

/** The one record of an action that no builder did. */
const recordOf = async (caller: Caller, path: string, [action, entityType]: [string, string]): Promise<AuditRecord> => {
	const {data} = (await caller.get(path)).body as {data: Array<AuditRecord & {actor: {type: string}}>};
	const found = data.filter(
		(one) => one.action === action && one.entityType === entityType && one.actor.type !== 'ADMIN_BEARER',
	);
	return found[0] ?? Promise.reject(new Error(`no record of ${action} ${entityType}`));
};

test('an ops session acts for the customer that orgId names, whatever its own role', async (t) => {
	const acme = await member(portal);
	const {caller, clerkUserId, email} = ops(portal);
	const created = await caller.post(`/portal/links?orgId=${acme.organization.id}`, {path: '/by-ops'});
	t.is(created.status, 201);
	t.is(created.body.organizationId, acme.organization.id);
	t.is((await acme.caller.get(`/portal/links/${created.body.id}`)).status, 200);
	const audit = `/portal/audit-log?orgId=${acme.organization.id}`;
	const {entityId, actor} = await recordOf(caller, audit, ['CREATE', 'Link']);
	t.is(entityId, created.body.id);
	t.deepEqual(actor, {type: 'ADMIN_PASSTHROUGH', id: clerkUserId, name: email});
});

test('an ops session acts for a suspended customer, too', async (t) => {
	const {organization} = await member(portal);
	await admin(portal).post(`/admin/organizations/${organization.id}/suspend`);
	const {status, body} = await ops(portal).caller.get(`/portal/links?orgId=${organization.id}`);
	t.deepEqual({status, body}, {status: 200, body: {data: [], total: 0, page: 1, limit: 20}});
});

test('without orgId an ops session acts for the ops organization, which must be mirrored', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const unmirrored = ops(own);
	refused(t, await unmirrored.caller.post('/portal/links', {path: '/sale'}), noOrganization);
	const home = await organization(own);
	await own.services.db('organizations').where({id: home.id}).update({clerk_org_id: own.provider.opsOrganization.id});
	refused(t, await unmirrored.caller.get('/portal/links'), {
		status: 403,
		message: 'User is not a member of this organization',
	});
	const {caller, user} = await member(own, {organization: home, role: null});
	const created = await caller.post('/portal/links', {path: '/sale'});
	t.is(created.status, 201);
	const {actor} = await recordOf(caller, '/portal/audit-log', ['CREATE', 'Link']);
	t.deepEqual(actor, {type: 'ADMIN', id: user.id, name: user.name});
});

test('a member of the ops organization is named by the mirrored person in a pass-through', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const home = await organization(own);
	await own.services.db('organizations').where({id: home.id}).update({clerk_org_id: own.provider.opsOrganization.id});
	const {caller, user} = await member(own, {organization: home});
	const customer = await organization(own);
	await caller.put(`/portal/app-config?orgId=${customer.id}`, {});
	const {actor} = await recordOf(caller, `/portal/audit-log?orgId=${customer.id}`, ['UPDATE', 'AppConfig']);
	t.deepEqual(actor, {type: 'ADMIN_PASSTHROUGH', id: user.id, name: user.name});
});

test('orgId is ignored from everyone else, another’s as well as a malformed one', async (t) => {
	const acme = await member(portal, {role: 'owner'});
	const other = await member(portal);
	for (const orgId of [other.organization.id, other.organization.orgKey, 'nonsense', '']) {
		const created = await acme.caller.post(`/portal/links?orgId=${orgId}`, {path: '/mine'});
		t.is(created.status, 201);
		t.is(created.body.organizationId, acme.organization.id);
	}

	const {actor} = await recordOf(acme.caller, '/portal/audit-log', ['CREATE', 'Link']);
	t.deepEqual(actor, {type: 'USER', id: acme.user.id, name: acme.user.name});
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
	const own = await startPortal({OPS_ORG_ID: ''});
	t.teardown(() => own.stop());
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
	t.deepEqual(body, {
		id: acme.organization.id,
		orgKey: acme.organization.orgKey,
		name: acme.organization.name,
		status: 'ACTIVE',
		plan: 'SCALE',
		contactEmail: null,
		createdAt: at,
		subscription: {
			id: body.subscription.id,
			plan: 'SCALE',
			status: 'ACTIVE',
			gateway: 'MANUAL',
			currentPeriodStart: at,
			currentPeriodEnd: null,
			cancelAtPeriodEnd: false,
			scheduledPlan: null,
			createdAt: at,
			updatedAt: at,
		},
	});
	const audit = `/portal/audit-log?orgId=${acme.organization.id}`;
	const {actor, details} = await recordOf(caller, audit, ['SET_PLAN', 'Organization']);
	t.deepEqual(actor, {type: 'ADMIN', id: clerkUserId, name: email});
	t.is(details.plan, 'SCALE');
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
		const {status, body} = await caller.post(planPath(acme.id), {plan});
		t.is(status, 200);
		t.is(body.plan, plan);
		t.is(body.subscription.status, 'CANCELED');
	}

	const never = await organization(portal, {plan: null});
	t.is((await caller.post(planPath(never.id), {plan: 'STARTER'})).body.subscription, null);
});

test('setting a plan is refused to everyone but ops, before the values', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'owner'});
	refused(t, await caller.post(planPath(acme.id), {plan: 'ENTERPRISE'}), opsOnly);
	refused(t, await caller.post(planPath('nonsense'), {}), opsOnly);
	refused(t, await anonymous(portal).post(planPath('nonsense'), {}), missing);
	refused(t, await admin(portal).post(planPath(acme.id), {plan: 'SCALE'}), {
		status: 401,
		message: 'Invalid Clerk session token',
	});
	t.is((await admin(portal).get(`/admin/organizations/${acme.id}`)).body.plan, 'GROWTH');
});

test('a bad plan is 400, an unknown organization 404', async (t) => {
	const {organization: acme} = await member(portal);
	const {caller} = ops(portal);
	refused(t, await caller.post(planPath(acme.id), {plan: 'PLATINUM'}), {
		status: 400,
		message: "Unknown plan 'PLATINUM'",
	});
	refused(t, await caller.post(planPath('nonsense'), {plan: 'SCALE'}), invalid);
	for (const body of [{}, {plan: 7}, {plan: ''}, {plan: 'SCALE', note: 'x'}]) {
		refused(t, await caller.post(planPath(acme.id), body), invalid);
	}

	refused(t, await caller.post(planPath(randomUUID()), {plan: 'SCALE'}), notFound);
});

test('removed routes are unknown paths for every caller', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'owner'});
	for (const path of [
		'/portal/billing/subscribe',
		'/portal/billing/summary',
		'/dev/billing/activate',
		'/dev/billing',
		'/portal/admin/billing/invoices',
		`/portal/admin/billing/accounts/${acme.id}`,
		'/portal/admin/billing/configs',
	]) {
		for (const somebody of [ops(portal).caller, caller, anonymous(portal)]) {
			refused(t, await somebody.get(path), {status: 404, message: 'Not found'});
			refused(t, await somebody.post(path, {}), {status: 404, message: 'Not found'});
		}
	}
});
