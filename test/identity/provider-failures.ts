import test from 'ava';
import {systemCaller} from '../../src/audit/audit-log.ts';
import {fetchOnDemand} from '../../src/identity/fetch-on-demand.ts';
import type {FaultInput} from '../fakes/identity-provider/faults.ts';
import {portalOf} from '../helpers/portal.ts';
import {address, membershipEvent, mirrored, taken} from './_mirror.ts';

const portal = portalOf(test);

const founder = () => {
	const {provider} = portal;
	const user = provider.user({email: address(), firstName: 'Mona'});
	const organization = provider.organization({name: `Failing ${user.id}`});
	const membership = provider.member({organization, user});
	const created = {organization: {...membership.organization, created_by: user.id}};
	return {user, organization, event: membershipEvent(portal, 'created', membership, created)};
};

const faults: Record<string, FaultInput> = {
	'answers 500': {status: 500},
	'answers 401': {status: 401, code: 'clerk_key_invalid'},
	'answers 404': {status: 404, code: 'resource_not_found'},
	'answers 429 and wants a minute': {status: 429, retryAfter: 60},
	'answers with a page of HTML': {status: 200, rawBody: '<html>'},
	'answers with other JSON': {status: 200, rawBody: '{"data":7}'},
	'ends the connection': {drop: true},
	'never answers': {hang: true},
};

for (const [what, fault] of Object.entries(faults)) {
	test(`a member is mirrored with 200 if the provider ${what}`, async (t) => {
		const {user, organization, event} = founder();
		portal.provider.fail({...fault, times: Number.POSITIVE_INFINITY, when: ({path}) => path.includes(organization.id)});
		taken(t, await portal.provider.deliver(portal, event));
		t.like(await mirrored(portal, organization), {members: [{user: user.id, role: 'OWNER', name: 'Mona'}]});
	});
}

test('nobody is fetched on demand while the provider fails, and all is once it answers', async (t) => {
	const {user, organization} = founder();
	const named = {by: systemCaller, organizationId: organization.id, userId: user.id};
	const fault = portal.provider.fail({
		status: 500,
		times: Number.POSITIVE_INFINITY,
		when: ({path}) => path.includes(organization.id),
	});
	t.false(await fetchOnDemand(portal.services, named));
	t.is(await mirrored(portal, organization), null);
	fault.lift();
	t.true(await fetchOnDemand(portal.services, named));
	const rows = await mirrored(portal, organization);
	t.like(rows, {status: 'ACTIVE', members: [{user: user.id, role: 'VIEWER'}]});
	t.true(await fetchOnDemand(portal.services, named), 'a second time changes nothing');
	t.deepEqual(await mirrored(portal, organization), rows);
});

test('a user who is not a member at the provider, or is known to have left, is not fetched', async (t) => {
	const {user, organization, event} = founder();
	const stranger = portal.provider.user();
	const fetch = (userId: string, organizationId = organization.id) =>
		fetchOnDemand(portal.services, {by: systemCaller, organizationId, userId});
	t.false(await fetch(stranger.id));
	t.false(await fetch('user_unknown'));
	t.false(await fetch(user.id, 'org_unknown'));
	t.false(await fetch('../users', '../jwks'));
	t.is(await mirrored(portal, organization), null);
	const ended = portal.provider.event('organizationMembership.deleted', JSON.parse(event.body).data);
	taken(t, await portal.provider.deliver(portal, ended));
	t.false(await fetch(user.id), 'although the provider still answers with it');
	t.is(await mirrored(portal, organization), null);
});

test('an event and the fetch of one member at once make the same rows once', async (t) => {
	const {user, organization, event} = founder();
	const named = {by: systemCaller, organizationId: organization.id, userId: user.id};
	const events = [...portal.provider.eventsAbout(organization, user), event];
	await Promise.all([
		...Array.from({length: 4}, () => fetchOnDemand(portal.services, named)),
		portal.provider.deliverTogether(portal, ...events).then((deliveries) => taken(t, deliveries)),
	]);
	t.is((await mirrored(portal, organization))?.members.length, 1);
});
