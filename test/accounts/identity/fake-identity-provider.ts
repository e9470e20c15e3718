import test from 'ava';
import {createRemoteJWKSet, jwtVerify} from 'jose';
import {startIdentityProvider} from '../../fakes/identity-provider/identity-provider.ts';
import type {TokenInput} from '../../fakes/identity-provider/tokens.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';

const clock = createFakeClock();
const idp = startedFor(test, () => startIdentityProvider({clock}));

/** As the service is advised to verify (contract/identity 3). */
const verify = (token: string) =>
	jwtVerify(token, createRemoteJWKSet(new URL(idp.env.IDP_JWKS_URL)), {
		algorithms: ['RS256'],
		issuer: idp.env.IDP_ISSUER,
		clockTolerance: 5,
		currentDate: clock.now(),
		requiredClaims: ['sub', 'sid', 'exp', 'iat'],
	});

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
		await t.throwsAsync(verify(await idp.token({user: 'user_2x', ...input})), {code});
	});
}

const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
	const response = await fetch(`${idp.env.IDP_API_URL}${path}`, {
		method,
		headers: {authorization: `Bearer ${idp.env.IDP_API_KEY}`, 'content-type': 'application/json', ...headers},
		...(body === undefined ? {} : {body: typeof body === 'string' ? body : JSON.stringify(body)}),
	});
	return {status: response.status, body: await response.json()};
};

/** Status and code of a refusal, which has the provider's shape. */
const refusal = async (...args: Parameters<typeof call>): Promise<string> => {
	const {status, body} = await call(...args);
	return `${status} ${body.errors[0].code}`;
};

test('every call but the open key set asks for the secret key', async (t) => {
	const wrong = {authorization: 'Bearer sk_test_x'};
	t.is(await refusal('GET', '/users/user_2x', undefined, wrong), '401 clerk_key_invalid');
	const response = await fetch(`${idp.env.IDP_API_URL}/users/user_2x`);
	t.is(response.status, 401);
	const {errors, clerk_trace_id: trace} = await response.json();
	t.deepEqual(Object.keys(errors[0]), ['code', 'message', 'long_message']);
	t.is(typeof trace, 'string');
});

test('what is not there is refused as the provider does', async (t) => {
	const {id} = idp.organization();
	for (const [method, path] of [
		['GET', '/nothing'],
		['GET', '/users/user_2x'],
		['GET', '/users/user_2x/organization_memberships'],
		['GET', '/organizations/org_2x'],
		['DELETE', '/organizations/org_2x'],
		['GET', '/organizations/org_2x/memberships'],
		['DELETE', `/organizations/${id}/memberships/user_2x`],
		['PATCH', `/organizations/${id}/memberships/user_2x/metadata`],
		['POST', `/organizations/${id}/invitations/orginv_2x/revoke`],
	] as const) {
		t.is(await refusal(method, path), '404 resource_not_found', path);
	}
});

test('invalid organizations are refused as the provider does; names are not unique', async (t) => {
	for (const [body, expected, type = 'application/json'] of [
		[{name: 'Acme', slug: 'acme'}, '403 organization_slugs_disabled'],
		[{}, '422 form_param_missing'],
		[{name: 'a'.repeat(257)}, '422 form_param_value_invalid'],
		[{name: 'see https://evil.test'}, '422 form_param_value_invalid'],
		[{name: 'Acme', created_by: 'user_2x'}, '400 organization_creator_not_found'],
		[{name: 'Acme', createdBy: 'user_2x'}, '422 form_param_unknown'],
		['{"name":', '400 request_body_invalid'],
		['name=Acme', '415 unsupported_content_type', 'text/plain'],
	] as const) {
		t.is(await refusal('POST', '/organizations', body, {'content-type': type}), expected, JSON.stringify(body));
	}

	t.is((await call('POST', '/organizations', {name: 'Twin'})).status, 200);
	t.is((await call('POST', '/organizations', {name: 'Twin'})).status, 200);
});

test('invalid invitations are refused as the provider does', async (t) => {
	const organization = idp.organization({maxAllowedMemberships: 2});
	const user = idp.user();
	idp.member({organization, user});
	const path = `/organizations/${organization.id}/invitations`;
	const refusalOf = (changes: object) =>
		refusal('POST', path, {email_address: 'a@acme.test', role: 'org:member', ...changes});
	for (const [changes, expected] of [
		[{role: 'viewer'}, '422 form_param_value_invalid'],
		[{role: undefined}, '422 form_param_missing'],
		[{email_address: 'nobody'}, '422 form_param_format_invalid'],
		[{expires_in_days: 366}, '422 form_param_value_invalid'],
		[{inviter_user_id: user.id}, '403 authorization_invalid'],
	] as const) {
		t.is(await refusalOf(changes), expected, JSON.stringify(changes));
	}

	idp.invitation({organization, email: 'b@acme.test'});
	t.is(await refusalOf({}), '403 organization_membership_quota_exceeded');
});
