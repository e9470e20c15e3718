import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {FaultInput} from '../fakes/identity-provider/faults.ts';
import {auditOf} from '../helpers/audit.ts';
import {portalOf} from '../helpers/portal.ts';
import {openInvitations, team} from './_team.ts';

const portal = portalOf(test);

const path = '/portal/team/invitations';
const address = () => `${randomUUID().slice(0, 8)}@acme.test`;

const invitesNobody = test.macro({
	exec: async (t, fault: FaultInput) => {
		const [admin] = await team(portal, ['admin']);
		const email = address();
		portal.provider.fail({path: `/organizations/${admin.clerkOrgId}/invitations`, method: 'POST', ...fault});
		const {status, body} = await admin.caller.post(path, {email, role: 'VIEWER'});
		t.is(status, 502);
		t.is(body.message, 'Identity provider unavailable');
		t.deepEqual(openInvitations(portal, admin), []);
		t.deepEqual(await auditOf(portal, admin.organization.id, 'Invitation'), []);
		t.is((await admin.caller.post(path, {email, role: 'VIEWER'})).status, 201);
	},
	title: (title) => `${title} is 502, and nobody is invited`,
});

test('a provider that fails', invitesNobody, {status: 500});
test('a provider that limits us', invitesNobody, {status: 429, retryAfter: 60});
test('a provider that fails in a proxy', invitesNobody, {rawBody: '<html>', status: 504});
test('a provider that invites and then fails', invitesNobody, {status: 500, afterwards: true});
test('a provider that invites and hangs up', invitesNobody, {drop: true, afterwards: true});
test('a provider that invites and never answers', invitesNobody, {hang: true, afterwards: true});
test('a provider that fails to list invitations', invitesNobody, {method: 'GET', status: 500, times: 3});

test('a limit of the provider is 403 with its words', async (t) => {
	const [admin] = await team(portal, ['admin'], {plan: 'ENTERPRISE'});
	for (const _ of [1, 2, 3, 4]) {
		t.is((await admin.caller.post(path, {email: address(), role: 'VIEWER'})).status, 201);
	}

	const {status, body} = await admin.caller.post(path, {email: address(), role: 'VIEWER'});
	t.is(status, 403);
	t.is(body.message, 'You have reached your limit of 5 organization memberships, including outstanding invitations.');
});

test('a failing database invites nobody', async (t) => {
	const [admin] = await team(portal, ['admin']);
	const {db} = portal.services;
	await db.raw(
		`CREATE FUNCTION refuse_record() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`,
	);
	await db.raw(`CREATE TRIGGER refuse_record BEFORE INSERT ON audit_log
		FOR EACH ROW WHEN (NEW.organization_id = '${admin.organization.id}') EXECUTE FUNCTION refuse_record()`);
	const {status} = await admin.caller.post(path, {email: address(), role: 'VIEWER'});
	t.is(status, 500);
	t.deepEqual(openInvitations(portal, admin), []);
});

test('invitations at once never exceed the quota, and use all of it', async (t) => {
	const [admin] = await team(portal, ['admin'], {plan: 'SOLO'});
	const answers = await Promise.all(
		Array.from({length: 8}, () => admin.caller.post(path, {email: address(), role: 'VIEWER'})),
	);
	t.deepEqual(answers.map(({status}) => status).toSorted(), [201, 201, 402, 402, 402, 402, 402, 402]);
	t.is(openInvitations(portal, admin).length, 2);
});

test('of invitations to one address at once one is made', async (t) => {
	const [admin] = await team(portal, ['admin']);
	const email = address();
	const answers = await Promise.all(
		['VIEWER', 'ADMIN', 'ANALYST'].map((role) => admin.caller.post(path, {email, role})),
	);
	t.deepEqual(answers.map(({status}) => status).toSorted(), [201, 409, 409]);
	t.is(openInvitations(portal, admin).length, 1);
});

test('an invitation revoked by the provider without an event is revoked', async (t) => {
	const [admin] = await team(portal, ['admin']);
	const {body} = await admin.caller.post(path, {email: address(), role: 'VIEWER'});
	const revoke = `/organizations/${admin.clerkOrgId}/invitations/${body.id}/revoke`;
	const fault = portal.provider.fail({path: revoke, status: 500});
	t.is((await admin.caller.delete(`${path}/${body.id}`)).status, 502);
	t.is(openInvitations(portal, admin).length, 1);
	fault.lift();
	portal.provider.fail({path: revoke, drop: true, afterwards: true});
	t.is((await admin.caller.delete(`${path}/${body.id}`)).status, 200);
	t.deepEqual(openInvitations(portal, admin), []);
	const records = await auditOf(portal, admin.organization.id, 'Invitation');
	t.true(records.some(({action, entityId}) => action === 'DELETE' && entityId === body.id));
});

test('the usage is shown even if the provider fails to list invitations', async (t) => {
	const [owner] = await team(portal, ['owner'], {plan: 'SOLO'});
	portal.provider.fail({path: `/organizations/${owner.clerkOrgId}/invitations`, status: 500, times: Infinity});
	const {status, body} = await owner.caller.get('/portal/usage');
	t.is(status, 200);
	t.like(body, {members: {used: 1, limit: 3}});
});
