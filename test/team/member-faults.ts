import test from 'ava';
import type {FaultInput} from '../fakes/identity-provider/faults.ts';
import {auditOf} from '../helpers/audit.ts';
import {type Member, portalOf} from '../helpers/portal.ts';
import {rolesOf, team} from './_team.ts';

const portal = portalOf(test);

const at = ({user}: {user: {id: string}}) => `/portal/team/${user.id}`;
const memberships = ({clerkOrgId}: Member) => `/organizations/${clerkOrgId}/memberships`;

const keepsTheRole = test.macro({
	exec: async (t, fault: FaultInput) => {
		const [admin, viewer] = await team(portal, ['admin', 'viewer']);
		const path = `${memberships(viewer)}/${viewer.user.clerkUserId}/metadata`;
		portal.provider.fail({method: 'PATCH', path, ...fault});
		const {status, body} = await admin.caller.patch(at(viewer), {role: 'ADMIN'});
		t.is(status, 502);
		t.is(body.message, 'Identity provider unavailable');
		t.deepEqual(await rolesOf(portal, viewer), {there: 'viewer', here: 'VIEWER'});
		await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(viewer.user.clerkUserId));
		t.deepEqual(await rolesOf(portal, viewer), {there: 'viewer', here: 'VIEWER'});
		t.is((await admin.caller.patch(at(viewer), {role: 'ADMIN'})).status, 200);
	},
	title: (title) => `${title} leaves the role as it was on both sides`,
});

test('a provider that fails', keepsTheRole, {status: 500});
test('a provider that limits us', keepsTheRole, {status: 429, retryAfter: 60});
test('a provider that writes the role and then fails', keepsTheRole, {status: 500, afterwards: true});
test('a provider that writes the role and hangs up', keepsTheRole, {drop: true, afterwards: true});
test('a provider that writes the role and never answers', keepsTheRole, {hang: true, afterwards: true});

test('a member removed at the provider is 404 for a role change, and can be removed', async (t) => {
	const [admin, viewer] = await team(portal, ['admin', 'viewer']);
	portal.provider.removeMember(viewer.clerkOrgId, viewer.user.clerkUserId);
	t.like(await admin.caller.patch(at(viewer), {role: 'ADMIN'}), {status: 404, body: {message: 'Member not found'}});
	t.deepEqual(await rolesOf(portal, viewer), {there: null, here: 'VIEWER'});
	t.is((await admin.caller.delete(at(viewer))).status, 200);
	t.deepEqual(await rolesOf(portal, viewer), {there: null, here: null});
});

test('a database that fails leaves the role as it was on both sides', async (t) => {
	const [admin, viewer] = await team(portal, ['admin', 'viewer']);
	const {db} = portal.services;
	await db.raw(
		`CREATE FUNCTION refuse_member() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`,
	);
	await db.raw(`CREATE TRIGGER refuse_member BEFORE UPDATE ON org_members
		FOR EACH ROW WHEN (NEW.user_id = '${viewer.user.id}') EXECUTE FUNCTION refuse_member()`);
	const {status} = await admin.caller.patch(at(viewer), {role: 'ADMIN'});
	t.is(status, 500);
	t.deepEqual(await rolesOf(portal, viewer), {there: 'viewer', here: 'VIEWER'});
});

test('a provider that does not remove a member is 502, and the member stays', async (t) => {
	const [admin, viewer] = await team(portal, ['admin', 'viewer']);
	const path = `${memberships(viewer)}/${viewer.user.clerkUserId}`;
	portal.provider.fail({method: 'DELETE', path, status: 500, times: 3});
	const {status, body} = await admin.caller.delete(at(viewer));
	t.is(status, 502);
	t.is(body.message, 'Identity provider unavailable');
	t.deepEqual(await rolesOf(portal, viewer), {there: 'viewer', here: 'VIEWER'});
	t.is((await viewer.caller.get('/portal/team')).status, 200);
	t.deepEqual(await auditOf(portal, admin.organization.id, 'Member'), []);
});

const removes = test.macro({
	exec: async (t, fault: FaultInput) => {
		const [admin, viewer] = await team(portal, ['admin', 'viewer']);
		const path = `${memberships(viewer)}/${viewer.user.clerkUserId}`;
		portal.provider.fail({method: 'DELETE', path, afterwards: true, ...fault});
		t.is((await admin.caller.delete(at(viewer))).status, 200);
		t.deepEqual(await rolesOf(portal, viewer), {there: null, here: null});
	},
	title: (title) => `${title} has removed them here as well`,
});

test('a provider that removes a member and then fails', removes, {status: 500});
test('a provider that removes a member and never answers', removes, {hang: true});

test('of two owners who demote each other at once one remains', async (t) => {
	for (const ending of [{role: 'ADMIN'}, null]) {
		const [one, other] = await team(portal, ['owner', 'owner']);
		const end = (by: Member, whom: Member) =>
			ending === null ? by.caller.delete(at(whom)) : by.caller.patch(at(whom), ending);
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
	const [admin, viewer] = await team(portal, ['admin', 'viewer']);
	const wanted = ['ADMIN', 'DEVELOPER', 'ANALYST', 'VIEWER', 'DEVELOPER'];
	const answers = await Promise.all(wanted.map((role) => admin.caller.patch(at(viewer), {role})));
	t.true(answers.every(({status}) => status === 200));
	t.deepEqual(
		answers.map(({body}) => body.role),
		wanted,
	);
	const {there, here} = await rolesOf(portal, viewer);
	t.is(String(there).toUpperCase(), here ?? '');
	await portal.provider.deliverTogether(portal.url, ...portal.provider.eventsAbout(viewer.user.clerkUserId));
	t.deepEqual(await rolesOf(portal, viewer), {there, here});
});
