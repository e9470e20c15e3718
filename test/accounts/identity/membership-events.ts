import test from 'ava';
import type {MembershipRecord} from '../../fakes/identity-provider/present.ts';
import {admin} from '../../helpers/callers.ts';
import {portalOf, session} from '../../helpers/portal.ts';
import {address, deliverAbout, membershipEvent, mirrored, mirroredUser, taken} from './_mirror.ts';

const portal = portalOf(test);

/** A user who joins, with only this event delivered: neither the user nor the organization is known. */
const joined = async (
	t: Parameters<typeof deliverAbout>[0],
	{role, changes = {}}: {role?: string; changes?: Partial<MembershipRecord>} = {},
) => {
	const {provider} = portal;
	const user = provider.user({email: address(), firstName: 'Dev'});
	const organization = provider.organization({name: `Joined by ${user.id}`});
	const membership = provider.member({organization, user, ...(role === undefined ? {} : {role})});
	taken(t, await provider.deliver(portal, membershipEvent(portal, 'created', membership, changes)));
	return {user, organization, membership, email: user.email_addresses[0]?.email_address ?? ''};
};

const roleOf = async (organization: {id: string}) =>
	((await mirrored(portal, organization))?.members as Array<{role: string}> | undefined)?.map(({role}) => role);

const stampsOn = (organization: {id: string}) =>
	portal.provider.calls.filter(({method, path}) => method === 'PATCH' && path.includes(organization.id));

test('a single organizationMembership.created creates organization, user and membership, by SYSTEM', async (t) => {
	const {user, organization, email} = await joined(t, {role: 'developer'});
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
	t.like(
		body.data.find(({entityType}: {entityType: string}) => entityType === 'Member'),
		{
			action: 'CREATE',
			actor: {type: 'SYSTEM'},
			details: {role: 'DEVELOPER'},
		},
	);
});

type RoleSource = {invited?: string; member?: string; isCreator?: boolean};
const roleTable: Array<RoleSource & {role: string; stamped: string | null}> = [
	{role: 'VIEWER', stamped: 'viewer'},
	{isCreator: true, role: 'OWNER', stamped: 'owner'},
	{member: 'developer', role: 'DEVELOPER', stamped: null},
	{member: 'developer', isCreator: true, role: 'DEVELOPER', stamped: null},
	{member: 'boss', role: 'VIEWER', stamped: 'viewer'},
	{member: 'Admin', role: 'ADMIN', stamped: 'admin'},
	{invited: 'analyst', role: 'ANALYST', stamped: 'analyst'},
	{invited: 'analyst', member: 'admin', role: 'ANALYST', stamped: 'analyst'},
	{invited: 'analyst', isCreator: true, role: 'ANALYST', stamped: 'analyst'},
	{invited: 'boss', member: 'admin', role: 'ADMIN', stamped: null},
	{invited: 'boss', role: 'VIEWER', stamped: 'viewer'},
];
const roleTitle = ({invited = 'nobody', member = 'nothing', isCreator = false}: RoleSource): string =>
	`invited as ${invited}, member as ${member}${isCreator ? ', creator' : ''}`;

for (const {invited, member, isCreator = false, role, stamped} of roleTable) {
	test(`a new member is ${role} who was ${roleTitle({
		...(invited === undefined ? {} : {invited}),
		...(member === undefined ? {} : {member}),
		isCreator,
	})}`, async (t) => {
		const {provider} = portal;
		const email = address();
		const organization = provider.organization({name: `Role of ${email}`});
		if (invited !== undefined) {
			provider.invitation({organization, email: email.toUpperCase(), role: invited});
		}

		const user = provider.user({email});
		const made = provider.member({organization, user, ...(member === undefined ? {} : {role: member})});
		const changes = isCreator ? {organization: {...made.organization, created_by: user.id}} : {};
		taken(t, await provider.deliver(portal, membershipEvent(portal, 'created', made, changes)));
		t.deepEqual(await roleOf(organization), [role]);
		t.deepEqual(
			stampsOn(organization).map(({body}) => body),
			stamped === null ? [] : [{public_metadata: {role: stamped}}],
		);
	});
}

test('an accepted invitation gives its role, the newest of several, and its session has it at once', async (t) => {
	const {provider, clock} = portal;
	const email = address();
	const organization = provider.organization({name: `Invited ${email}`});
	provider.revoke(provider.invitation({organization, email, role: 'owner'}));
	const old = provider.invitation({organization, email, role: 'viewer'});
	const gone = provider.accept(old);
	provider.removeMember(organization, gone.public_user_data.user_id);
	clock.advance(60);
	provider.accept(provider.invitation({organization, email, role: 'developer'}));
	await deliverAbout(t, portal, organization);
	t.deepEqual(await roleOf(organization), ['DEVELOPER']);
	const caller = session(portal, {user: gone.public_user_data.user_id, organization});
	t.is((await caller.get('/portal/api-keys')).status, 200);
});

test('a late event does not write an old role over one that was given since', async (t) => {
	const {provider} = portal;
	const user = provider.user({email: address()});
	const organization = provider.organization({name: `Late ${user.id}`});
	const membership = provider.member({organization, user});
	const changed = provider.updateMember(organization, user, {role: 'admin'});
	taken(t, await provider.deliver(portal, membershipEvent(portal, 'created', membership)));
	t.deepEqual(stampsOn(organization), []);
	taken(t, await provider.deliver(portal, membershipEvent(portal, 'updated', changed)));
	t.deepEqual(await roleOf(organization), ['ADMIN']);
});

test('organizationMembership.updated sets the role; an unknown one is VIEWER, none at all changes nothing', async (t) => {
	const {organization, membership} = await joined(t, {role: 'developer'});
	for (const [metadata, role] of [
		[{role: 'admin'}, 'ADMIN'],
		[{}, 'ADMIN'],
		[{role: null}, 'ADMIN'],
		[{role: 'boss'}, 'VIEWER'],
		[{role: 'OWNER'}, 'OWNER'],
		[{role: 5}, 'VIEWER'],
		[null, 'VIEWER'],
	] as const) {
		const event = membershipEvent(portal, 'updated', membership, {public_metadata: metadata as {role: string}});
		taken(t, await portal.provider.deliver(portal, event));
		t.deepEqual(await roleOf(organization), [role], JSON.stringify(metadata));
	}

	const old = {public_metadata: {role: 'admin'}, updated_at: membership.updated_at - 1};
	taken(t, await portal.provider.deliver(portal, membershipEvent(portal, 'updated', membership, old)));
	t.deepEqual(await roleOf(organization), ['VIEWER'], 'an older one is stale');
});

test('organizationMembership.updated of a membership that is not there writes no rows', async (t) => {
	const {provider} = portal;
	const user = provider.user();
	const organization = provider.organization();
	const membership = provider.member({organization, user, role: 'admin'});
	taken(t, await provider.deliver(portal, membershipEvent(portal, 'updated', membership)));
	t.is(await mirrored(portal, organization), null);
	t.is(await mirroredUser(portal, user), null);
});

test('organizationMembership.deleted ends access at the next call, and a late created does not bring it back', async (t) => {
	const {user, organization, membership} = await joined(t, {role: 'admin'});
	const caller = session(portal, {user, organization});
	t.is((await caller.get('/portal/api-keys')).status, 200);
	taken(t, await portal.provider.deliver(portal, membershipEvent(portal, 'deleted', membership)));
	const cutOff = {status: 403, body: {message: 'User is not a member of this organization'}};
	t.like(await caller.get('/portal/api-keys'), cutOff);
	const late = [membershipEvent(portal, 'created', membership), membershipEvent(portal, 'updated', membership)];
	taken(t, await portal.provider.deliver(portal, ...late));
	t.like(await caller.get('/portal/api-keys'), cutOff);
});

test('a deleted that carries no more than the id ends the membership for good', async (t) => {
	const {organization, membership} = await joined(t);
	const {id} = membership;
	const stub = portal.provider.event('organizationMembership.deleted', {id, deleted: true});
	taken(t, await portal.provider.deliver(portal, stub, membershipEvent(portal, 'created', membership)));
	t.deepEqual(await roleOf(organization), []);
});

test('a user who joins again is a member, and the earlier membership’s deletion does not remove them', async (t) => {
	const {organization, membership} = await joined(t, {role: 'developer'});
	const again = {id: `${membership.id}2`, public_metadata: {role: 'analyst'}};
	const later = {...again, created_at: membership.created_at + 5000, updated_at: membership.updated_at + 5000};
	const deliver = async (type: 'created' | 'deleted', changes: Partial<MembershipRecord>) =>
		taken(t, await portal.provider.deliver(portal, membershipEvent(portal, type, membership, changes)));
	await deliver('created', later);
	t.deepEqual(await roleOf(organization), ['ANALYST']);
	await deliver('deleted', {});
	await deliver('created', {});
	t.deepEqual(await roleOf(organization), ['ANALYST']);
	await deliver('deleted', later);
	t.deepEqual(await roleOf(organization), []);
	const sameId = {created_at: membership.created_at + 9000, updated_at: membership.updated_at + 9000};
	await deliver('created', sameId);
	t.deepEqual(await roleOf(organization), ['DEVELOPER'], 'the same id, created later');
});

test('the contact is the first owner in any order of events, and one given here stays', async (t) => {
	const {provider, clock, services} = portal;
	const [first, second] = [provider.user({email: address()}), provider.user({email: null, username: 'second'})];
	const organization = provider.organization({name: `Contact ${first.id}`});
	const memberships = [first, second].map((user) => {
		clock.advance(1);
		return provider.member({organization, user, role: 'owner'});
	});
	const emailOf = async () => (await mirrored(portal, organization))?.contactEmail;
	const created = memberships.map((membership) => membershipEvent(portal, 'created', membership));
	taken(t, await provider.deliver(portal, ...created.slice(1)));
	t.is(await emailOf(), null, 'no address was sent');
	const later = address();
	provider.updateUser(second, {email: later});
	await deliverAbout(t, portal, second);
	t.is(await emailOf(), later);
	taken(t, await provider.deliver(portal, ...created.slice(0, 1)));
	t.is(await emailOf(), first.email_addresses[0]?.email_address);
	await services.db('organizations').where({clerk_org_id: organization.id}).update({contact_email: 'ours@acme.test'});
	taken(t, await provider.deliver(portal, ...memberships.map((one) => membershipEvent(portal, 'created', one))));
	t.is(await emailOf(), 'ours@acme.test');
});

/** An event of a provider that omits the membership's id. */
const unnamedEvent = (
	type: 'created' | 'updated' | 'deleted',
	membership: MembershipRecord,
	changes: Partial<MembershipRecord> = {},
) => portal.provider.event(`organizationMembership.${type}`, {...membership, ...changes, id: undefined});

test('a membership without an id is identified by its person and organization', async (t) => {
	const {provider} = portal;
	const user = provider.user({email: address()});
	const organization = provider.organization({name: `Unnamed ${user.id}`});
	const membership = provider.member({organization, user, role: 'analyst'});
	taken(t, await provider.deliver(portal, unnamedEvent('created', membership)));
	t.deepEqual(await roleOf(organization), ['ANALYST']);

	const changed = unnamedEvent('updated', membership, {public_metadata: {role: 'admin'}});
	taken(t, await provider.deliver(portal, changed));
	t.deepEqual(await roleOf(organization), ['ADMIN']);

	const [ended, late] = [unnamedEvent('deleted', membership), unnamedEvent('created', membership)];
	taken(t, await provider.deliver(portal, ended, late));
	t.deepEqual(await roleOf(organization), []);
});

test('an end without an id ends the membership that has one', async (t) => {
	const {organization, membership} = await joined(t, {role: 'developer'});
	taken(t, await portal.provider.deliver(portal, unnamedEvent('deleted', membership)));
	t.deepEqual(await roleOf(organization), []);
});

test('a later owner becomes the contact if there is none, in either order, and of no other organization', async (t) => {
	const {provider, clock} = portal;
	for (const isUpdateFirst of [false, true]) {
		const organization = provider.organization({name: `Promoted ${isUpdateFirst} ${address()}`});
		const [early, owner] = [provider.user({email: address()}), provider.user({email: address()})];
		const viewer = provider.member({organization, user: early, role: 'viewer'});
		const second = provider.member({organization, user: owner, role: 'viewer'});
		const promotion = (membership: MembershipRecord) => {
			clock.advance(1);
			const updated = {public_metadata: {role: 'owner'}, updated_at: clock.now().getTime()};
			return membershipEvent(portal, 'updated', membership, updated);
		};
		const events = [membershipEvent(portal, 'created', second), promotion(second)];
		taken(t, await provider.deliver(portal, ...(isUpdateFirst ? events.toReversed() : events)));
		const contact = owner.email_addresses[0]?.email_address;
		t.like(await mirrored(portal, organization), {contactEmail: contact, members: [{role: 'OWNER'}]});

		// A member since before, but an owner since later.
		taken(t, await provider.deliver(portal, membershipEvent(portal, 'created', viewer), promotion(viewer)));
		t.like(await mirrored(portal, organization), {contactEmail: contact});
	}
});
