import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {FaultInput} from '../../fakes/shared/faults.ts';
import {auditOf} from '../../helpers/audit.ts';
import {organization} from '../../helpers/builders.ts';
import {type Member, ops} from '../../helpers/portal.ts';
import {openInvitations, portal, refusal, rolesOf, team, tooLow, unavailable} from './_team.ts';

const path = '/portal/team/invitations';
const address = () => `${randomUUID().slice(0, 8)}@acme.test`;
const invite = ({caller}: Member, email = address(), role = 'VIEWER') => caller.post(path, {email, role});

test('an admin invites a developer, who is one after accepting', async (t) => {
	const [admin] = await team(['admin']);
	const email = address();
	const {status, body} = await invite(admin, email.toUpperCase(), 'developer');
	t.is(status, 201);
	t.deepEqual(Object.keys(body).toSorted(), ['createdAt', 'email', 'expiresAt', 'id', 'role', 'status']);
	t.like(body, {email, role: 'DEVELOPER', status: 'pending'});
	const atProvider = {id: body.id, email_address: email, role: 'org:member', inviter_id: null};
	t.like(openInvitations(admin), [{...atProvider, public_metadata: {role: 'developer'}}]);
	t.like((await admin.caller.get(path)).body, {total: 1, page: 1, limit: 20, data: [body]});
	const actor = {type: 'USER', id: admin.user.id};
	const record = {action: 'CREATE', entityId: body.id, actor, details: {email, role: 'DEVELOPER'}};
	t.like(await auditOf(portal, admin.organization.id, 'Invitation'), [record]);

	portal.provider.accept(body.id);
	await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(admin.clerkOrgId));
	const members = await admin.caller.get('/portal/team');
	const joined = members.body.data.find((one: {email: string}) => one.email === email);
	t.like(joined, {email, role: 'DEVELOPER'});
	t.is((await admin.caller.get(path)).body.total, 0);
});

test('invitations are listed newest first, page by page', async (t) => {
	const [admin] = await team(['admin']);
	const emails = [address(), address(), address()];
	for (const email of emails) {
		await invite(admin, email);
		portal.clock.advance(1);
	}

	const {body} = await admin.caller.get(`${path}?limit=2&page=2`);
	t.like(body, {total: 3, page: 2, limit: 2, data: [{email: emails[0]}]});
	t.is(body.data.length, 1);
	t.is((await admin.caller.get(`${path}?page=0`)).status, 400);
});

test('an invitation can be taken back once', async (t) => {
	const [admin] = await team(['admin']);
	const email = address();
	const {id} = (await invite(admin, email)).body;
	t.like(await admin.caller.delete(`${path}/${id}`), {status: 200, body: {id, deleted: true}});
	t.deepEqual(openInvitations(admin), []);
	t.like(await admin.caller.delete(`${path}/${id}`), refusal(404, 'Invitation not found'));
	const records = await auditOf(portal, admin.organization.id, 'Invitation');
	t.deepEqual(records.map(({action}) => action).toSorted(), ['CREATE', 'DELETE']);
	t.is((await invite(admin, email)).status, 201);
});

test('the invitations of another organization can be neither seen nor revoked', async (t) => {
	const [[admin], [stranger]] = [await team(['admin']), await team(['admin'])];
	const {body} = await invite(admin);
	t.is((await stranger.caller.get(path)).body.total, 0);
	t.is((await stranger.caller.delete(`${path}/${body.id}`)).status, 404);
	t.is(openInvitations(admin).length, 1);
});

test('an address is invited once, without case', async (t) => {
	const [admin] = await team(['admin']);
	const email = address();
	t.is((await invite(admin, email)).status, 201);
	const again = await invite(admin, email.toUpperCase(), 'ADMIN');
	t.like(again, refusal(409, `${email} already has an open invitation`));
	t.is(openInvitations(admin).length, 1);
});

test('a member is not invited, nor is one known only to the provider', async (t) => {
	const [admin, viewer] = await team(['admin', 'viewer']);
	const {email} = viewer.user;
	const again = await invite(admin, email.toUpperCase(), 'ADMIN');
	t.like(again, refusal(409, `${email} is already a member of the organization`));
	t.deepEqual(await rolesOf(viewer), {there: 'viewer', here: 'VIEWER'});

	const other = address();
	portal.provider.member({organization: admin.clerkOrgId, user: portal.provider.user({email: other})});
	t.like(await invite(admin, other), refusal(409, `${other} is already a member of the organization.`));
});

test('bad values of an invitation are 400', async (t) => {
	const [admin] = await team(['admin']);
	const email = address();
	for (const body of [
		{},
		{email},
		{role: 'VIEWER'},
		{email: 'mona', role: 'VIEWER'},
		{email, role: 'KING'},
		{email: null, role: 'VIEWER'},
		{email, role: 'VIEWER', expiresInDays: 3},
		{email: `${'x'.repeat(320)}@acme.test`, role: 'VIEWER'},
	]) {
		t.is((await admin.caller.post(path, body)).status, 400, JSON.stringify(body));
	}

	t.is((await admin.caller.delete(`${path}/not%20an%20id`)).status, 400);
	t.is((await admin.caller.delete(`${path}/orginv_unknown`)).status, 404);
});

test('only an owner invites an owner', async (t) => {
	const [admin, owner] = await team(['admin', 'owner']);
	t.like(await invite(admin, address(), 'OWNER'), tooLow);
	t.like(await invite(owner, address(), 'OWNER'), {status: 201, body: {role: 'OWNER'}});
});

test('without a plan nobody is invited', async (t) => {
	const [owner] = await team(['owner'], {plan: null});
	t.like(await invite(owner), {status: 402, body: {code: 'PLAN_NOT_SELECTED'}});
	t.deepEqual(openInvitations(owner), []);
});

const full = {code: 'QUOTA_EXCEEDED', quota: 'members', message: "You've reached your members limit."};

test('open invitations count as members', async (t) => {
	const [owner] = await team(['owner'], {plan: 'STARTER'});
	const usage = async () => (await owner.caller.get('/portal/usage')).body.members;
	const {body: first} = await invite(owner);
	t.like(await invite(owner), {status: 402, body: full});
	t.is(openInvitations(owner).length, 1);
	t.deepEqual(await usage(), {used: 2, limit: 2});

	t.is((await owner.caller.delete(`${path}/${first.id}`)).status, 200);
	t.deepEqual(await usage(), {used: 1, limit: 2});
	t.is((await invite(owner)).status, 201);
});

test('a member that has accepted counts before the event of it arrives', async (t) => {
	const [owner] = await team(['owner'], {plan: 'STARTER'});
	portal.provider.accept((await invite(owner)).body);
	t.like(await invite(owner), {status: 402, body: full});
});

test.serial('an invitation that has expired frees its place', async (t) => {
	const [owner] = await team(['owner'], {plan: 'STARTER'});
	portal.provider.invitation({organization: owner.clerkOrgId, email: address(), expiresInDays: 1});
	t.is((await invite(owner)).status, 402);
	portal.clock.advance(86_401);
	t.is((await invite(owner)).status, 201);
});

test('an organization that an operator made has no invitations', async (t) => {
	const {id} = await organization(portal);
	const {caller} = ops(portal);
	t.like((await caller.get(`${path}?orgId=${id}`)).body, {data: [], total: 0});
	const {status} = await caller.post(`${path}?orgId=${id}`, {email: address(), role: 'VIEWER'});
	t.is(status, 409);
});

const invitesNobody = test.macro({
	exec: async (t, fault: FaultInput) => {
		const [admin] = await team(['admin']);
		const email = address();
		portal.provider.fail({path: `/organizations/${admin.clerkOrgId}/invitations`, method: 'POST', ...fault});
		t.like(await invite(admin, email), unavailable);
		t.deepEqual(openInvitations(admin), []);
		t.deepEqual(await auditOf(portal, admin.organization.id, 'Invitation'), []);
		t.is((await invite(admin, email)).status, 201);
	},
	title: (title) => `${title} is 502, and nobody is invited`,
});

test('a provider that fails', invitesNobody, {status: 500});
test('a provider that invites and then fails', invitesNobody, {status: 500, afterwards: true});
test('a provider that invites and hangs up', invitesNobody, {drop: true, afterwards: true});
test('a provider that invites and never answers', invitesNobody, {hang: true, afterwards: true});
test('a provider that fails to list invitations', invitesNobody, {method: 'GET', status: 500, times: 3});

test('a limit of invitations at the provider is 403 with its words', async (t) => {
	const [admin] = await team(['admin'], {plan: 'ENTERPRISE'});
	for (const _ of [1, 2, 3, 4]) {
		t.is((await invite(admin)).status, 201);
	}

	const message = 'You have reached your limit of 5 organization memberships, including outstanding invitations.';
	t.like(await invite(admin), refusal(403, message));
});

test('a failing database invites nobody', async (t) => {
	const [admin] = await team(['admin']);
	const {db} = portal.services;
	await db.raw(
		`CREATE FUNCTION refuse_record() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`,
	);
	await db.raw(`CREATE TRIGGER refuse_record BEFORE INSERT ON audit_log
		FOR EACH ROW WHEN (NEW.organization_id = '${admin.organization.id}') EXECUTE FUNCTION refuse_record()`);
	t.is((await invite(admin)).status, 500);
	t.deepEqual(openInvitations(admin), []);
});

test('invitations at once never exceed the quota, and use all of it', async (t) => {
	const [admin] = await team(['admin'], {plan: 'SOLO'});
	const answers = await Promise.all(Array.from({length: 8}, () => invite(admin)));
	t.deepEqual(answers.map(({status}) => status).toSorted(), [201, 201, 402, 402, 402, 402, 402, 402]);
	t.is(openInvitations(admin).length, 2);
});

test('of invitations to one address at once one is made', async (t) => {
	const [admin] = await team(['admin']);
	const email = address();
	const answers = await Promise.all(['VIEWER', 'ADMIN', 'ANALYST'].map((role) => invite(admin, email, role)));
	t.deepEqual(answers.map(({status}) => status).toSorted(), [201, 409, 409]);
	t.is(openInvitations(admin).length, 1);
});

test('an invitation revoked by the provider without an event is revoked', async (t) => {
	const [admin] = await team(['admin']);
	const {body} = await invite(admin);
	const revoke = `/organizations/${admin.clerkOrgId}/invitations/${body.id}/revoke`;
	const fault = portal.provider.fail({path: revoke, status: 500});
	t.is((await admin.caller.delete(`${path}/${body.id}`)).status, 502);
	t.is(openInvitations(admin).length, 1);
	fault.lift();
	portal.provider.fail({path: revoke, drop: true, afterwards: true});
	t.is((await admin.caller.delete(`${path}/${body.id}`)).status, 200);
	t.deepEqual(openInvitations(admin), []);
	const records = await auditOf(portal, admin.organization.id, 'Invitation');
	t.true(records.some(({action, entityId}) => action === 'DELETE' && entityId === body.id));
});
