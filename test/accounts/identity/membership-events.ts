import test, {type ExecutionContext} from 'ava';
import type {MembershipRecord} from '../../fakes/identity-provider/present.ts';
import type {WebhookEvent} from '../../fakes/shared/webhook-queue.ts';
import {admin} from '../../helpers/callers.ts';
import {portalOf, session} from '../../helpers/portal.ts';
import {
	address,
	deliverAbout,
	deliverTo,
	type MembershipChanges,
	membershipEvent,
	mirrored,
	mirroredUser,
} from './_mirror.ts';

const portal = portalOf(test);
const deliver = deliverTo(portal);

const event = (
	type: 'created' | 'updated' | 'deleted',
	membership: MembershipRecord,
	changes?: MembershipChanges,
): WebhookEvent => membershipEvent(portal, type, membership, changes);

/** A member at the provider, with a role of their own and perhaps one they were invited as; no event is delivered yet. */
const member = (role?: string, invited?: string) => {
	const {provider} = portal;
	const email = address();
	const user = provider.user({email, firstName: 'Dev'});
	const organization = provider.organization({name: `Joined by ${user.id}`});
	if (invited !== undefined) {
		provider.invitation({organization, email: email.toUpperCase(), role: invited});
	}

	const membership = provider.member({organization, user, ...(role === undefined ? {} : {role})});
	return {user, organization, membership, email};
};

/** A user who joins, with only this event delivered: neither the user nor the organization is known. */
const joined = async (t: ExecutionContext, role?: string) => {
	const made = member(role);
	await deliver(t, event('created', made.membership));
	return made;
};

const roleOf = async (organization: {id: string}) =>
	((await mirrored(portal, organization))?.members as Array<{role: string}> | undefined)?.map(({role}) => role);

const stampsOn = (organization: {id: string}) =>
	portal.provider.calls
		.filter(({method, path}) => method === 'PATCH' && path.includes(organization.id))
		.map(({body}) => body);

test('a single organizationMembership.created creates organization, user and membership, by SYSTEM', async (t) => {
	const {user, organization, email} = await joined(t, 'developer');
	t.deepEqual(await mirrored(portal, organization), {
		name: organization.name,
		status: 'ACTIVE',
		plan: null,
		isOps: false,
		contactEmail: null,
		members: [{user: user.id, email, name: 'Dev', role: 'DEVELOPER'}],
		channels: 9,
	});
	const {id} = await portal.services.db('organizations').where({clerk_org_id: organization.id}).first('id');
	const {body} = await admin(portal).get(`/admin/organizations/${id}/audit-log`);
	const record = body.data.find(({entityType}: {entityType: string}) => entityType === 'Member');
	t.like(record, {action: 'CREATE', actor: {type: 'SYSTEM'}, details: {role: 'DEVELOPER'}});
});

const newRoles: Array<
	[who: string, of: {invited?: string; role?: string; isCreator?: true}, role: string, stamp?: string]
> = [
	['invited as nobody, member as nothing', {}, 'VIEWER', 'viewer'],
	['invited as nobody, member as nothing, creator', {isCreator: true}, 'OWNER', 'owner'],
	['invited as nobody, member as developer', {role: 'developer'}, 'DEVELOPER'],
	['invited as nobody, member as developer, creator', {role: 'developer', isCreator: true}, 'DEVELOPER'],
	['invited as nobody, member as boss', {role: 'boss'}, 'VIEWER', 'viewer'],
	['invited as nobody, member as Admin', {role: 'Admin'}, 'ADMIN', 'admin'],
	['invited as analyst, member as nothing', {invited: 'analyst'}, 'ANALYST', 'analyst'],
	['invited as analyst, member as admin', {invited: 'analyst', role: 'admin'}, 'ANALYST', 'analyst'],
	['invited as analyst, member as nothing, creator', {invited: 'analyst', isCreator: true}, 'ANALYST', 'analyst'],
	['invited as boss, member as admin', {invited: 'boss', role: 'admin'}, 'ADMIN'],
	['invited as boss, member as nothing', {invited: 'boss'}, 'VIEWER', 'viewer'],
];

for (const [who, {invited, role: given, isCreator = false}, role, stamp] of newRoles) {
	test(`a new member is ${role} who was ${who}`, async (t) => {
		const {user, organization, membership} = member(given, invited);
		const changes = isCreator ? {organization: {...membership.organization, created_by: user.id}} : {};
		await deliver(t, event('created', membership, changes));
		t.deepEqual(await roleOf(organization), [role]);
		t.deepEqual(stampsOn(organization), stamp === undefined ? [] : [{public_metadata: {role: stamp}}]);
	});
}

test('an accepted invitation gives its role, the newest of several, and its session has it at once', async (t) => {
	const {provider, clock} = portal;
	const email = address();
	const organization = provider.organization({name: `Invited ${email}`});
	provider.revoke(provider.invitation({organization, email, role: 'owner'}));
	const {user_id: user} = provider.accept(provider.invitation({organization, email, role: 'viewer'})).public_user_data;
	provider.removeMember(organization, user);
	clock.advance(60);
	provider.accept(provider.invitation({organization, email, role: 'developer'}));
	await deliverAbout(t, portal, organization);
	t.deepEqual(await roleOf(organization), ['DEVELOPER']);
	t.is((await session(portal, {user, organization}).get('/portal/api-keys')).status, 200);
});

test('a late event does not write an old role over one that was given since', async (t) => {
	const {user, organization, membership} = member();
	const changed = portal.provider.updateMember(organization, user, {role: 'admin'});
	await deliver(t, event('created', membership));
	t.deepEqual(stampsOn(organization), []);
	await deliver(t, event('updated', changed));
	t.deepEqual(await roleOf(organization), ['ADMIN']);
});

test('organizationMembership.updated sets the role; an unknown one is VIEWER, none at all changes nothing', async (t) => {
	const {organization, membership} = await joined(t, 'developer');
	for (const [metadata, role] of [
		[{role: 'admin'}, 'ADMIN'],
		[{}, 'ADMIN'],
		[{role: null}, 'ADMIN'],
		[{role: 'boss'}, 'VIEWER'],
		[{role: 'OWNER'}, 'OWNER'],
		[{role: 5}, 'VIEWER'],
		[null, 'VIEWER'],
	] as const) {
		await deliver(t, event('updated', membership, {public_metadata: metadata as {role: string}}));
		t.deepEqual(await roleOf(organization), [role], JSON.stringify(metadata));
	}

	const old = {public_metadata: {role: 'admin'}, updated_at: membership.updated_at - 1};
	await deliver(t, event('updated', membership, old));
	t.deepEqual(await roleOf(organization), ['VIEWER'], 'an older one is stale');
});

test('organizationMembership.updated of a membership that is not there writes no rows', async (t) => {
	const {user, organization, membership} = member('admin');
	await deliver(t, event('updated', membership));
	t.is(await mirrored(portal, organization), null);
	t.is(await mirroredUser(portal, user), null);
});

test('organizationMembership.deleted ends access at the next call, and a late created does not bring it back', async (t) => {
	const {user, organization, membership} = await joined(t, 'admin');
	const caller = session(portal, {user, organization});
	t.is((await caller.get('/portal/api-keys')).status, 200);
	await deliver(t, event('deleted', membership));
	const cutOff = {status: 403, body: {message: 'User is not a member of this organization'}};
	t.like(await caller.get('/portal/api-keys'), cutOff);
	await deliver(t, event('created', membership), event('updated', membership));
	t.like(await caller.get('/portal/api-keys'), cutOff);
});

test('a deleted that carries no more than the id ends the membership for good', async (t) => {
	const {organization, membership} = await joined(t);
	const stub = portal.provider.event('organizationMembership.deleted', {id: membership.id, deleted: true});
	await deliver(t, stub, event('created', membership));
	t.deepEqual(await roleOf(organization), []);
});

test('a user who joins again is a member, and the earlier membership’s deletion does not remove them', async (t) => {
	const {organization, membership} = await joined(t, 'developer');
	const after = (ms: number) => ({created_at: membership.created_at + ms, updated_at: membership.updated_at + ms});
	const later = {id: `${membership.id}2`, public_metadata: {role: 'analyst'}, ...after(5000)};
	await deliver(t, event('created', membership, later));
	t.deepEqual(await roleOf(organization), ['ANALYST']);
	await deliver(t, event('deleted', membership), event('created', membership));
	t.deepEqual(await roleOf(organization), ['ANALYST']);
	await deliver(t, event('deleted', membership, later));
	t.deepEqual(await roleOf(organization), []);
	await deliver(t, event('created', membership, after(9000)));
	t.deepEqual(await roleOf(organization), ['DEVELOPER'], 'the same id, created later');
});

test('an event of a person’s membership by another id is about it, unless theirs is known to be a later one', async (t) => {
	const {organization, membership} = await joined(t, 'developer');
	const otherwise = {id: `${membership.id}2`, public_metadata: {role: 'admin'}};
	const before = {...otherwise, created_at: membership.created_at - 1};
	await deliver(t, event('updated', membership, before), event('deleted', membership, before));
	t.deepEqual(await roleOf(organization), ['DEVELOPER']);
	await deliver(t, event('updated', membership, otherwise));
	t.deepEqual(await roleOf(organization), ['ADMIN']);
	await deliver(t, event('deleted', membership, {...otherwise, created_at: undefined}));
	t.deepEqual(await roleOf(organization), []);
});

test('an update without times is applied, and an older one with a time is stale as before', async (t) => {
	const {provider} = portal;
	const {user, organization, membership} = member('developer');
	await deliverAbout(t, portal, user, organization);
	const undated = {created_at: undefined, updated_at: undefined};
	const old = {created_at: 1, updated_at: 1};
	for (const [times, word] of [
		[undated, 'Renamed'],
		[old, 'Older'],
	] as const) {
		await deliver(
			t,
			provider.event('organization.updated', {...organization, name: word, ...times}),
			provider.event('user.updated', {...user, first_name: word, ...times}),
			event('updated', membership, {public_metadata: {role: word === 'Renamed' ? 'admin' : 'viewer'}, ...times}),
		);
		t.like(await mirrored(portal, organization), {name: 'Renamed', members: [{name: 'Renamed', role: 'ADMIN'}]});
	}
});

test('a membership without an id is identified by its person and organization', async (t) => {
	const {organization, membership} = member('analyst');
	const unnamed = {id: undefined};
	await deliver(t, event('created', membership, unnamed));
	t.deepEqual(await roleOf(organization), ['ANALYST']);
	await deliver(t, event('updated', membership, {...unnamed, public_metadata: {role: 'admin'}}));
	t.deepEqual(await roleOf(organization), ['ADMIN']);
	await deliver(t, event('deleted', membership, unnamed), event('created', membership, unnamed));
	t.deepEqual(await roleOf(organization), []);
});

test('an end without an id ends the membership that has one', async (t) => {
	const {organization, membership} = await joined(t, 'developer');
	await deliver(t, event('deleted', membership, {id: undefined}));
	t.deepEqual(await roleOf(organization), []);
});

test('the contact is the first owner in any order of events, and one given here stays', async (t) => {
	const {provider, clock, services} = portal;
	const email = address();
	const [first, second] = [provider.user({email}), provider.user({email: null, username: 'second'})];
	const organization = provider.organization({name: `Contact ${first.id}`});
	const join = (user: {id: string}) => {
		clock.advance(1);
		return provider.member({organization, user, role: 'owner'});
	};
	const [one, other] = [join(first), join(second)];
	const emailOf = async () => (await mirrored(portal, organization))?.contactEmail;
	await deliver(t, event('created', other));
	t.is(await emailOf(), null, 'no address was sent');
	const later = address();
	provider.updateUser(second, {email: later});
	await deliverAbout(t, portal, second);
	t.is(await emailOf(), later);
	await deliver(t, event('created', one));
	t.is(await emailOf(), email);
	await services.db('organizations').where({clerk_org_id: organization.id}).update({contact_email: 'ours@acme.test'});
	await deliver(t, event('created', one), event('created', other));
	t.is(await emailOf(), 'ours@acme.test');
});

test('a later owner becomes the contact if there is none, in either order, and of no other organization', async (t) => {
	const {provider, clock} = portal;
	for (const isUpdateFirst of [false, true]) {
		const {organization, membership: early} = member('viewer');
		const email = address();
		const membership = provider.member({organization, user: provider.user({email}), role: 'viewer'});
		const promotion = (of: MembershipRecord) => {
			clock.advance(1);
			return event('updated', of, {public_metadata: {role: 'owner'}, updated_at: clock.now().getTime()});
		};
		const events = [event('created', membership), promotion(membership)];
		await deliver(t, ...(isUpdateFirst ? events.toReversed() : events));
		t.like(await mirrored(portal, organization), {contactEmail: email, members: [{role: 'OWNER'}]});

		// A member since before, but an owner since later.
		await deliver(t, event('created', early), promotion(early));
		t.like(await mirrored(portal, organization), {contactEmail: email});
	}
});
