import {randomUUID} from 'node:crypto';
import test from 'ava';
import {admin, anonymous, type Caller} from '../../helpers/callers.ts';
import {type Member, member, session} from '../../helpers/portal.ts';
import {portal} from './_portal.ts';
import {invalid, missing, noMember, noOrganization, noRole, notActive, refused, spent, tooLow} from './_refused.ts';

/** An invalid tier: a caller who is refused for it has passed every check before validation. */
const badTier = '/portal/api-keys/ADMIN/regenerate';
const goodTier = '/portal/api-keys/SERVER/regenerate';

/** The same member with other claims, from an address. */
const claiming = ({user, clerkOrgId}: Member, orgMetadata: unknown, address?: string): Caller =>
	session(portal, {user: user.clerkUserId, organization: clerkOrgId, orgMetadata}, address);

/** Sends as often as the limit of regenerating allows, and once more. */
const sixTimes = async (caller: Caller, path = badTier) => {
	const answers = [];
	for (let count = 0; count < 6; count++) {
		answers.push(await caller.post(path));
	}

	return answers;
};

test('without a session, or with too low a role, a bad tier is refused for that, and costs no point', async (t) => {
	const viewer = await member(portal);
	for (const [caller, expected] of [
		[anonymous(portal), missing],
		[viewer.caller, tooLow],
	] as const) {
		for (const answer of await sixTimes(caller)) {
			refused(t, answer, expected);
		}

		t.is((await claiming(viewer, {role: 'developer'}, caller.address).post(goodTier)).status, 200);
	}
});

test('a developer with a bad tier is 400, and costs a point of regenerating, but none of reading', async (t) => {
	const {caller} = await member(portal, {role: 'developer'});
	const answer = await caller.post(badTier);
	refused(t, answer, invalid);
	t.deepEqual(answer.body.details, [{message: 'tier must be one of [CLIENT, SERVER]', field: 'tier'}]);
	for (let count = 0; count < 4; count++) {
		t.is((await caller.post(goodTier)).status, 200);
	}

	refused(t, await caller.post(goodTier), spent);
	t.is((await caller.get('/portal/api-keys')).status, 200);
});

test.serial('a point is given back an hour after it was taken', async (t) => {
	const {caller} = await member(portal, {role: 'developer'});
	await sixTimes(caller, goodTier);
	portal.clock.advance(3599);
	t.is((await caller.post(goodTier)).body.message, 'Rate limit exceeded. Retry after 1 second(s).');
	portal.clock.advance(1);
	t.is((await caller.post(goodTier)).status, 200);
});

test('somebody who is not a member of any organization is 403 after the limit and before validation', async (t) => {
	const {clerkOrgId: organization} = await member(portal);
	const {clerkUserId: user} = (await member(portal)).user;
	for (const [claims, expected] of [
		[{user, organization}, noMember],
		[{user: 'user_unknown', organization}, noMember],
		[{user, organization: 'org_unknown'}, noOrganization],
		[{user, claims: {sts: 'active'}}, noOrganization],
	] as const) {
		const answers = await sixTimes(session(portal, {...claims, role: 'owner'}));
		const sixth = answers.pop();
		for (const answer of answers) {
			refused(t, answer, expected);
		}

		t.like(sixth, {status: 429, body: {message: spent.message}});
	}
});

test('members of a suspended organization are 403, after their role, until it is active again', async (t) => {
	const {organization, caller} = await member(portal);
	await organization.operator.post('/suspend');
	refused(t, await caller.get('/portal/links'), notActive);
	refused(t, await caller.get('/portal/api-keys'), notActive);
	refused(t, await caller.post(badTier), tooLow);
	await organization.operator.post('/activate');
	t.is((await caller.get('/portal/links')).status, 200);
});

test('an org_metadata without a role of the ladder is 403 where one is required, and costs no point', async (t) => {
	const owner = await member(portal, {role: 'owner'});
	const {address} = owner.caller;
	for (const orgMetadata of [null, undefined, {}, {role: 'superuser'}, {role: 'OWNER'}, {role: ['owner']}, 'owner']) {
		const caller = claiming(owner, orgMetadata, address);
		refused(t, await caller.post(badTier), noRole);
		refused(t, await caller.get('/portal/links'), noRole);
		t.is((await caller.get('/portal/api-keys')).status, 200);
	}

	t.is((await owner.caller.post(goodTier)).status, 200);
});

test('the role is the claim’s, not the mirrored one', async (t) => {
	const demoted = await member(portal, {role: 'owner'});
	refused(t, await claiming(demoted, {role: 'viewer'}).post('/portal/links', {path: '/sale'}), tooLow);
	const promoted = await member(portal, {role: 'viewer'});
	t.is((await claiming(promoted, {role: 'developer'}).post('/portal/links', {path: '/sale'})).status, 201);
});

test('the flat form of the claims is good as well', async (t) => {
	const {user, clerkOrgId} = await member(portal);
	const flat = session(portal, {user: user.clerkUserId, organization: clerkOrgId, version: 1});
	t.is((await flat.get('/portal/links')).status, 200);
});

test('API keys and the admin token open no portal route', async (t) => {
	const {organization} = await member(portal);
	for (const caller of [organization.server, organization.client, admin(portal)]) {
		refused(t, await caller.get('/portal/links'), {status: 401, message: 'Invalid Clerk session token'});
	}
});

test('values are checked after the membership, all of them at once', async (t) => {
	const {caller} = await member(portal, {role: 'developer'});
	const answer = await caller.patch('/portal/links/nonsense', {title: 7, unknown: true});
	refused(t, answer, invalid);
	t.deepEqual(answer.body.details.map(({field}: {field: string}) => field).toSorted(), ['id', 'title', 'unknown']);
	refused(t, await caller.get(`/portal/links/${randomUUID()}`), {status: 404, message: 'Link not found'});
});

test.serial('one address has 30 requests a second over all portal routes together', async (t) => {
	const {user, clerkOrgId, caller} = await member(portal, {role: 'analyst'});
	const paths = ['/portal/links', '/portal/api-keys', '/portal/usage', '/portal/events', '/portal/domains'];
	const answers = await Promise.all(Array.from({length: 40}, (_, n) => caller.get(paths[n % paths.length] ?? '')));
	const count = (wanted: number) => answers.filter(({status}) => status === wanted).length;
	t.deepEqual([count(200), count(429)], [30, 10]);
	const limited = answers.find(({status}) => status === 429);
	t.is(limited?.body.message, 'Rate limit exceeded. Retry after 1 second(s).');
	t.is(limited?.headers['retry-after'], undefined);
	const elsewhere = session(portal, {user: user.clerkUserId, organization: clerkOrgId});
	t.is((await elsewhere.get('/portal/links')).status, 200);
	portal.clock.advance(1);
	t.is((await caller.get('/portal/links')).status, 200);
});
