import test from 'ava';
import {createLocalJWKSet, createRemoteJWKSet, type JWTVerifyOptions, jwtVerify} from 'jose';
import {type IdentityProvider, startIdentityProvider} from '../fakes/identity-provider/identity-provider.ts';
import type {TokenInput} from '../fakes/identity-provider/tokens.ts';
import {createFakeClock} from '../helpers/service.ts';

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
