import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {FaultInput} from '../../fakes/shared/faults.ts';
import {createOrganization, type Newcomer, newcomer, organizationsNamed, portal, uniqueName} from './_newcomer.ts';

const path = '/portal/onboarding/create-organization';
const nowhere = {there: [], here: []};

/** How many organizations of a name there are, at the provider and here. */
const countNamed = async (name: string) => {
	const {there, here} = await organizationsNamed(name);
	return [there.length, here.length];
};
const nameInUse = (name: string) => ({status: 409, body: {message: `An organization named '${name}' already exists`}});

type Faulty = 'make' | 'stamp' | 'list' | 'user';

/** Makes the provider's calls for one user or name fail. */
const fail = (what: Faulty, {userId, name}: {userId: string; name: string}, fault: FaultInput) => {
	const calls: Record<Faulty, FaultInput> = {
		make: {
			method: 'POST',
			path: '/organizations',
			when: ({body}) => typeof body === 'string' && body.includes(JSON.stringify(name)),
		},
		stamp: {method: 'PATCH', path: `/organizations/:id/memberships/${userId}/metadata`},
		list: {method: 'GET', path: `/users/${userId}/organization_memberships`},
		user: {method: 'GET', path: `/users/${userId}`},
	};
	return portal.provider.fail({...calls[what], ...fault});
};

const refusesAndLeavesNothing = test.macro({
	exec: async (t, what: Faulty, fault: FaultInput) => {
		const mona = newcomer();
		const name = uniqueName();
		const fails = fail(what, {userId: mona.user.id, name}, fault);
		const refused = await mona.caller.post(path, {name});
		t.like(refused, {status: 502, body: {message: 'Identity provider unavailable'}});
		t.deepEqual(await organizationsNamed(name), nowhere);
		fails.lift();

		// Its events leave nothing here either, and do not prevent another attempt.
		await portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(mona.user));
		t.is((await mona.caller.post(path, {name})).status, 201);
		t.deepEqual(await countNamed(name), [1, 1]);
	},
	title: (title) => `${title} is 502, and nothing stays on either side`,
});

test('a provider that fails to make it', refusesAndLeavesNothing, 'make', {status: 500});
test('a provider that makes it and then fails', refusesAndLeavesNothing, 'make', {status: 503, afterwards: true});
test('a provider that makes it and hangs up', refusesAndLeavesNothing, 'make', {drop: true, afterwards: true});
test('a provider that makes it and never answers', refusesAndLeavesNothing, 'make', {hang: true, afterwards: true});
test('a provider that does not write the role', refusesAndLeavesNothing, 'stamp', {status: 500});
test('a provider that writes the role and hangs up', refusesAndLeavesNothing, 'stamp', {drop: true, afterwards: true});
test('a provider that fails to list organizations', refusesAndLeavesNothing, 'list', {status: 500, times: 3});
test('a provider that fails to return the user', refusesAndLeavesNothing, 'user', {status: 500, times: 3});

test('a limit of the provider is 403 with its words', async (t) => {
	const mona = newcomer();
	const name = uniqueName();
	const message = 'You have reached your limit of organizations.';
	fail('make', {userId: mona.user.id, name}, {status: 403, code: 'organization_quota_exceeded', message});
	t.like(await mona.caller.post(path, {name}), {status: 403, body: {message}});
	t.deepEqual(await organizationsNamed(name), nowhere);
});

test('a database that fails leaves nothing at the provider', async (t) => {
	const {db} = portal.services;
	await db.raw(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`);
	await db.raw(`CREATE TRIGGER refuse BEFORE INSERT ON organizations
		FOR EACH ROW WHEN (NEW.name LIKE 'Unstorable%') EXECUTE FUNCTION refuse()`);
	const mona = newcomer();
	const name = `Unstorable ${uniqueName()}`;
	t.is((await mona.caller.post(path, {name})).status, 500);
	t.deepEqual(await organizationsNamed(name), nowhere);
	t.is((await mona.caller.post(path, {name: uniqueName()})).status, 201);
});

/** The provider creates the organization and then is unreachable until its answer has been given up. */
const makeUnheard = async () => {
	const mona = newcomer();
	const name = uniqueName();
	const {id: userId} = mona.user;
	fail('make', {userId, name}, {drop: true, afterwards: true});
	const isMade = () => [...portal.provider.directory.organizations.values()].some((one) => one.name === name);
	const away = fail('list', {userId, name}, {times: Infinity, status: 500, when: isMade});
	const {status} = await mona.caller.post(path, {name});
	away.lift();
	return {mona, name, status};
};
const readState = async ({caller}: Newcomer) => (await caller.get('/portal/onboarding/state')).body;
const deliverAbout = ({user}: Newcomer) => portal.provider.deliver(portal.url, ...portal.provider.eventsAbout(user));

test('an attempt known only to the provider is completed by the next one of that name', async (t) => {
	const {mona, name, status} = await makeUnheard();
	t.is(status, 502);
	t.is((await organizationsNamed(name)).there.length, 1);
	const again = await mona.caller.post(path, {name});
	t.is(again.status, 201);
	const {there, here} = await organizationsNamed(name);
	t.like({there, here}, {there: [{created_by: mona.user.id}], here: [{id: again.body.id, clerk_org_id: there[0]?.id}]});
	t.is((await mona.in(there[0]?.id ?? '').patch('/portal/organization', {name: uniqueName()})).status, 200);
});

test('an attempt known only to the provider is not lost if the next one fails too', async (t) => {
	const {mona, name} = await makeUnheard();
	fail('stamp', {userId: mona.user.id, name}, {status: 500});
	t.is((await mona.caller.post(path, {name})).status, 502);
	t.is((await organizationsNamed(name)).there.length, 1);
	t.like(await readState(mona), {organization: {name}});
});

test('an attempt known only to the provider becomes its user’s organization even if the name is in use', async (t) => {
	const {mona, name} = await makeUnheard();
	await createOrganization(newcomer(), name);
	t.like(await mona.caller.post(path, {name}), nameInUse(name));
	t.like(await readState(mona), {organization: {name}, nextStep: 'select-plan'});
	t.deepEqual(await countNamed(name), [2, 2]);
});

test('an attempt known only to the provider becomes the organization of a user who tries another name', async (t) => {
	const {mona, name} = await makeUnheard();
	t.is((await mona.caller.post(path, {name: uniqueName()})).status, 409);
	t.like(await readState(mona), {organization: {name}, nextStep: 'select-plan'});
});

test('an attempt known only to the provider is completed by its events', async (t) => {
	const {mona, name} = await makeUnheard();
	await deliverAbout(mona);
	t.like(await readState(mona), {organization: {name}, nextStep: 'select-plan'});
	const {there} = await organizationsNamed(name);
	t.is((await mona.in(there[0]?.id ?? '').patch('/portal/organization', {contactEmail: null})).status, 200);
});

test('an orphan of a refused attempt is deleted by the next one', async (t) => {
	const name = uniqueName();
	await createOrganization(newcomer(), name);
	const lisa = newcomer();
	const isHers = ({path: called}: {path: string}) => {
		const [, , , id = ''] = called.split('/');
		return portal.provider.directory.organizations.get(id)?.created_by === lisa.user.id;
	};
	const away = portal.provider.fail({method: 'DELETE', times: Infinity, status: 500, when: isHers});
	t.is((await lisa.caller.post(path, {name})).status, 409);
	t.is((await organizationsNamed(name)).there.length, 2);
	away.lift();

	await deliverAbout(lisa);
	t.like(await readState(lisa), {organization: null});
	t.is((await lisa.caller.post(path, {name: uniqueName()})).status, 201);
	t.is((await organizationsNamed(name)).there.length, 1);
});

test('a killed process blocks nobody for longer than its lease', async (t) => {
	const mona = newcomer();
	const lease = {name: `create-organization:${mona.user.id}`, holder: randomUUID()};
	await portal.services.db('leases').insert({...lease, expires_at: portal.clock.now()});
	t.is((await mona.caller.post(path, {name: uniqueName()})).status, 201);
});

const statuses = (answers: Array<{status: number}>) => answers.map(({status}) => status).toSorted();

test('of attempts of one user at once one makes an organization', async (t) => {
	const mona = newcomer();
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
	const people = [newcomer(), newcomer(), newcomer()];
	const answers = await Promise.all(people.map(({caller}) => caller.post(path, {name})));
	t.deepEqual(statuses(answers), [201, 409, 409]);
	const {there, here} = await organizationsNamed(name);
	t.deepEqual(
		here.map(({clerk_org_id}) => clerk_org_id),
		there.map(({id}) => id),
	);
	t.is(here.length, 1);
});

/** Delivers all events of an organization while the service still waits to write the owner's role. */
const deliverMeanwhile = (person: Newcomer) => {
	let delivered: Promise<unknown> = Promise.resolve();
	const when = () => {
		delivered = deliverAbout(person);
		return true;
	};
	fail('stamp', {userId: person.user.id, name: ''}, {delay: 300, when});
	return () => delivered;
};

test('events that come while an organization is made change nothing of the outcome', async (t) => {
	const mona = newcomer();
	const delivered = deliverMeanwhile(mona);
	const {organization, clerkOrgId} = await createOrganization(mona);
	await delivered();
	t.deepEqual(await countNamed(organization.name), [1, 1]);
	const owner = mona.in(clerkOrgId);
	t.like((await owner.get('/portal/team')).body, {total: 1, data: [{role: 'OWNER', email: mona.email}]});
	t.like((await owner.get('/portal/organization')).body, {name: organization.name, contactEmail: mona.email});
});

test('events that come while a name in use is refused leave nothing', async (t) => {
	const name = uniqueName();
	await createOrganization(newcomer(), name);
	const lisa = newcomer();
	const delivered = deliverMeanwhile(lisa);
	const answer = await lisa.caller.post(path, {name});
	await delivered();
	t.like(answer, nameInUse(name));
	t.deepEqual(await countNamed(name), [1, 1]);
	t.like(await readState(lisa), {organization: null});
});

test.serial('a hanging provider delays nobody else', async (t) => {
	const people = Array.from({length: 12}, () => ({...newcomer(), name: uniqueName()}));
	portal.provider.fail({
		method: 'POST',
		path: '/organizations',
		hang: true,
		times: Infinity,
		when: ({body}) => people.some(({name}) => String(body).includes(name)),
	});
	let isWaiting = true;
	const ended = Promise.all(people.map(({caller, name}) => caller.post(path, {name}))).finally(() => {
		isWaiting = false;
	});
	await createOrganization(newcomer());
	t.true(isWaiting);
	t.true((await ended).every(({status}) => status === 502));
});
