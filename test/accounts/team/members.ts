import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {FaultInput} from '../../fakes/shared/faults.ts';
import {auditOf} from '../../helpers/audit.ts';
import {type Member, member, ops} from '../../helpers/portal.ts';
import {portal, refusal, rolesOf, team, tooLow, unavailable} from './_team.ts';

const at = ({user}: {user: {id: string}}) => `/portal/team/${user.id}`;
const give = ({caller}: Member, role: string, to: Member) => caller.patch(at(to), {role});
const remove = ({caller}: Member, whom: Member) => caller.delete(at(whom));
/** Delivers all events of a member, the late ones too. */
const deliverAbout = ({user}: Member) =>
	portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(user.clerkUserId));

const gone = {there: null, here: null};
const unchanged = {there: 'viewer', here: 'VIEWER'};
const notFound = refusal(404, 'Member not found');

test('every member sees the team, page by page', async (t) => {
	const [owner, viewer] = await team(['owner', 'viewer']);
	const {status, body} = await viewer.caller.get('/portal/team');
	t.is(status, 200);
	t.like(body, {total: 2, page: 1, limit: 20});
	const found = body.data.find(({userId}: {userId: string}) => userId === owner.user.id);
	const {joinedAt, ...rest} = found;
	t.deepEqual(rest, {userId: owner.user.id, email: owner.user.email, name: owner.user.name, role: 'OWNER'});
	t.is(new Date(joinedAt).toISOString(), joinedAt);
	const second = (await viewer.caller.get('/portal/team?limit=1&page=2')).body;
	t.like(second, {total: 2, page: 2, limit: 1});
	t.is(second.data.length, 1);
});

test('nobody sees the team of another organization', async (t) => {
	const [[owner], [stranger]] = [await team(['owner']), await team(['owner', 'viewer'])];
	t.is((await owner.caller.get('/portal/team')).body.total, 1);
	t.like(await give(owner, 'VIEWER', stranger), notFound);
	t.like(await remove(owner, stranger), notFound);
});

test('an admin changes a role, in any spelling, here and at the provider', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	const changed = {userId: viewer.user.id, email: viewer.user.email, role: 'ANALYST'};
	t.like(await give(admin, 'analyst', viewer), {status: 200, body: changed});
	t.deepEqual(await rolesOf(viewer), {there: 'analyst', here: 'ANALYST'});
	t.is((await viewer.caller.get('/portal/events')).status, 200);
	const actor = {type: 'USER', id: admin.user.id};
	const record = {action: 'UPDATE', entityId: viewer.user.id, actor, details: {role: 'ANALYST'}};
	t.like(await auditOf(portal, admin.organization.id, 'Member'), [record]);
});

test('no event that comes late undoes a change', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	portal.provider.updateMember(viewer.clerkOrgId, viewer.user.clerkUserId, {role: 'developer'});
	const late = portal.provider.eventsAbout(viewer.user.clerkUserId);
	t.is((await give(admin, 'ANALYST', viewer)).status, 200);
	const deliveries = await portal.provider.deliverTogether(portal.url, ...late);
	t.true(deliveries.every(({status}) => status === 200));
	t.deepEqual(await rolesOf(viewer), {there: 'analyst', here: 'ANALYST'});
	await deliverAbout(viewer);
	t.deepEqual(await rolesOf(viewer), {there: 'analyst', here: 'ANALYST'});
});

test('a role that is given and taken back within the hour leaves both records', async (t) => {
	const [owner, viewer] = await team(['owner', 'viewer']);
	for (const role of ['OWNER', 'VIEWER']) {
		t.is((await give(owner, role, viewer)).status, 200);
	}

	const records = await auditOf(portal, owner.organization.id, 'Member');
	t.deepEqual(records.map(({details}) => details?.['role']).toSorted(), ['OWNER', 'VIEWER']);
});

test('the same role again is written at the provider, and changes nothing here', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	portal.provider.updateMember(viewer.clerkOrgId, viewer.user.clerkUserId, {role: null});
	t.is((await give(admin, 'VIEWER', viewer)).status, 200);
	t.deepEqual(await rolesOf(viewer), unchanged);
	t.deepEqual(await auditOf(portal, admin.organization.id, 'Member'), []);
});

test('bad values are 400, and an unknown member is 404', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	for (const body of [{}, {role: null}, {role: 'VIEWER', name: 'Mona'}, {role: ['VIEWER']}]) {
		t.is((await admin.caller.patch(at(viewer), body)).status, 400, JSON.stringify(body));
	}

	const {status, body} = await give(admin, 'KING', viewer);
	t.is(status, 400);
	t.deepEqual(body.details, [{message: 'role must be one of VIEWER, ANALYST, DEVELOPER, ADMIN, OWNER', field: 'role'}]);
	for (const [id, expected] of [
		['mona', 400],
		[randomUUID(), 404],
	] as const) {
		t.is((await admin.caller.patch(`/portal/team/${id}`, {role: 'VIEWER'})).status, expected);
		t.is((await admin.caller.delete(`/portal/team/${id}`)).status, expected);
	}
});

test('only an owner makes or removes an owner', async (t) => {
	const [admin, viewer, owner, second] = await team(['admin', 'viewer', 'owner', 'owner']);
	for (const answer of [
		await give(admin, 'OWNER', viewer),
		await give(admin, 'OWNER', admin),
		await give(admin, 'VIEWER', owner),
		await remove(admin, second),
	]) {
		t.like(answer, tooLow);
	}

	t.is((await give(owner, 'OWNER', viewer)).status, 200);
	t.is((await give(owner, 'ADMIN', second)).status, 200);
	t.is((await remove(owner, viewer)).status, 200);
});

test('the last owner stays', async (t) => {
	const [owner, admin] = await team(['owner', 'admin']);
	for (const answer of [
		await give(owner, 'ADMIN', owner),
		await remove(owner, owner),
		await ops(portal).caller.delete(`${at(owner)}?orgId=${owner.organization.id}`),
	]) {
		t.like(answer, refusal(409, 'The organization must keep an owner. Make another member an owner first.'));
	}

	t.is((await give(owner, 'OWNER', owner)).status, 200);
	t.deepEqual(await rolesOf(owner), {there: 'owner', here: 'OWNER'});
	t.is((await give(owner, 'OWNER', admin)).status, 200);
	t.is((await give(owner, 'ADMIN', owner)).status, 200);
});

test('a removed member is refused at the next call, whatever the token says', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	const userId = viewer.user.id;
	t.like(await remove(admin, viewer), {status: 200, body: {userId, deleted: true}});
	t.deepEqual(await rolesOf(viewer), gone);
	const cut = await viewer.caller.get('/portal/onboarding/state');
	t.like(cut, refusal(403, 'User is not a member of this organization'));
	const record = {action: 'DELETE', entityId: userId, actor: {type: 'USER', id: admin.user.id}};
	t.like(await auditOf(portal, admin.organization.id, 'Member'), [record]);
});

test('no event that comes late brings a removed member back', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	const events = portal.provider.eventsAbout(viewer.user.clerkUserId);
	t.true(events.some(({type}) => type === 'organizationMembership.created'));
	t.is((await remove(admin, viewer)).status, 200);
	await portal.provider.deliver(portal.url, ...events, ...portal.provider.eventsAbout(viewer.user.clerkUserId));
	t.deepEqual(await rolesOf(viewer), gone);
});

test('a removed member may come back by a new membership', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	await remove(admin, viewer);
	portal.clock.advance(1);
	portal.provider.member({organization: viewer.clerkOrgId, user: viewer.user.clerkUserId, role: 'analyst'});
	await deliverAbout(viewer);
	t.deepEqual(await rolesOf(viewer), {there: 'analyst', here: 'ANALYST'});
});

test('an admin and an owner may leave', async (t) => {
	const [admin, owner] = await team(['admin', 'owner', 'owner']);
	t.is((await remove(admin, admin)).status, 200);
	t.is((await remove(owner, owner)).status, 200);
	t.deepEqual(await rolesOf(owner), gone);
});

test('ops changes the team of a customer', async (t) => {
	const [viewer] = await team(['viewer', 'owner']);
	const path = `${at(viewer)}?orgId=${viewer.organization.id}`;
	t.is((await ops(portal).caller.patch(path, {role: 'OWNER'})).status, 200);
	t.like(await auditOf(portal, viewer.organization.id, 'Member'), [{actor: {type: 'ADMIN_PASSTHROUGH'}}]);
});

test('the member with the permissions required by the provider stays', async (t) => {
	const {clerkOrgId, caller, organization} = await member(portal, {role: 'owner', appConfig: null});
	const creator = await member(portal, {role: 'viewer', organization});
	const membership = [...portal.provider.directory.memberships.values()].find(
		({organizationId, userId}) => organizationId === clerkOrgId && userId === creator.user.clerkUserId,
	);
	Object.assign(membership ?? {}, {role: 'org:admin'});
	const {status, body} = await caller.delete(at(creator));
	t.is(status, 409);
	t.regex(body.message, /minimum required permissions/);
	t.deepEqual(await rolesOf(creator), unchanged);
});

const membershipOf = ({clerkOrgId, user}: Member) => `/organizations/${clerkOrgId}/memberships/${user.clerkUserId}`;

const keepsTheRole = test.macro({
	exec: async (t, fault: FaultInput) => {
		const [admin, viewer] = await team(['admin', 'viewer']);
		portal.provider.fail({method: 'PATCH', path: `${membershipOf(viewer)}/metadata`, ...fault});
		t.like(await give(admin, 'ADMIN', viewer), unavailable);
		t.deepEqual(await rolesOf(viewer), unchanged);
		await deliverAbout(viewer);
		t.deepEqual(await rolesOf(viewer), unchanged);
		t.is((await give(admin, 'ADMIN', viewer)).status, 200);
	},
	title: (title) => `${title} leaves the role as it was on both sides`,
});

test('a provider that fails', keepsTheRole, {status: 500});
test('a provider that writes the role and then fails', keepsTheRole, {status: 500, afterwards: true});
test('a provider that writes the role and hangs up', keepsTheRole, {drop: true, afterwards: true});
test('a provider that writes the role and never answers', keepsTheRole, {hang: true, afterwards: true});

test('a member removed at the provider is 404 for a role change, and can be removed', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	portal.provider.removeMember(viewer.clerkOrgId, viewer.user.clerkUserId);
	t.like(await give(admin, 'ADMIN', viewer), notFound);
	t.deepEqual(await rolesOf(viewer), {there: null, here: 'VIEWER'});
	t.is((await remove(admin, viewer)).status, 200);
	t.deepEqual(await rolesOf(viewer), gone);
});

test('a database that fails leaves the role as it was on both sides', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	const {db} = portal.services;
	await db.raw(
		`CREATE FUNCTION refuse_member() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`,
	);
	await db.raw(`CREATE TRIGGER refuse_member BEFORE UPDATE ON org_members
		FOR EACH ROW WHEN (NEW.user_id = '${viewer.user.id}') EXECUTE FUNCTION refuse_member()`);
	t.is((await give(admin, 'ADMIN', viewer)).status, 500);
	t.deepEqual(await rolesOf(viewer), unchanged);
});

test('a provider that does not remove a member is 502, and the member stays', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	portal.provider.fail({method: 'DELETE', path: membershipOf(viewer), status: 500, times: 3});
	t.like(await remove(admin, viewer), unavailable);
	t.deepEqual(await rolesOf(viewer), unchanged);
	t.is((await viewer.caller.get('/portal/team')).status, 200);
	t.deepEqual(await auditOf(portal, admin.organization.id, 'Member'), []);
});

const removes = test.macro({
	exec: async (t, fault: FaultInput) => {
		const [admin, viewer] = await team(['admin', 'viewer']);
		portal.provider.fail({method: 'DELETE', path: membershipOf(viewer), afterwards: true, ...fault});
		t.is((await remove(admin, viewer)).status, 200);
		t.deepEqual(await rolesOf(viewer), gone);
	},
	title: (title) => `${title} has removed them here as well`,
});

test('a provider that removes a member and then fails', removes, {status: 500});
test('a provider that removes a member and never answers', removes, {hang: true});

test('of two owners who demote each other at once one remains', async (t) => {
	const demote = (by: Member, whom: Member) => give(by, 'ADMIN', whom);
	for (const end of [demote, remove]) {
		const [one, other] = await team(['owner', 'owner']);
		const answers = await Promise.all([end(one, other), end(other, one)]);
		// The second one is refused: by the rule, or because a removed owner's token is invalid.
		const statuses = answers.map(({status}) => status).toSorted();
		t.is(statuses[0], 200);
		t.true(statuses[1] === 409 || statuses[1] === 403);
		const {db} = portal.services;
		const owners = await db('org_members').where({organization_id: one.organization.id, role: 'OWNER'});
		t.is(owners.length, 1);
	}
});

test('of many changes at once both sides have the same one', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	const wanted = ['ADMIN', 'DEVELOPER', 'ANALYST', 'VIEWER', 'DEVELOPER'];
	const answers = await Promise.all(wanted.map((role) => give(admin, role, viewer)));
	t.deepEqual(
		answers.map(({status, body}) => [status, body.role]),
		wanted.map((role) => [200, role]),
	);
	const {there, here} = await rolesOf(viewer);
	t.is(String(there).toUpperCase(), here ?? '');
	await portal.provider.deliverTogether(portal.url, ...portal.provider.eventsAbout(viewer.user.clerkUserId));
	t.deepEqual(await rolesOf(viewer), {there, here});
});
