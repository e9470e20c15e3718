import test from 'ava';
import {auditOf} from '../../helpers/audit.ts';
import {withKey} from '../../helpers/callers.ts';
import {type Member, member, ops, portalOf} from '../../helpers/portal.ts';
import {clicked, iPhoneApp, network, nothing, open, visit} from '../../visits/matches/_phones.ts';
import {refused} from './_refused.ts';

const portal = portalOf(test);

/** Every row that a match would write or change. */
const traces = async () => {
	const {background, db, clickJournal} = portal.services;
	await clickJournal.flushed();
	// Guesses are graded after their answers.
	await background.settle();
	const {rows} =
		await db.raw(`SELECT (SELECT CAST(array_agg(m ORDER BY m.id) AS text) FROM match_clicks AS m) AS clicks,
		(SELECT CAST(array_agg(a ORDER BY a.id) AS text) FROM match_attempts AS a) AS attempts,
		(SELECT CAST(array_agg(d ORDER BY d.id) AS text) FROM devices AS d) AS devices,
		(SELECT CAST(array_agg(k.last_used_at ORDER BY k.id) AS text) FROM api_keys AS k) AS keys`);
	return rows[0];
};

test.serial('a dry run of a match answers as /match would, with the trace, and consumes nothing', async (t) => {
	const {organization: acme} = await member(portal);
	const place = network();
	const {link, token} = await clicked(portal, acme, place(1), {params: {sku: '7'}});
	const body = {...iPhoneApp, clipboardToken: token, deviceId: 'device-0001'};
	const before = await traces();
	for (let count = 0; count < 2; count++) {
		const {status, body: dryRun} = await ops(portal).caller.post('/dev/match', body);
		t.is(status, 200);
		const {attempt, ...answer} = dryRun;
		t.deepEqual(answer, {
			matched: true,
			matchMethod: 'CLIPBOARD',
			matchConfidence: 'exact',
			linkId: link.id,
			path: '/sale',
			params: {sku: '7'},
		});
		t.is(attempt.id, undefined);
		t.like(attempt, {
			organizationId: acme.id,
			method: 'CLIPBOARD',
			linkId: link.id,
			deviceId: 'device-0001',
			signals: {clipboardToken: 'known', installReferrer: 'absent', apiKey: false},
			candidates: [{linkId: link.id, ruledOut: null}],
		});
	}

	t.deepEqual(await traces(), before);
	const real = await open(portal, place(1), body);
	t.like(real.body, {matched: true, matchMethod: 'CLIPBOARD', linkId: link.id});
});

test.serial('the guess is made from the address that asks, and a CLIENT key confines it', async (t) => {
	const {organization: acme} = await member(portal);
	const {organization: other} = await member(portal);
	const {link} = await clicked(portal, acme, network()(1));
	const {caller} = ops(portal);
	await visit(portal, link, caller.address);
	const before = await traces();
	const guessed = await caller.post('/dev/match', iPhoneApp);
	t.like(guessed.body, {matched: true, matchMethod: 'FINGERPRINT_EXACT', linkId: link.id});
	const confined = await caller.post('/dev/match', iPhoneApp, {'X-API-Key': other.clientKey});
	const {attempt, ...answered} = confined.body;
	t.deepEqual(answered, nothing);
	t.like(attempt, {organizationId: other.id, matched: false, reason: 'no_click'});
	t.deepEqual(await traces(), before);
});

test.serial('a repeated answer is not a new attempt', async (t) => {
	const {organization: acme} = await member(portal);
	const place = network();
	const {link, token} = await clicked(portal, acme, place(1));
	const body = {clipboardToken: token, deviceId: 'device-0002'};
	await open(portal, place(1), body);
	const {attempt, ...answer} = (await ops(portal).caller.post('/dev/match', body)).body;
	t.like(answer, {matched: true, matchMethod: 'CLIPBOARD', linkId: link.id});
	t.is(attempt, null);
});

test('a dry run of a match is validated as a match is', async (t) => {
	const {caller} = ops(portal);
	const bad = await caller.post('/dev/match', {platform: 'Symbian', deviceId: 'short', unknown: true});
	t.is(bad.status, 400);
	t.deepEqual(bad.body.details.map(({field}: {field: string}) => field).toSorted(), ['deviceId', 'platform']);
	t.like((await caller.post('/dev/match')).body, nothing);
});

test.serial('the session route shows the claims and what they resolve to', async (t) => {
	const {opsOrganization, url} = portal.provider;
	const {caller, clerkUserId, email} = ops(portal);
	const {status, body} = await caller.get('/dev/session');
	t.is(status, 200);
	const {claims, ...resolved} = body;
	t.like(claims, {sub: clerkUserId, iss: url, email, v: 2});
	const session = {userId: clerkUserId, organizationId: opsOrganization.id, role: null, email};
	t.deepEqual(resolved, {
		session: {...session, isPending: false, isOps: true},
		actor: {type: 'ADMIN', id: clerkUserId, name: email},
		organization: null,
		user: null,
		isMember: false,
	});
	const {organization: home} = await member(portal);
	await portal.services.db('organizations').where({id: home.id}).update({clerk_org_id: opsOrganization.id});
	const {user, caller: mirrored} = await member(portal, {organization: home, role: 'admin'});
	t.like((await mirrored.get('/dev/session')).body, {
		session: {role: 'admin'},
		organization: {id: home.id, orgKey: home.orgKey, plan: 'GROWTH'},
		user: {id: user.id, email: user.email, name: user.name},
		actor: {type: 'ADMIN', id: user.id, name: user.name},
		isMember: true,
	});
});

const keys = '/portal/api-keys';
const locked = {sdkKey: null, serverKey: null, locked: true};

/** As if the keys had never been read, unlike in an organization's builder. */
const forgetKeys = ({organization: {id}}: Member) =>
	portal.services.db('api_keys').where({organization_id: id}).delete();
const countKeys = async ({organization: {id}}: Member) =>
	(await portal.services.db('api_keys').where({organization_id: id})).length;

test('the first read creates both keys and shows them to a member with any role or none', async (t) => {
	const somebody = await member(portal, {role: null});
	await forgetKeys(somebody);
	const {status, body} = await somebody.caller.get(keys);
	t.is(status, 200);
	const times = {createdAt: portal.clock.now().toISOString(), expiresAt: null, lastUsedAt: null};
	const card = (tier: string, {id, displayKey}: {id: string; displayKey: string}) => ({
		id,
		tier,
		prefix: displayKey.slice(0, 16),
		displayKey,
		...times,
	});
	const cards = {sdkKey: card('CLIENT', body.sdkKey), serverKey: card('SERVER', body.serverKey)};
	t.deepEqual(body, {...cards, locked: false});
	t.regex(body.sdkKey.displayKey, /^opl_sdk_[A-Za-z0-9_-]{43}$/);
	t.regex(body.serverKey.displayKey, /^opl_api_[A-Za-z0-9_-]{43}$/);
	t.is((await withKey(portal, body.serverKey.displayKey).get('/links')).status, 200);
	const viewer = await member(portal, {organization: somebody.organization});
	t.deepEqual((await viewer.caller.get(keys)).body.sdkKey, body.sdkKey);
	t.is(await countKeys(somebody), 2);
});

test('without the feature keys are locked, and none is created', async (t) => {
	const message = 'Your plan does not include the feature api_access';
	const unavailable = {status: 403, message, code: 'FEATURE_NOT_AVAILABLE'};
	for (const [plan, expected] of [
		['STARTER', unavailable],
		['SOLO', unavailable],
		[null, {status: 402, message: 'Select a plan first', code: 'PLAN_NOT_SELECTED'}],
	] as const) {
		const somebody = await member(portal, {plan, role: 'owner'});
		await forgetKeys(somebody);
		t.deepEqual((await somebody.caller.get(keys)).body, locked);
		const answer = await somebody.caller.post(`${keys}/SERVER/regenerate`);
		refused(t, answer, expected);
		t.is(answer.body.feature, plan === null ? undefined : 'api_access');
		t.is(await countKeys(somebody), 0);
	}
});

test('keys that were made before a downgrade are locked, and the same after it is undone', async (t) => {
	const {organization: acme, caller} = await member(portal);
	const before = (await caller.get(keys)).body;
	const plan = `/portal/admin/billing/organizations/${acme.id}/plan`;
	const {caller: operator} = ops(portal);
	await operator.post(plan, {plan: 'SOLO'});
	t.deepEqual((await caller.get(keys)).body, locked);
	await operator.post(plan, {plan: 'ENTERPRISE'});
	t.deepEqual((await caller.get(keys)).body, before);
});

test('a developer regenerates the SERVER key: the old one ends at once', async (t) => {
	const {organization: acme, caller, user} = await member(portal, {role: 'developer'});
	const {status, body} = await caller.post(`${keys}/SERVER/regenerate`);
	t.is(status, 200);
	const {rawKey, ...card} = body;
	t.is(rawKey, card.displayKey);
	t.regex(rawKey, /^opl_api_[A-Za-z0-9_-]{43}$/);
	t.deepEqual((await caller.get(keys)).body.serverKey, card);
	refused(t, await acme.server.get('/links'), {status: 401, message: 'Invalid API key'});
	t.is((await withKey(portal, rawKey).get('/links')).status, 200);

	const [record] = (await auditOf(portal, acme.id, 'ApiKey')).filter(({action}) => action === 'REGENERATE');
	t.like(record, {entityId: card.id, actor: {type: 'USER', id: user.id, name: user.name}});
	t.false(JSON.stringify(record).includes(rawKey));

	const other = await caller.post(`${keys}/CLIENT/regenerate`);
	t.is((await caller.get(keys)).body.sdkKey.displayKey, other.body.rawKey);
});
