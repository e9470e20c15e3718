import test from 'ava';
import {createLocalJWKSet, createRemoteJWKSet, jwtVerify} from 'jose';
import {startIdentityProvider} from '../../fakes/identity-provider/identity-provider.ts';
import type {TokenInput} from '../../fakes/identity-provider/tokens.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';

const clock = createFakeClock();
const idp = startedFor(test, () => startIdentityProvider({clock}));

/** As the service is advised to verify (contract/identity 3). */
const verify = (token: string, provider = idp) =>
	jwtVerify(token, createRemoteJWKSet(new URL(provider.env.IDP_JWKS_URL)), {
		algorithms: ['RS256'],
		issuer: provider.env.IDP_ISSUER,
		clockTolerance: 5,
		currentDate: clock.now(),
		requiredClaims: ['sub', 'sid', 'exp', 'iat'],
	});

const claimsOf = async (input: TokenInput) => (await verify(await idp.token(input))).payload;

test('a token verifies against the key set and carries the membership in compact claims', async (t) => {
	const user = idp.user({email: 'dev@acme.test'});
	const organization = idp.organization();
	idp.member({organization, user, role: 'developer'});
	const {payload, protectedHeader} = await verify(await idp.token({user, organization}));
	const iat = clock.now().getTime() / 1000;
	t.like(payload, {
		sub: user.id,
		o: {id: organization.id, rol: 'member'},
		org_metadata: {role: 'developer'},
		email: 'dev@acme.test',
		sts: 'active',
		iat,
		exp: iat + 60,
	});
	t.deepEqual(Object.keys(protectedHeader).toSorted(), ['alg', 'cat', 'kid', 'typ']);
});

test('the flat claims come without compact ones', async (t) => {
	const organization = idp.organization();
	const payload = await claimsOf({user: idp.user(), organization, role: 'owner', version: 1});
	t.like(payload, {org_id: organization.id, org_role: 'org:member', org_metadata: {role: 'owner'}});
	t.false('o' in payload || 'v' in payload || 'sts' in payload || 'jti' in payload);
});

test('a session without an organization is pending and its metadata null; without a role that is empty', async (t) => {
	const user = idp.user();
	const payload = await claimsOf({user});
	t.like(payload, {sts: 'pending', org_metadata: null});
	t.false('o' in payload);
	t.deepEqual((await claimsOf({user, organization: idp.organization({createdBy: user})}))['org_metadata'], {});
});

test('claims and header can be replaced and left out', async (t) => {
	const claims = {azp: undefined, aud: 'oplink'};
	const token = await idp.token({user: idp.user(), orgMetadata: undefined, claims, kind: 'machine', ttl: 3600});
	const {payload, protectedHeader} = await verify(token);
	t.false('azp' in payload || 'org_metadata' in payload);
	t.is(payload.aud, 'oplink');
	t.is((payload.exp ?? 0) - (payload.iat ?? 0), 3600);
	t.is(protectedHeader.cat, 'cl_B7d4PD333AAA');
});

const secondsAgo = (seconds: number): Date => new Date(clock.now().getTime() - seconds * 1000);
const refused: Array<[what: string, input: Partial<TokenInput>, code: string]> = [
	['an expired token', {issuedAt: secondsAgo(66)}, 'ERR_JWT_EXPIRED'],
	['a token that is not valid yet', {issuedAt: secondsAgo(-20)}, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
	['another issuer', {claims: {iss: 'https://clerk.evil.test'}}, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
	["somebody else's key under our key's id", {signedBy: 'foreign'}, 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
	['alg none', {signedBy: 'none'}, 'ERR_JOSE_ALG_NOT_ALLOWED'],
	['HS256 with the public key as the secret', {signedBy: 'hmac'}, 'ERR_JOSE_ALG_NOT_ALLOWED'],
	['a key that is not in the set', {header: {kid: 'ins_2unknown'}}, 'ERR_JWKS_NO_MATCHING_KEY'],
];
for (const [what, input, code] of refused) {
	test(`refused by jose: ${what}`, async (t) => {
		await t.throwsAsync(claimsOf({user: 'user_2x', ...input}), {code});
	});
}

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
	t.is(open.headers.get('content-type'), 'application/json');
	const keySet = await open.json();
	t.deepEqual(Object.keys(keySet.keys[0]).toSorted(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
	t.is((await fetch(`${idp.url}/v1/jwks`)).status, 401);
	const headers = {authorization: `Bearer ${idp.env.IDP_API_KEY}`};
	t.deepEqual(await (await fetch(`${idp.url}/v1/jwks`, {headers})).json(), keySet);
	const token = await idp.token({user: 'user_2x'});
	await t.notThrowsAsync(jwtVerify(token, createLocalJWKSet(keySet), {currentDate: clock.now()}));
});

test('a fault meets only the method, path and call that it names, so often, before or after the operation', async (t) => {
	const make = async (name: string): Promise<number> => {
		const response = await fetch(`${idp.env.IDP_API_URL}/organizations`, {
			method: 'POST',
			headers: {authorization: `Bearer ${idp.env.IDP_API_KEY}`, 'content-type': 'application/json'},
			body: JSON.stringify({name}),
		});
		return response.status;
	};
	const isMade = (wanted: string) => [...idp.directory.organizations.values()].some(({name}) => name === wanted);
	const named = (name: string) => ({
		method: 'POST',
		path: '/v1/organizations',
		when: ({body}: {body?: unknown}) => JSON.stringify(body).includes(name),
	});

	const fault = idp.fail({...named('Doomed'), times: 2, status: 500});
	t.is(await make('Fine'), 200);
	t.true(fault.isOn());
	t.deepEqual([await make('Doomed'), await make('Doomed')], [500, 500]);
	t.false(fault.isOn());
	t.is(await make('Doomed'), 200);

	idp.fail({...named('Kept although unanswered'), drop: true, afterwards: true});
	await t.throwsAsync(make('Kept although unanswered'));
	t.true(isMade('Kept although unanswered'));
	idp.fail({...named('Never made'), drop: true});
	await t.throwsAsync(make('Never made'));
	t.false(isMade('Never made'));
});
