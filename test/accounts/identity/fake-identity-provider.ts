import test from 'ava';
import {createLocalJWKSet, createRemoteJWKSet, type JWTVerifyOptions, jwtVerify} from 'jose';
import {type IdentityProvider, startIdentityProvider} from '../../fakes/identity-provider/identity-provider.ts';
import type {TokenInput} from '../../fakes/identity-provider/tokens.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';

let idp: IdentityProvider;
const clock = createFakeClock();
test.serial.before(async () => {
	idp = await startIdentityProvider({clock});
});
test.after.always(() => idp.stop());

/** As the service is advised to verify (contract/identity 3). */
const verify = (token: string, provider = idp, options: JWTVerifyOptions = {}) =>
	jwtVerify(token, createRemoteJWKSet(new URL(provider.env.IDP_JWKS_URL)), {
		algorithms: ['RS256'],
		issuer: provider.env.IDP_ISSUER,
		clockTolerance: 5,
		currentDate: clock.now(),
		requiredClaims: ['sub', 'sid', 'exp', 'iat'],
		...options,
	});

test('a token verifies against the key set and carries the membership in compact claims', async (t) => {
	const user = idp.user({email: 'dev@acme.test'});
	const organization = idp.organization();
	idp.member({organization, user, role: 'developer'});
	const {payload, protectedHeader} = await verify(await idp.token({user, organization}));
	t.is(payload.sub, user.id);
	t.deepEqual(payload.o, {id: organization.id, rol: 'member'});
	t.deepEqual(payload.org_metadata, {role: 'developer'});
	t.is(payload.email, 'dev@acme.test');
	t.is(payload.sts, 'active');
	t.is(payload.iat, clock.now().getTime() / 1000);
	t.is((payload.exp ?? 0) - (payload.iat ?? 0), 60);
	t.deepEqual(Object.keys(protectedHeader).toSorted(), ['alg', 'cat', 'kid', 'typ']);
});

test('the flat claims come without compact ones', async (t) => {
	const organization = idp.organization();
	const {payload} = await verify(await idp.token({user: idp.user(), organization, role: 'owner', version: 1}));
	t.like(payload, {org_id: organization.id, org_role: 'org:member', org_metadata: {role: 'owner'}});
	t.false('o' in payload || 'v' in payload || 'sts' in payload || 'jti' in payload);
});

test('a session without an organization is pending and its metadata null', async (t) => {
	const {payload} = await verify(await idp.token({user: idp.user()}));
	t.is(payload.sts, 'pending');
	t.is(payload.org_metadata, null);
	t.false('o' in payload);
});

test('a member without a role of the application has metadata without one', async (t) => {
	const user = idp.user();
	const organization = idp.organization({createdBy: user});
	const {payload} = await verify(await idp.token({user, organization}));
	t.deepEqual(payload.org_metadata, {});
});

test('claims and header can be replaced and left out', async (t) => {
	const token = await idp.token({
		user: idp.user(),
		orgMetadata: undefined,
		claims: {azp: undefined, aud: 'oplink'},
		kind: 'machine',
		ttl: 3600,
	});
	const {payload, protectedHeader} = await verify(token);
	t.false('azp' in payload || 'org_metadata' in payload);
	t.is(payload.aud, 'oplink');
	t.is((payload.exp ?? 0) - (payload.iat ?? 0), 3600);
	t.is(protectedHeader.cat, 'cl_B7d4PD333AAA');
});

const secondsAgo = (seconds: number): Date => new Date(clock.now().getTime() - seconds * 1000);

const refused = test.macro({
	exec: async (t, input: Omit<TokenInput, 'user'>, code: string) => {
		await t.throwsAsync(verify(await idp.token({user: 'user_2x', ...input})), {code});
	},
	title: (given = '') => `refused by jose: ${given}`,
});
test('an expired token', refused, {issuedAt: secondsAgo(66)}, 'ERR_JWT_EXPIRED');
test('a token that is not valid yet', refused, {issuedAt: secondsAgo(-20)}, 'ERR_JWT_CLAIM_VALIDATION_FAILED');
test('another issuer', refused, {claims: {iss: 'https://clerk.evil.test'}}, 'ERR_JWT_CLAIM_VALIDATION_FAILED');
test("somebody else's key under our key's id", refused, {signedBy: 'foreign'}, 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED');
test('alg none', refused, {signedBy: 'none'}, 'ERR_JOSE_ALG_NOT_ALLOWED');
test('HS256 with the public key as the secret', refused, {signedBy: 'hmac'}, 'ERR_JOSE_ALG_NOT_ALLOWED');
test('a key that is not in the set', refused, {header: {kid: 'ins_2unknown'}}, 'ERR_JWKS_NO_MATCHING_KEY');

test('after a rotation both keys verify, or the new one only', async (t) => {
	const provider = await startIdentityProvider({clock});
	t.teardown(provider.stop);
	await provider.rotateKeys();
	await t.notThrowsAsync(verify(await provider.token({user: 'user_2x'}), provider));
	const before = await provider.token({user: 'user_2x', signedBy: 'previous'});
	await t.notThrowsAsync(verify(before, provider));
	await provider.rotateKeys({keepOld: false});
	await t.throwsAsync(verify(before, provider), {code: 'ERR_JWKS_NO_MATCHING_KEY'});
	await t.notThrowsAsync(verify(await provider.token({user: 'user_2x'}), provider));
});

test('the key set is open under /.well-known and asks for the secret key under /v1', async (t) => {
	const open = await fetch(idp.env.IDP_JWKS_URL);
	t.is(open.status, 200);
	t.is(open.headers.get('content-type'), 'application/json');
	const keySet = await open.json();
	t.deepEqual(Object.keys(keySet.keys[0]).toSorted(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
	t.is((await fetch(`${idp.url}/v1/jwks`)).status, 401);
	const headers = {authorization: `Bearer ${idp.env.IDP_API_KEY}`};
	t.deepEqual(await (await fetch(`${idp.url}/v1/jwks`, {headers})).json(), keySet);
	await t.notThrowsAsync(
		jwtVerify(await idp.token({user: 'user_2x'}), createLocalJWKSet(keySet), {currentDate: clock.now()}),
	);
});

test('a key set whose host fails makes jose fail until the fault is lifted', async (t) => {
	const provider = await startIdentityProvider({clock});
	t.teardown(provider.stop);
	const fault = provider.fail({path: '/.well-known/jwks.json', times: Number.POSITIVE_INFINITY, status: 503});
	const token = await provider.token({user: 'user_2x'});
	await t.throwsAsync(verify(token, provider), {message: /200 OK/});
	t.true(fault.isOn());
	fault.lift();
	await t.notThrowsAsync(verify(token, provider));
	t.deepEqual(
		provider.calls.map(({path, status}) => [path, status]),
		[
			['/.well-known/jwks.json', 503],
			['/.well-known/jwks.json', 200],
		],
	);
});

// One test after another: a fault meets whatever call comes next.
const faulty = startedFor(test, () => startIdentityProvider());

const call = (method: string, path: string, body?: object, signal?: AbortSignal) =>
	fetch(`${faulty.env.IDP_API_URL}${path}`, {
		method,
		headers: {authorization: `Bearer ${faulty.env.IDP_API_KEY}`, 'content-type': 'application/json'},
		...(body === undefined ? {} : {body: JSON.stringify(body)}),
		...(signal === undefined ? {} : {signal}),
	});

test.serial('the next calls fail with the status, code and wait that were said', async (t) => {
	const {id} = faulty.user();
	faulty.fail({path: '/users/:id', times: 2, status: 429, retryAfter: 2});
	for (const expected of [429, 429, 200]) {
		const response = await call('GET', `/users/${id}`);
		t.is(response.status, expected);
		t.is(response.headers.get('retry-after'), expected === 429 ? '2' : null);
		const body = await response.json();
		t.is(body.errors?.[0].code, expected === 429 ? 'too_many_requests' : undefined);
	}

	faulty.fail({status: 403, code: 'organization_quota_exceeded', message: 'No more organizations'});
	const refused = await call('POST', '/organizations', {name: 'Acme'});
	t.is(refused.status, 403);
	t.like((await refused.json()).errors[0], {code: 'organization_quota_exceeded', message: 'No more organizations'});
});

test.serial('a fault meets only the method, path and call that it names', async (t) => {
	const {id} = faulty.user();
	const fault = faulty.fail({
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
	faulty.fail({method: 'POST', path: '/organizations', drop: true, afterwards: true});
	await t.throwsAsync(call('POST', '/organizations', {name: 'Kept although unanswered'}));
	t.true([...faulty.directory.organizations.values()].some(({name}) => name === 'Kept although unanswered'));
	faulty.fail({method: 'POST', path: '/organizations', drop: true});
	await t.throwsAsync(call('POST', '/organizations', {name: 'Never made'}));
	t.false([...faulty.directory.organizations.values()].some(({name}) => name === 'Never made'));
});

test.serial('a call can hang, be slow, or meet a page that is not valid JSON', async (t) => {
	const {id} = faulty.user();
	faulty.fail({hang: true});
	await t.throwsAsync(call('GET', `/users/${id}`, undefined, AbortSignal.timeout(100)), {
		any: true,
		name: 'TimeoutError',
	});
	t.is(faulty.calls.at(-1)?.status, null);
	faulty.fail({delay: 50});
	const before = performance.now();
	t.is((await call('GET', `/users/${id}`)).status, 200);
	t.true(performance.now() - before >= 45);
	faulty.fail({status: 502, rawBody: '<h1>Bad Gateway</h1>'});
	const page = await call('GET', `/users/${id}`);
	t.deepEqual([page.status, page.headers.get('content-type')], [502, 'text/html']);
	t.is(await page.text(), '<h1>Bad Gateway</h1>');
});

test.serial('every call is recorded with its request and answer', async (t) => {
	faulty.calls.length = 0;
	await call('POST', '/organizations', {name: 'Recorded'});
	await call('GET', '/users/user_2x?limit=5');
	const [first, second] = faulty.calls;
	t.like(first, {method: 'POST', path: '/v1/organizations', body: {name: 'Recorded'}, status: 200});
	t.is(first?.headers.authorization, `Bearer ${faulty.env.IDP_API_KEY}`);
	t.like(second, {method: 'GET', path: '/v1/users/user_2x', body: undefined, status: 404});
	t.is(second?.query.get('limit'), '5');
});
