import test from 'ava';
import {systemCaller} from '../../../src/accounts/audit/audit-log.ts';
import {fetchOnDemand} from '../../../src/accounts/identity/fetch-on-demand.ts';
import {createProviderClient, type ProviderClient} from '../../../src/accounts/identity/provider-client.ts';
import type {Call, FaultInput} from '../../fakes/shared/faults.ts';
import {portalOf} from '../../helpers/portal.ts';
import {address, membershipEvent, mirrored, taken} from './_mirror.ts';

let client: ProviderClient;
const portal = portalOf(test);
test.serial.before(async () => {
	client = portal.services.provider;
});

const callsOf = (id: string): Call[] => portal.provider.calls.filter(({path}) => path.includes(id));
const made = () => {
	const user = portal.provider.user({email: address()});
	return {user, organization: portal.provider.organization({name: `Client ${user.id}`, createdBy: user})};
};

test('an organization is made, read and deleted; one that is gone is null, and deleting it again is fine', async (t) => {
	const user = portal.provider.user();
	const organization = await client.createOrganization({name: 'Made', createdBy: user.id});
	t.like(organization, {name: 'Made', createdBy: user.id, createdAt: portal.clock.now()});
	t.deepEqual(await client.getOrganization(organization.id), organization);
	await client.deleteOrganization(organization.id);
	t.is(await client.getOrganization(organization.id), null);
	await t.notThrowsAsync(client.deleteOrganization(organization.id));
	const call = portal.provider.calls.find(({method, path}) => method === 'POST' && path === '/v1/organizations');
	t.is(call?.headers['clerk-api-version'], '2026-05-12');
});

test('a membership is found, stamped with a role, listed for its user, and removed', async (t) => {
	const {user, organization} = made();
	t.like(await client.findMembership(organization.id, user.id), {userId: user.id, role: null});
	t.like(await client.stampRole(organization.id, user.id, 'owner'), {role: 'owner', organizationId: organization.id});
	const other = portal.provider.organization({createdBy: user});
	const listed = await client.listMembershipsOfUser(user.id);
	t.deepEqual(listed.map(({organizationId}) => organizationId).toSorted(), [organization.id, other.id].toSorted());
	const member = portal.provider.user();
	portal.provider.member({organization, user: member});
	await client.removeMember(organization.id, member.id);
	t.is(await client.findMembership(organization.id, member.id), null);
	await t.notThrowsAsync(client.removeMember(organization.id, member.id));
	t.is(await client.findMembership('org_unknown', user.id), null);
	t.deepEqual(await client.listMembershipsOfUser('user_unknown'), []);
});

test('an invitation is sent with its role and no inviter, listed by status and address, and revoked once', async (t) => {
	const {organization} = made();
	const email = address();
	const invitation = await client.createInvitation(organization.id, {email, role: 'developer'});
	t.like(invitation, {email, role: 'developer', status: 'pending'});
	const [call] = callsOf(organization.id);
	t.deepEqual(call?.body, {email_address: email, role: 'org:member', public_metadata: {role: 'developer'}});
	const find = (statuses: Array<'pending' | 'revoked'>, of?: string) =>
		client.listInvitations(organization.id, {statuses, ...(of === undefined ? {} : {email: of})});
	t.deepEqual(await find(['pending'], email.toUpperCase()), {data: [invitation], total: 1});
	t.deepEqual(await find(['pending'], address()), {data: [], total: 0});
	t.like(await client.revokeInvitation(organization.id, invitation.id), {status: 'revoked'});
	t.deepEqual((await find(['pending'])).data, []);
	t.is((await find(['pending', 'revoked'])).data.length, 1);
	t.is(await client.revokeInvitation(organization.id, 'orginv_unknown'), null);
});

test('a user has the address, whether it is verified, and a name', async (t) => {
	const email = address();
	const user = portal.provider.user({email: email.toUpperCase(), emailVerified: false, lastName: 'Lisa'});
	t.like(await client.getUser(user.id), {email, isEmailVerified: false, name: 'Mona Lisa'});
	t.is(await client.getUser('user_unknown'), null);
});

const unavailable = {status: 502, message: 'Identity provider unavailable'};
const refusals: Array<[fault: FaultInput, status: number, message?: string]> = [
	[{status: 403, message: 'Seats are taken'}, 403, 'Seats are taken'],
	[{status: 403, code: 'organization_membership_quota_exceeded', message: 'Full'}, 403, 'Full'],
	[{status: 422, code: 'quota_exceeded', message: 'Full'}, 403, 'Full'],
	[{status: 402, message: 'Upgrade'}, 502],
	[{status: 403, code: 'authorization_invalid', message: 'No'}, 502],
	[{status: 403, code: 'organization_not_enabled_in_instance', message: 'No'}, 502],
	[{status: 429, message: 'Slow down', retryAfter: 60}, 502],
	[{status: 422, code: 'form_identifier_exists', message: 'Taken'}, 409, 'Taken'],
	[{status: 400, code: 'organization_invitation_not_unique', message: 'Twice'}, 409, 'Twice'],
	[{status: 422, code: 'form_param_format_invalid', message: 'Odd'}, 400, 'Odd'],
	[{status: 401, code: 'clerk_key_invalid', message: 'Wrong key'}, 502],
	[{status: 404, message: 'No such thing'}, 502],
	[{status: 500, message: 'Oops'}, 502],
	[{status: 200, rawBody: '<html>'}, 502],
	[{status: 200, rawBody: '{"id":7}'}, 502],
	[{drop: true}, 502],
];

// One after another: on a busy machine many at once might be given up after 5 s.
for (const [fault, status, message = unavailable.message] of refusals) {
	test.serial(`a provider with ${JSON.stringify(fault)} is ${status}, and creations are sent once`, async (t) => {
		const name = `Refused ${address()}`;
		// The body is text while a fault is chosen, and parsed afterwards.
		const isIt = ({body}: Call) => JSON.stringify(body ?? null).includes(name);
		portal.provider.fail({...fault, times: Number.POSITIVE_INFINITY, when: isIt});
		const error = await t.throwsAsync(client.createOrganization({name, createdBy: 'user_2x'}));
		t.like(error, {status, message});
		t.is(portal.provider.calls.filter(isIt).length, 1);
	});
}

/** Makes the calls about something fail. */
const failAbout = ({id}: {id: string}, fault: FaultInput) =>
	portal.provider.fail({times: Number.POSITIVE_INFINITY, ...fault, when: ({path}) => path.includes(id)});

test('reads and deletions are tried three times in total, and honour a requested wait', async (t) => {
	for (const fault of [{status: 500}, {drop: true}, {status: 429, retryAfter: 1}]) {
		const {organization} = made();
		failAbout(organization, {...fault, times: 2});
		const began = performance.now();
		t.like(await client.getOrganization(organization.id), {id: organization.id});
		t.is(callsOf(organization.id).length, 3);
		t.true(performance.now() - began >= ('retryAfter' in fault ? 2000 : 0));
	}

	const {organization} = made();
	failAbout(organization, {status: 503});
	t.like(await t.throwsAsync(client.deleteOrganization(organization.id)), unavailable);
	t.is(callsOf(organization.id).length, 3);
});

test('a provider that never answers is given up after 5 s', async (t) => {
	const {organization} = made();
	failAbout(organization, {hang: true});
	t.like(await t.throwsAsync(client.getOrganization(organization.id)), unavailable);
	t.is(callsOf(organization.id).length, 1);
});

test('without a key nothing is asked', async (t) => {
	const {log, config} = portal.services;
	const without = createProviderClient({apiUrl: config.idp.apiUrl, apiKey: null, log});
	t.like(await t.throwsAsync(without.getUser('user_nobody_asks_for')), unavailable);
	t.deepEqual(callsOf('user_nobody_asks_for'), []);
});

const fetch = ({id: userId}: {id: string}, {id: organizationId}: {id: string}): Promise<boolean> =>
	fetchOnDemand(portal.services, {by: systemCaller, organizationId, userId});

const founder = () => {
	const {provider} = portal;
	const user = provider.user({email: address(), firstName: 'Mona'});
	const organization = provider.organization({name: `Failing ${user.id}`});
	const membership = provider.member({organization, user});
	const created = {organization: {...membership.organization, created_by: user.id}};
	return {user, organization, event: membershipEvent(portal, 'created', membership, created)};
};

// The client makes one error of most faults, see above.
for (const [what, fault] of Object.entries({
	'answers 500': {status: 500},
	'answers 404': {status: 404, code: 'resource_not_found'},
	'answers 429 and wants a minute': {status: 429, retryAfter: 60},
	'answers with other JSON': {status: 200, rawBody: '{"data":7}'},
	'never answers': {hang: true},
})) {
	test(`a member is mirrored with 200 if the provider ${what}`, async (t) => {
		const {user, organization, event} = founder();
		failAbout(organization, fault);
		taken(t, await portal.provider.deliver(portal, event));
		t.like(await mirrored(portal, organization), {members: [{user: user.id, role: 'OWNER', name: 'Mona'}]});
	});
}

test('nobody is fetched on demand while the provider fails, and all is once it answers', async (t) => {
	const {user, organization} = founder();
	const fault = failAbout(organization, {status: 500});
	t.false(await fetch(user, organization));
	t.is(await mirrored(portal, organization), null);
	fault.lift();
	t.true(await fetch(user, organization));
	const rows = await mirrored(portal, organization);
	t.like(rows, {status: 'ACTIVE', members: [{user: user.id, role: 'VIEWER'}]});
	t.true(await fetch(user, organization), 'a second time changes nothing');
	t.deepEqual(await mirrored(portal, organization), rows);
});

test('a user who is not a member at the provider, or is known to have left, is not fetched', async (t) => {
	const {user, organization, event} = founder();
	t.false(await fetch(portal.provider.user(), organization));
	t.false(await fetch({id: 'user_unknown'}, organization));
	t.false(await fetch(user, {id: 'org_unknown'}));
	t.false(await fetch({id: '../users'}, {id: '../jwks'}));
	t.is(await mirrored(portal, organization), null);
	const ended = portal.provider.event('organizationMembership.deleted', JSON.parse(event.body).data);
	taken(t, await portal.provider.deliver(portal, ended));
	t.false(await fetch(user, organization), 'although the provider still answers with it');
	t.is(await mirrored(portal, organization), null);
});

test('an event and the fetch of one member at once make the same rows once', async (t) => {
	const {user, organization, event} = founder();
	const events = [...portal.provider.eventsAbout(organization, user), event];
	await Promise.all([
		...Array.from({length: 4}, () => fetch(user, organization)),
		portal.provider.deliverTogether(portal, ...events).then((deliveries) => taken(t, deliveries)),
	]);
	t.is((await mirrored(portal, organization))?.members.length, 1);
});
