import test from 'ava';
import {admin, anonymous} from '../helpers/callers.ts';
import {member, ops, portalOf, session, startPortal} from '../helpers/portal.ts';
import {clicked, iPhoneApp, network, nothing, open, visit} from '../match/_phones.ts';
import {missing, opsOnly, refused} from './_refused.ts';

const portal = portalOf(test);

/** Every row that a match would write or change. */
const traces = async () => {
	const {db, clickJournal} = portal.services;
	await clickJournal.settled();
	const {rows} =
		await db.raw(`SELECT (SELECT CAST(array_agg(m ORDER BY m.id) AS text) FROM match_clicks AS m) AS clicks,
		(SELECT CAST(array_agg(a ORDER BY a.id) AS text) FROM match_attempts AS a) AS attempts,
		(SELECT CAST(array_agg(d ORDER BY d.id) AS text) FROM devices AS d) AS devices,
		(SELECT CAST(array_agg(k.last_used_at ORDER BY k.id) AS text) FROM api_keys AS k) AS keys`);
	return rows[0];
};

test.serial('a rehearsed match answers as /match would, with the trace, and consumes nothing', async (t) => {
	const {organization: acme} = await member(portal);
	const place = network();
	const {link, token} = await clicked(portal, acme, place(1), {params: {sku: '7'}});
	const body = {...iPhoneApp, clipboardToken: token, deviceId: 'device-0001'};
	const before = await traces();
	for (let count = 0; count < 2; count++) {
		const {status, body: rehearsed} = await ops(portal).caller.post('/dev/match', body);
		t.is(status, 200);
		const {attempt, ...answer} = rehearsed;
		t.deepEqual(answer, {
			matched: true,
			matchMethod: 'CLIPBOARD',
			matchConfidence: 'exact',
			linkId: link.id,
			path: '/sale',
			params: {sku: '7'},
		});
		t.is(attempt.id, undefined);
		t.like(attempt, {organizationId: acme.id, method: 'CLIPBOARD', linkId: link.id, deviceId: 'device-0001'});
		t.like(attempt.signals, {clipboardToken: 'known', installReferrer: 'absent', apiKey: false});
		t.like(attempt.candidates[0], {linkId: link.id, ruledOut: null});
	}

	t.deepEqual(await traces(), before);
	const real = await open(portal, place(1), body);
	t.like(real.body, {matched: true, matchMethod: 'CLIPBOARD', linkId: link.id});
});

test.serial('the guess is made from the address that asks, and a CLIENT key confines it', async (t) => {
	const {organization: acme} = await member(portal);
	const {organization: other} = await member(portal);
	const {link, answer} = await clicked(portal, acme, network()(1));
	t.is(answer.status, 200);
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

test('a rehearsed match is validated as a match is', async (t) => {
	const {caller} = ops(portal);
	const bad = await caller.post('/dev/match', {platform: 'Symbian', deviceId: 'short', unknown: true});
	t.is(bad.status, 400);
	t.deepEqual(bad.body.details.map(({field}: {field: string}) => field).toSorted(), ['deviceId', 'platform']);
	t.like((await caller.post('/dev/match')).body, nothing);
});

test('the session route shows the claims and what they resolve to', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const {caller, clerkUserId, email} = ops(own);
	const {status, body} = await caller.get('/dev/session');
	t.is(status, 200);
	t.like(body.claims, {sub: clerkUserId, iss: own.provider.url, email, v: 2});
	t.deepEqual(
		{...body, claims: null},
		{
			claims: null,
			session: {
				userId: clerkUserId,
				organizationId: own.provider.opsOrganization.id,
				role: null,
				email,
				isPending: false,
				isOps: true,
			},
			actor: {type: 'ADMIN', id: clerkUserId, name: email},
			organization: null,
			user: null,
			isMember: false,
		},
	);
	const {organization: home} = await member(own);
	await own.services.db('organizations').where({id: home.id}).update({clerk_org_id: own.provider.opsOrganization.id});
	const {user, caller: mirrored} = await member(own, {organization: home, role: 'admin'});
	const known = (await mirrored.get('/dev/session')).body;
	t.is(known.session.role, 'admin');
	t.like(known.organization, {id: home.id, orgKey: home.orgKey, plan: 'GROWTH'});
	t.deepEqual(known.user, {id: user.id, email: user.email, name: user.name});
	t.deepEqual(known.actor, {type: 'ADMIN', id: user.id, name: user.name});
	t.true(known.isMember);
});

test('the sandbox is for ops only, checked before validation', async (t) => {
	const {user, clerkOrgId, caller} = await member(portal, {role: 'owner'});
	const pending = session(portal, {user: user.clerkUserId});
	refused(t, await caller.get('/dev/session'), opsOnly);
	refused(t, await caller.post('/dev/match', {platform: 'Symbian'}), opsOnly);
	refused(t, await anonymous(portal).get('/dev/session'), missing);
	refused(t, await admin(portal).get('/dev/session'), {status: 401, message: 'Invalid Clerk session token'});
	refused(t, await pending.get('/dev/session'), {status: 401, message: 'Invalid Clerk session token'});
	refused(t, await caller.get(`/dev/session?orgId=${clerkOrgId}`), opsOnly);
});
