import test from 'ava';
import {exampleAppConfig, link, organization} from '../../helpers/builders.ts';
import {admin, anonymous, withKey} from '../../helpers/callers.ts';
import {serviceOf, startService} from '../../helpers/service.ts';

const service = serviceOf(test);

test('the messages of a missing, malformed and unknown key are those of the specification', async (t) => {
	for (const [headers, message] of [
		[{}, 'Missing Authorization header'],
		[{Authorization: 'opl_api_abc'}, 'Invalid Authorization format'],
		[{Authorization: 'Basic b3BsOm9wbA=='}, 'Invalid Authorization format'],
		[{Authorization: 'Bearer opl_api_abc'}, 'Invalid API key'],
		[{Authorization: 'Bearer x'}, 'Invalid API key'],
	] as const) {
		const {status, body} = await anonymous(service).get('/links', headers);
		t.is(status, 401);
		t.is(body.message, message);
	}
});

test('a CLIENT key on /links is refused with 403 and both tiers named', async (t) => {
	const acme = await organization(service);
	const {status, body} = await acme.client.get('/links');
	t.is(status, 403);
	t.is(body.message, "API key tier 'CLIENT' is not permitted on this endpoint (requires 'SERVER')");
	t.is(body.code, undefined);
});

test('suspension comes before the tier, and the tier before the feature', async (t) => {
	const acme = await organization(service, {plan: 'SOLO'});
	t.regex((await acme.client.get('/links')).body.message, /^API key tier/);
	const refused = await acme.server.get('/links');
	t.is(refused.status, 403);
	t.is(refused.body.code, 'FEATURE_NOT_AVAILABLE');
	t.is(refused.body.feature, 'api_access');
	await admin(service).post(`/admin/organizations/${acme.id}/suspend`);
	t.is((await acme.client.get('/links')).body.message, 'Organization is suspended');
});

test('an organization without a plan passes the feature and meets 402 on a create, after the body', async (t) => {
	const acme = await organization(service, {plan: null, appConfig: null});
	t.is((await acme.server.get('/links')).status, 200);
	t.is((await acme.server.post('/links', '{')).status, 400);
	t.is((await acme.server.post('/links', {path: ''})).body.message, 'Validation failed');
	const {status, body} = await acme.server.post('/links', {path: '/sale', channel: 'unknown'});
	t.is(status, 402);
	t.is(body.code, 'PLAN_NOT_SELECTED');
});

test('plan, app configuration, quota, references and conflict follow each other', async (t) => {
	const acme = await organization(service, {plan: null, appConfig: null});
	const create = () => acme.server.post('/links', {path: '/sale', channel: 'unknown', shortCode: 'taken'});
	t.is((await create()).body.code, 'PLAN_NOT_SELECTED');
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: 'GROWTH'});
	const required = await create();
	t.is(required.status, 428);
	t.is(required.body.code, 'APP_CONFIG_REQUIRED');
	await admin(service).put(`/admin/organizations/${acme.id}/app-config`, exampleAppConfig);
	await link(acme, {shortCode: 'taken'});
	const {db} = service.services;
	await db('link_counts').where({organization_id: acme.id}).update({links: 10_000});
	const full = await create();
	t.is(full.status, 402);
	t.deepEqual(
		[full.body.code, full.body.quota, full.body.message],
		['QUOTA_EXCEEDED', 'links', "You've reached your links limit."],
	);
	await db('link_counts').where({organization_id: acme.id}).update({links: 1});
	const unknown = await create();
	t.is(unknown.status, 400);
	t.is(unknown.body.details, null);
	const conflict = await acme.server.post('/links', {path: '/sale', shortCode: 'taken'});
	t.is(conflict.status, 409);
});

test('a limit comes after the credential and before the body, and a refused credential costs nothing', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const acme = await organization(own);
	for (const _ of Array.from({length: 120})) {
		await anonymous(own).post('/links', '{');
	}

	const burst = await Promise.all(Array.from({length: 101}, () => acme.server.post('/links', '{')));
	const statuses = burst.map(({status}) => status);
	t.is(statuses.filter((status) => status === 400).length, 100);
	const [limited] = burst.filter(({status}) => status === 429);
	t.is(limited?.body.message, 'Rate limit exceeded. Retry after 1 second(s).');
	t.deepEqual(
		Object.keys(limited?.headers ?? {}).filter((name) => /retry|ratelimit/i.test(name)),
		[],
	);
	t.is(limited?.body.retryAfterSeconds, undefined);
	own.clock.advance(1);
	t.is((await acme.server.post('/links', '{')).status, 400);
});

test('reads and writes of links have windows of their own, per key', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const [acme, globex] = [await organization(own), await organization(own)];
	const writes = await Promise.all(Array.from({length: 101}, () => acme.server.delete('/links/x')));
	t.is(writes.filter(({status}) => status === 429).length, 1);
	t.is((await acme.server.get('/links')).status, 200);
	t.is((await globex.server.delete('/links/x')).status, 400);
	t.is((await withKey(own, acme.serverKey).delete('/links/x')).status, 429);
});

test('a key reads 1,000 times a second and no more', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const {server} = await organization(own);
	const burst = await Promise.all(Array.from({length: 1005}, () => server.get('/links/x')));
	t.is(burst.filter(({status}) => status === 429).length, 5);
	t.is(burst.filter(({status}) => status === 400).length, 1000);
});
