import test from 'ava';
import {startIdentityProvider} from '../fakes/identity-provider/identity-provider.ts';
import {startedFor} from '../helpers/started.ts';

// One test after another: a fault meets whatever call comes next.
const idp = startedFor(test, () => startIdentityProvider());

const call = (method: string, path: string, body?: object, signal?: AbortSignal) =>
	fetch(`${idp.env.IDP_API_URL}${path}`, {
		method,
		headers: {authorization: `Bearer ${idp.env.IDP_API_KEY}`, 'content-type': 'application/json'},
		...(body === undefined ? {} : {body: JSON.stringify(body)}),
		...(signal === undefined ? {} : {signal}),
	});

test.serial('the next calls fail with the status, code and wait that were said', async (t) => {
	const {id} = idp.user();
	idp.fail({path: '/users/:id', times: 2, status: 429, retryAfter: 2});
	for (const expected of [429, 429, 200]) {
		const response = await call('GET', `/users/${id}`);
		t.is(response.status, expected);
		t.is(response.headers.get('retry-after'), expected === 429 ? '2' : null);
		const body = await response.json();
		t.is(body.errors?.[0].code, expected === 429 ? 'too_many_requests' : undefined);
	}

	idp.fail({status: 403, code: 'organization_quota_exceeded', message: 'No more organizations'});
	const refused = await call('POST', '/organizations', {name: 'Acme'});
	t.is(refused.status, 403);
	t.like((await refused.json()).errors[0], {code: 'organization_quota_exceeded', message: 'No more organizations'});
});

test.serial('a fault meets only the method, path and call that it names', async (t) => {
	const {id} = idp.user();
	const fault = idp.fail({
		method: 'POST',
		path: '/v1/organizations',
		when: ({body}) => JSON.stringify(body).includes('Doomed'),
		status: 500,
	});
	t.is((await call('GET', `/users/${id}`)).status, 200);
	t.is((await call('POST', '/organizations', {name: 'Fine'})).status, 200);
	t.true(fault.isOn());
	t.is((await call('POST', '/organizations', {name: 'Doomed'})).status, 500);
	t.false(fault.isOn());
});

test.serial('an answer can be lost after the operation was carried out', async (t) => {
	idp.fail({method: 'POST', path: '/organizations', drop: true, afterwards: true});
	await t.throwsAsync(call('POST', '/organizations', {name: 'Kept although unanswered'}));
	t.true([...idp.directory.organizations.values()].some(({name}) => name === 'Kept although unanswered'));
	idp.fail({method: 'POST', path: '/organizations', drop: true});
	await t.throwsAsync(call('POST', '/organizations', {name: 'Never made'}));
	t.false([...idp.directory.organizations.values()].some(({name}) => name === 'Never made'));
});

test.serial('a call can hang, be slow, or meet a page that is not valid JSON', async (t) => {
	const {id} = idp.user();
	idp.fail({hang: true});
	await t.throwsAsync(call('GET', `/users/${id}`, undefined, AbortSignal.timeout(100)), {
		any: true,
		name: 'TimeoutError',
	});
	t.is(idp.calls.at(-1)?.status, null);
	idp.fail({delay: 50});
	const before = performance.now();
	t.is((await call('GET', `/users/${id}`)).status, 200);
	t.true(performance.now() - before >= 45);
	idp.fail({status: 502, rawBody: '<h1>Bad Gateway</h1>'});
	const page = await call('GET', `/users/${id}`);
	t.deepEqual([page.status, page.headers.get('content-type')], [502, 'text/html']);
	t.is(await page.text(), '<h1>Bad Gateway</h1>');
});

test.serial('every call is recorded with its request and answer', async (t) => {
	idp.calls.length = 0;
	await call('POST', '/organizations', {name: 'Recorded'});
	await call('GET', '/users/user_2x?limit=5');
	const [first, second] = idp.calls;
	t.like(first, {method: 'POST', path: '/v1/organizations', body: {name: 'Recorded'}, status: 200});
	t.is(first?.headers.authorization, `Bearer ${idp.env.IDP_API_KEY}`);
	t.like(second, {method: 'GET', path: '/v1/users/user_2x', body: undefined, status: 404});
	t.is(second?.query.get('limit'), '5');
});
