import test from 'ava';
import {portalOf} from '../helpers/portal.ts';
import {createOrganization, newcomer, organizationsNamed, uniqueName} from './_newcomer.ts';

const portal = portalOf(test);

const path = '/portal/onboarding/create-organization';
const statuses = (answers: Array<{status: number}>) => answers.map(({status}) => status).toSorted();

test('of attempts of one user at once one makes an organization', async (t) => {
	const mona = newcomer(portal);
	const name = uniqueName();
	const answers = await Promise.all(
		[name, name, `${name} 2`, `${name} 3`].map((one) => mona.caller.post(path, {name: one})),
	);
	t.deepEqual(statuses(answers), [201, 409, 409, 409]);
	const there = [...portal.provider.directory.organizations.values()].filter((one) => one.created_by === mona.user.id);
	t.is(there.length, 1);
	const {db} = portal.services;
	t.is((await db('organizations').where('name', 'like', `${name}%`)).length, 1);
});

test('of users who request one name at once one gets it', async (t) => {
	const name = uniqueName();
	const people = [newcomer(portal), newcomer(portal), newcomer(portal)];
	const answers = await Promise.all(people.map(({caller}) => caller.post(path, {name})));
	t.deepEqual(statuses(answers), [201, 409, 409]);
	const {there, here} = await organizationsNamed(portal, name);
	t.deepEqual([there.length, here.length], [1, 1]);
	t.is(here[0]?.clerk_org_id, there[0]?.id);
});

/** Delivers all events of an organization while the service still waits to write the owner's role. */
const deliverMeanwhile = (userId: string) => {
	let delivered: Promise<unknown> = Promise.resolve();
	portal.provider.fail({
		method: 'PATCH',
		path: `/organizations/:id/memberships/${userId}/metadata`,
		delay: 300,
		when: () => {
			delivered = portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(userId));
			return true;
		},
	});
	return () => delivered;
};

test('events that come while an organization is made change nothing of the outcome', async (t) => {
	const mona = newcomer(portal);
	const delivered = deliverMeanwhile(mona.user.id);
	const {organization, clerkOrgId} = await createOrganization(portal, mona);
	await delivered();
	const {there, here} = await organizationsNamed(portal, organization.name);
	t.deepEqual([there.length, here.length], [1, 1]);
	t.like((await mona.in(clerkOrgId).get('/portal/team')).body, {total: 1, data: [{role: 'OWNER', email: mona.email}]});
	t.like((await mona.in(clerkOrgId).get('/portal/organization')).body, {
		name: organization.name,
		contactEmail: mona.email,
	});
});

test('events that come while a name in use is refused leave nothing', async (t) => {
	const name = uniqueName();
	await createOrganization(portal, newcomer(portal), name);
	const lisa = newcomer(portal);
	const delivered = deliverMeanwhile(lisa.user.id);
	const {status, body} = await lisa.caller.post(path, {name});
	await delivered();
	t.is(status, 409);
	t.is(body.message, `An organization named '${name}' already exists`);
	const {there, here} = await organizationsNamed(portal, name);
	t.deepEqual([there.length, here.length], [1, 1]);
	t.like((await lisa.caller.get('/portal/onboarding/state')).body, {organization: null});
});

test.serial('a hanging provider delays nobody else', async (t) => {
	const people = Array.from({length: 12}, () => newcomer(portal));
	const names = new Set(people.map(() => uniqueName()));
	portal.provider.fail({
		method: 'POST',
		path: '/organizations',
		hang: true,
		times: Infinity,
		when: ({body}) => [...names].some((name) => String(body).includes(name)),
	});
	let isWaiting = true;
	const waiting = Promise.all([...names].map((name, index) => people[index]?.caller.post(path, {name})));
	const ended = waiting.finally(() => {
		isWaiting = false;
	});
	await createOrganization(portal, newcomer(portal));
	t.true(isWaiting);
	t.true((await ended).every((answer) => answer?.status === 502));
});
