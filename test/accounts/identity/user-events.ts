import {randomUUID} from 'node:crypto';
import test from 'ava';
import {readUser} from '../../../src/accounts/identity/provider-payloads.ts';
import {portalOf} from '../../helpers/portal.ts';
import {address, deliverAbout, deliverTo, mirrored, mirroredUser, taken} from './_mirror.ts';

const portal = portalOf(test);
const deliver = deliverTo(portal);

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

const choices: Array<[what: string, primary: string | null, verified: Record<string, boolean | null>, chosen: string]> =
	[
		['the primary one, verified or not', 'b', {a: true, b: false}, 'b@acme.test'],
		['the first verified one without a primary', null, {a: null, b: true}, 'b@acme.test'],
		['the first one where none is verified', 'other', {a: null, b: false}, 'a@acme.test'],
	];
for (const [what, primary, verified, chosen] of choices) {
	test(`the address of a user is ${what}`, (t) => {
		const list = Object.entries(verified).map(([id, is]) => ({
			id,
			email_address: `${id}@acme.test`,
			verification: is === null ? null : {status: is ? 'verified' : 'unverified'},
		}));
		const data = {id: 'user_1', primary_email_address_id: primary, email_addresses: list};
		t.like(readUser(data), {id: 'user_1', email: chosen, name: ''});
	});
}

test('a user has no address whose addresses are none or not a list', (t) => {
	for (const list of [[], 'a']) {
		t.is(readUser({id: 'user_1', primary_email_address_id: 'a', email_addresses: list})?.email, null);
	}
});

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
	await deliverAbout(t, portal, organization);
	await deliverAbout(t, portal, user);
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
	await deliver(t, portal.provider.event('user.updated', one));
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
