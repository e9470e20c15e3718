import test from 'ava';
import {exampleAppConfig, link, organization} from '../../helpers/builders.ts';
import {anonymous, type Caller, withKey} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

test('the messages of a missing, malformed and unknown key are those of the specification', async (t) => {
	for (const [headers, message] of [
		[{}, 'Missing Authorization header'],
		[{Authorization: 'opl_api_abc'}, 'Invalid Authorization format'],
		[{Authorization: 'Basic b3BsOm9wbA=='}, 'Invalid Authorization format'],
		[{Authorization: 'Bearer opl_api_abc'}, 'Invalid API key'],
		[{Authorization: 'Bearer x'}, 'Invalid API key'],
	] as const) {
		t.like(await anonymous(service).get('/links', headers), {status: 401, body: {message}});
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
	const {status, body} = await acme.server.get('/links');
	t.like({status, ...body}, {status: 403, code: 'FEATURE_NOT_AVAILABLE', feature: 'api_access'});
	await acme.operator.post('/suspend');
	t.is((await acme.client.get('/links')).body.message, 'Organization is suspended');
});

test('feature, body, plan, app configuration, quota, references and conflict follow each other', async (t) => {
	const acme = await organization(service, {plan: null, appConfig: null});
	t.is((await acme.server.get('/links')).status, 200, 'without a plan the feature is there');
	t.is((await acme.server.post('/links', '{')).status, 400);
	t.is((await acme.server.post('/links', {path: ''})).body.message, 'Validation failed');
	const create = () => acme.server.post('/links', {path: '/sale', channel: 'unknown', shortCode: 'taken'});
	t.like(await create(), {status: 402, body: {code: 'PLAN_NOT_SELECTED'}});
	await acme.operator.put('/plan', {plan: 'GROWTH'});
	t.like(await create(), {status: 428, body: {code: 'APP_CONFIG_REQUIRED'}});
	await acme.operator.put('/app-config', exampleAppConfig);
	await link(acme, {shortCode: 'taken'});
	const {db} = service.services;
	await db('link_counts').where({organization_id: acme.id}).update({links: 10_000});
	const body = {code: 'QUOTA_EXCEEDED', quota: 'links', message: "You've reached your links limit."};
	t.like(await create(), {status: 402, body});
	await db('link_counts').where({organization_id: acme.id}).update({links: 1});
	t.like(await create(), {status: 400, body: {message: "Unknown channel 'unknown'"}});
	t.is((await acme.server.post('/links', {path: '/sale', shortCode: 'taken'})).status, 409);
});

test('a limit is per key, after the credential and before the body, and a refused credential costs nothing', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const burst = ({post}: Caller) => Promise.all(Array.from({length: 101}, () => post('/links', '{')));
	t.true((await burst(withKey(service, `${acme.serverKey}x`))).every(({status}) => status === 401));
	const answers = await burst(acme.server);
	const [limited = t.fail(), ...others] = answers.toSorted((a, b) => b.status - a.status);
	t.like(limited, {status: 429, body: {message: 'Rate limit exceeded. Retry after 1 second(s).'}});
	t.notRegex(Object.keys({...limited.headers, ...limited.body}).join(), /retry|ratelimit/i);
	t.true(others.every(({status}) => status === 400));
	t.is((await withKey(service, acme.serverKey).delete('/links/x')).status, 429, 'all writes share a window');
	t.is((await acme.server.get('/links')).status, 200, 'reads have one of their own');
	t.is((await globex.server.post('/links', '{')).status, 400, 'and so has another key');
	service.clock.advance(1);
	t.is((await acme.server.post('/links', '{')).status, 400);
});
