import {randomUUID} from 'node:crypto';
import test from 'ava';
import {portalOf} from '../../helpers/portal.ts';
import {address, deliverAbout, mirrored, mirroredUser, taken} from './_mirror.ts';

const portal = portalOf(test);

/** A row that is older than the account at the provider. */
const rowOf = async (email: string): Promise<string> => {
	const id = randomUUID();
	const now = portal.clock.now();
	await portal.services.db('users').insert({id, email, name: 'Old', created_at: now, updated_at: now});
	return id;
};

const rowsOf = (email: string) =>
	portal.services.db('users').where({email}).select('id', 'clerk_user_id as user', 'name');

test('user.created and user.updated mirror name, address in lower case and last sign-in', async (t) => {
	const email = address();
	const user = portal.provider.user({email: email.toUpperCase(), firstName: 'Mona', lastName: null});
	await deliverAbout(t, portal, user);
	const created = {email, name: 'Mona', role: 'USER', last_login_at: portal.clock.now()};
	t.deepEqual(await mirroredUser(portal, user), created);
	const other = address();
	portal.provider.updateUser(user, {email: other, lastName: 'Lisa'});
	await deliverAbout(t, portal, user);
	t.deepEqual(await mirroredUser(portal, user), {...created, email: other, name: 'Mona Lisa'});
	const [record] = await portal.services.db('audit_log').where({entity_type: 'User', action: 'UPDATE'});
	t.like(record, {actor_type: 'SYSTEM', organization_id: null});
});

const entry = (id: string, email: string | null, status: string | null) => ({
	id,
	email_address: email,
	verification: status === null ? null : {status},
});
const choices: Record<string, {primary: string | null; entries: unknown; chosen: number | null}> = {
	'the primary one, verified or not': {
		primary: 'b',
		entries: [
			['a', 'verified'],
			['b', 'unverified'],
		],
		chosen: 1,
	},
	'the first verified one without a primary': {
		primary: null,
		entries: [
			['a', null],
			['b', 'verified'],
		],
		chosen: 1,
	},
	'the first one where none is verified': {
		primary: 'other',
		entries: [
			['a', null],
			['b', 'unverified'],
		],
		chosen: 0,
	},
	'none of none': {primary: null, entries: [], chosen: null},
	'none of a value that is not a list': {primary: 'a', entries: 'a', chosen: null},
};

for (const [what, {primary, entries, chosen}] of Object.entries(choices)) {
	test(`the address of a user is ${what}`, async (t) => {
		const {id} = portal.provider.user();
		const emails = [address(), address()];
		const list = Array.isArray(entries)
			? entries.map(([key, status], index) => entry(key, emails[index] ?? null, status))
			: entries;
		const data = {id, primary_email_address_id: primary, email_addresses: list};
		taken(t, await portal.provider.deliver(portal, portal.provider.event('user.created', data)));
		t.like(await mirroredUser(portal, {id}), {email: chosen === null ? null : (emails[chosen] ?? ''), name: ''});
	});
}

test('a verified address links the row that has it and no provider id', async (t) => {
	const email = address();
	const id = await rowOf(email);
	const user = portal.provider.user({email: email.toUpperCase(), firstName: 'Now'});
	await deliverAbout(t, portal, user);
	t.deepEqual(await rowsOf(email), [{id, user: user.id, name: 'Now'}]);
});

test('a row that a membership made is merged into the row that the verified address leads to', async (t) => {
	const email = address();
	const id = await rowOf(email);
	const user = portal.provider.user({email, firstName: 'Joined'});
	const organization = portal.provider.organization({createdBy: user});
	const [first, ...rest] = portal.provider.eventsAbout(user, organization);
	taken(t, await portal.provider.deliver(portal, ...rest, ...(first ? [first] : [])));
	t.is(first?.type, 'user.created');
	t.deepEqual(await rowsOf(email), [{id, user: user.id, name: 'Joined'}]);
	t.like(await mirrored(portal, organization), {
		contactEmail: email,
		members: [{user: user.id, email, name: 'Joined', role: 'OWNER'}],
	});
});

test('an unverified address links nothing, is not stored twice, and fails nothing', async (t) => {
	const email = address();
	const id = await rowOf(email);
	const user = portal.provider.user({email, emailVerified: false, firstName: 'Somebody else'});
	await deliverAbout(t, portal, user);
	t.deepEqual(await rowsOf(email), [{id, user: null, name: 'Old'}]);
	t.like(await mirroredUser(portal, user), {email: null, name: 'Somebody else'});
});

test('a verified address re-points a row that another account had proved, and an older proof does not take it back', async (t) => {
	const email = address();
	const one = portal.provider.user({email, firstName: 'One'});
	await deliverAbout(t, portal, one);
	const before = await rowsOf(email);
	portal.clock.advance(10);
	const other = portal.provider.user({email, firstName: 'Other'});
	await deliverAbout(t, portal, other);
	const after = [{id: before[0]?.id, user: other.id, name: 'Other'}];
	t.deepEqual(await rowsOf(email), after);
	taken(t, await portal.provider.deliver(portal, portal.provider.event('user.updated', one)));
	t.deepEqual(await rowsOf(email), after);
});

test('a verified address is taken from a user who never verified it, who keeps row and memberships', async (t) => {
	const email = address();
	const squatter = portal.provider.user({email, emailVerified: false});
	const organization = portal.provider.organization({createdBy: squatter});
	await deliverAbout(t, portal, squatter, organization);
	t.like(await mirroredUser(portal, squatter), {email});
	const user = portal.provider.user({email, firstName: 'Owner'});
	await deliverAbout(t, portal, user);
	t.like(await mirroredUser(portal, user), {email, name: 'Owner'});
	t.like(await mirroredUser(portal, squatter), {email: null});
	t.like(await mirrored(portal, organization), {members: [{user: squatter.id, email: null, role: 'OWNER'}]});
});

test('two users who swap their addresses, and many who claim one, end without a failure', async (t) => {
	const [one, other] = [address(), address()];
	const users = [portal.provider.user({email: one}), portal.provider.user({email: other})];
	await deliverAbout(t, portal, ...users);
	portal.clock.advance(1);
	const swaps = users.map((user, index) => portal.provider.updateUser(user, {email: index === 0 ? other : one}));
	taken(t, await portal.provider.deliverTogether(portal, ...portal.provider.eventsAbout(...swaps)));
	const email = address();
	const many = Array.from({length: 8}, (_, index) => portal.provider.user({email, emailVerified: index % 2 === 0}));
	taken(t, await portal.provider.deliverTogether(portal, ...portal.provider.eventsAbout(...many)));
	t.is((await rowsOf(email)).length, 1);
});
