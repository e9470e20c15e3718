import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {SignJWT, UnsecuredJWT} from 'jose';
import {ConfigError, loadConfig} from '../../../src/platform/config/config.ts';
import {organization} from '../../helpers/builders.ts';
import {admin, withKey} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';
import {startProvider} from './_provider.ts';

const fileOf = async (t: Pick<ExecutionContext, 'teardown'>, content: unknown): Promise<string> => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-oidc-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const file = path.join(folder, 'operators.json');
	await writeFile(file, JSON.stringify(content));
	return file;
};

type Rule = {claims: Record<string, string | string[]>; scopes: string[]; org?: string};

const start = async (t: ExecutionContext, rules: Rule[]) => {
	const clock = createFakeClock();
	const provider = await startProvider(t, () => clock.now());
	const file = await fileOf(t, [{issuer: provider.issuer, audience: 'oplink', rules}]);
	const service = await startService({OPERATOR_OIDC_FILE: file}, clock);
	t.teardown(() => service.stop());
	const whoami = async (token: string) => withKey(service, token).get('/admin/whoami');
	return {clock, provider, service, whoami};
};

test('a pipeline of GitHub, one of GitLab and a person of Keycloak get what the first matching rule gives', async (t) => {
	const {provider, service, whoami} = await start(t, [
		{claims: {repository_owner_id: '42', sub: 'repo:acme/app:*'}, scopes: ['links:write']},
		{claims: {project_path: 'acme/app', ref_protected: 'true'}, scopes: ['apps:read']},
		{claims: {'realm_access.roles': ['oplink-admin', 'oplink-owner']}, scopes: ['admin']},
		{claims: {groups: '/marketing'}, scopes: ['viewer']},
		{claims: {email: '*@acme.example'}, scopes: ['viewer']},
		{claims: {email: 'ann@acme.example'}, scopes: ['support']},
	]);
	const github = await provider.token({
		sub: 'repo:acme/app:ref:refs/heads/main',
		repository: 'acme/app',
		repository_owner_id: '42',
		jti: 'x',
	});
	t.like((await whoami(github)).body, {name: 'repo:acme/app:ref:refs/heads/main', scopes: ['links:write']});
	const other = await whoami(await provider.token({sub: 'repo:acme/app:ref:x', repository_owner_id: '43'}));
	t.is(other.status, 403);
	t.is(other.body.message, "The token's claim repository_owner_id is not accepted");
	t.is((await whoami(await provider.token({sub: 'repo:acme/apples:ref:x', repository_owner_id: '42'}))).status, 403);
	const gitlab = await provider.token({project_path: 'acme/app', ref_protected: 'true'});
	t.deepEqual((await whoami(gitlab)).body.scopes, ['apps:read']);
	const keycloak = {realm_access: {roles: ['offline_access', 'oplink-admin']}, preferred_username: 'ann', azp: 'x'};
	t.is((await whoami(await provider.token(keycloak))).body.name, 'ann');
	t.is((await whoami(await provider.token({...keycloak, aud: ['account', 'oplink']}))).status, 200);
	t.is((await whoami(await provider.token({...keycloak, aud: 'account', azp: 'oplink'}))).status, 401);
	t.is((await whoami(await provider.token({groups: ['/sales', '/marketing']}))).status, 200);
	const ann = {email: 'ann@acme.example', sub: 'ann-1'};
	t.is((await whoami(await provider.token(ann))).status, 403);
	t.like((await whoami(await provider.token({...ann, email_verified: true}))).body, {
		name: 'ann@acme.example',
		id: 'ann-1',
	});
	const acme = await organization(service);
	const made = await withKey(service, github).post(`/admin/organizations/${acme.id}/links`, {path: '/sale'});
	t.is(made.status, 201);
	const {body: audit} = await admin(service).get(`/admin/organizations/${acme.id}/audit-log`);
	const record = audit.data.find(({entityId}: {entityId: string}) => entityId === made.body.id);
	t.is(record.actor.name, 'repo:acme/app:ref:refs/heads/main');
});

test('a rule with an organization reaches only that one', async (t) => {
	const clock = createFakeClock();
	const provider = await startProvider(t, () => clock.now());
	const plain = await startService({}, clock);
	t.teardown(() => plain.stop());
	const {service, provider: own} = await start(t, [{claims: {sub: 'ci'}, scopes: ['admin'], org: 'Zz99'}]);
	t.truthy(provider);
	const token = await own.token({sub: 'ci'});
	t.is((await withKey(service, token).get('/admin/whoami')).status, 403);
});

test('a rotated key is taken at once, an unknown one asks at most once in 30 s, and an issuer that is away refuses nobody', async (t) => {
	const {clock, provider, whoami} = await start(t, [{claims: {sub: 'ci'}, scopes: ['viewer']}]);
	provider.away();
	const first = await whoami(await provider.token({sub: 'ci'}));
	t.is(first.status, 503);
	provider.away(false);
	clock.advance(31);
	t.is((await whoami(await provider.token({sub: 'ci'}))).status, 200);
	const old = provider.keys[0];
	clock.advance(31);
	await provider.addKey('ES256');
	t.is((await whoami(await provider.token({sub: 'ci'}))).status, 200);
	const asked = provider.asked();
	const stranger = await startProvider(t, () => clock.now());
	for (let index = 0; index < 20; index += 1) {
		const forged = await stranger.token({iss: provider.issuer, sub: 'ci'});
		t.is((await whoami(forged)).status, 401);
	}

	t.is(provider.asked(), asked);
	clock.advance(24 * 3600);
	provider.away();
	t.is((await whoami(await provider.token({sub: 'ci'}))).status, 200);
	t.is((await whoami(await provider.token({sub: 'ci'}, old))).status, 200);
	await provider.addKey('EdDSA');
	t.is((await whoami(await provider.token({sub: 'ci'}))).status, 401);
	provider.away(false);
	clock.advance(31);
	t.is((await whoami(await provider.token({sub: 'ci'}))).status, 200);
});

test('hostile tokens: none is accepted, and none is our fault', async (t) => {
	const {clock, provider, service, whoami} = await start(t, [{claims: {sub: 'ci'}, scopes: ['admin']}]);
	const good = await provider.token({sub: 'ci'});
	t.is((await whoami(good)).status, 200);
	const now = Math.floor(clock.now().getTime() / 1000);
	const stranger = await startProvider(t, () => clock.now());
	const secret = new TextEncoder().encode(JSON.stringify(provider.keys[0]?.jwk));
	const [header = '', payload = '', signature = ''] = good.split('.');
	const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
	const claims = {iss: provider.issuer, aud: 'oplink', sub: 'ci', iat: now, exp: now + 300};
	const odd: unknown[] = [null, 0, -1, 1e300, '', [], {}, true, 'x'.repeat(5000), '\0', '\ud800', [[['ci']]]];
	const hostile: Array<() => string | Promise<string>> = [
		() => new UnsecuredJWT(claims).encode(),
		() => new SignJWT(claims).setProtectedHeader({alg: 'HS256'}).sign(secret),
		() => `${encoded({alg: 'none', kid: provider.keys[0]?.kid})}.${payload}.`,
		() => `${encoded({alg: 'RS256', kid: provider.keys[0]?.kid, crit: ['x'], x: 1})}.${payload}.${signature}`,
		() => `${encoded({alg: 'RS256', jwk: stranger.keys[0]?.jwk})}.${payload}.${signature}`,
		() =>
			`${encoded({alg: 'RS256', jku: `${stranger.issuer}/keys`, kid: stranger.keys[0]?.kid})}.${payload}.${signature}`,
		() => stranger.token(claims),
		() => provider.token({sub: 'ci', exp: now - 61}),
		() => provider.token({sub: 'ci', nbf: now + 61}),
		() => provider.token({sub: 'ci', aud: 'other'}),
		() => provider.token({sub: 'ci', iss: `${provider.issuer}/`}),
		() => `${header}.${payload}`,
		() => `${header}.${payload}.${signature}.x`,
		() => `${header}.${payload}.${signature.slice(0, -2)}`,
		() => '..',
		() => `${header}.${encoded('text')}.${signature}`,
		() => `${header}.${encoded(null)}.${signature}`,
		() => `${header}.%%%.${signature}`,
		...['sub', 'aud', 'exp', 'iss', 'nbf'].flatMap((name) =>
			// A number of a time is no fault: that of a provider's own key decides.
			odd
				.filter((value) => !(/exp|nbf/.test(name) && typeof value === 'number'))
				.map((value) => () => provider.token({sub: 'ci', [name]: value as never}).catch(() => 'a.b.c')),
		),
	];
	const rounds = isDeep ? Math.ceil(10_000 / hostile.length) : 2;
	for (let round = 0; round < rounds; round += 1) {
		for (const make of hostile) {
			const token = await make();
			// A header may not hold every character.
			const {status} = await whoami(token.slice(0, 15_000));
			t.true(status === 401 || status === 403, `${status}: ${token.slice(0, 300)}`);
		}
	}

	t.is((await withKey(service, `${header}.${'x'.repeat(14_000)}.${signature}`).get('/admin/whoami')).status, 401);
});

const GITHUB = 'https://token.actions.githubusercontent.com';
for (const [what, provider, sentence] of [
	['no claims', {rules: [{claims: {}, scopes: ['viewer']}]}, /claims/],
	['any value', {rules: [{claims: {sub: '*'}, scopes: ['viewer']}]}, /admits everybody/],
	[
		'any repository of GitHub',
		{issuer: GITHUB, rules: [{claims: {ref: 'refs/heads/main'}, scopes: ['viewer']}]},
		/repository_owner_id/,
	],
	[
		'a pattern over owners',
		{issuer: GITHUB, rules: [{claims: {repository: '*'}, scopes: ['viewer']}]},
		/admits everybody/,
	],
	['a subject of all', {issuer: GITHUB, rules: [{claims: {sub: 'repo:*'}, scopes: ['viewer']}]}, /repository_owner_id/],
	[
		'a pattern in the owner',
		{issuer: GITHUB, rules: [{claims: {repository_owner: 'ac*'}, scopes: ['viewer']}]},
		/repository_owner_id/,
	],
	[
		'any project of gitlab.com',
		{issuer: 'https://gitlab.com', rules: [{claims: {ref_protected: 'true'}, scopes: ['viewer']}]},
		/namespace_id/,
	],
	['an unknown scope', {rules: [{claims: {sub: 'a'}, scopes: ['links']}]}, /scopes/],
	['no audience', {audience: undefined, rules: [{claims: {sub: 'a'}, scopes: ['viewer']}]}, /audience/],
	[
		'an issuer over http',
		{issuer: 'http://idp.example.com', rules: [{claims: {sub: 'a'}, scopes: ['viewer']}]},
		/must begin with https/,
	],
] as const) {
	test(`a provider file with ${what} ends the start with a sentence`, async (t) => {
		const file = await fileOf(t, [{issuer: 'https://idp.example.com', audience: 'oplink', ...provider}]);
		const error = t.throws(() => loadConfig({OPERATOR_OIDC_FILE: file}), {instanceOf: ConfigError});
		t.regex(error?.message ?? '', /OPERATOR_OIDC_FILE/);
		t.regex(error?.message ?? '', sentence);
	});
}

test('rules that name an owner are taken', async (t) => {
	const rules = [
		{repository_owner_id: '42'},
		{repository: 'acme/*'},
		{sub: 'repo:acme/app:*'},
		{repository_owner: 'acme', ref: 'refs/heads/main'},
	].map((claims) => ({claims, scopes: ['links:write']}));
	const file = await fileOf(t, [{issuer: GITHUB, audience: 'oplink', rules}]);
	t.is(loadConfig({OPERATOR_OIDC_FILE: file}).operatorProviders[0]?.rules.length, 4);
});
