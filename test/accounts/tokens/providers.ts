import test from 'ava';
import {SignJWT, UnsecuredJWT} from 'jose';
import {ConfigError, loadConfig} from '../../../src/platform/config/config.ts';
import {presets} from '../../../src/platform/config/operator-scopes.ts';
import {organization} from '../../helpers/builders.ts';
import {withKey} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';
import {startProvider, withFile} from './_provider.ts';

const rules = [
	{claims: {repository_owner_id: '42', sub: 'repo:acme/app:*'}, scopes: ['links:write']},
	{claims: {project_path: 'acme/app', ref_protected: 'true'}, scopes: ['apps:read']},
	{claims: {'realm_access.roles': ['oplink-admin', 'oplink-owner']}, scopes: ['admin']},
	{claims: {groups: '/marketing'}, scopes: ['viewer']},
	{claims: {email: '*@acme.example'}, scopes: ['viewer']},
	{claims: {email: 'ann@acme.example'}, scopes: ['support']},
	{claims: {sub: 'ci elsewhere'}, scopes: ['admin'], org: 'Zz99'},
	{claims: {sub: 'ci'}, scopes: ['admin']},
];

// One test after another: one of them moves the clock.
const clock = createFakeClock();
const provider = startedFor(test, () => startProvider(clock));
const rotating = startedFor(test, () => startProvider(clock));
const stranger = startedFor(test, () => startProvider(clock));
const service = startedFor(test, () =>
	withFile(
		[provider, rotating].map(({issuer}) => ({issuer, audience: 'oplink', rules})),
		(file) => startService({OPERATOR_OIDC_FILE: file}, clock),
	),
);

const whoami = async (token: string | Promise<string>) => withKey(service, await token).get('/admin/whoami');

test.serial('pipelines and people of any provider get what the first matching rule gives', async (t) => {
	const sub = 'repo:acme/app:ref:refs/heads/main';
	const keycloak = {realm_access: {roles: ['offline_access', 'oplink-admin']}, preferred_username: 'ann', azp: 'x'};
	const ann = {email: 'ann@acme.example', sub: 'ann-1'};
	const refused = (claim: string) => ({message: `The token's claim ${claim} is not accepted`});
	const rows: Array<
		[
			claims: Record<string, unknown>,
			status: number,
			body?: {scopes?: string[]; name?: string; id?: string; message?: string},
		]
	> = [
		[{sub, repository: 'acme/app', repository_owner_id: '42', jti: 'x'}, 200, {name: sub, scopes: ['links:write']}],
		[{sub: 'repo:acme/app:ref:x', repository_owner_id: '43'}, 403, refused('repository_owner_id')],
		[{sub: 'repo:acme/apples:ref:x', repository_owner_id: '42'}, 403, refused('sub')],
		[{project_path: 'acme/app', ref_protected: 'true'}, 200, {scopes: ['apps:read']}],
		[keycloak, 200, {name: 'ann'}],
		[{...keycloak, aud: ['account', 'oplink']}, 200],
		[{...keycloak, aud: 'account', azp: 'oplink'}, 401],
		[{groups: ['/sales', '/marketing']}, 200],
		[ann, 403],
		[{...ann, email_verified: true}, 200, {name: 'ann@acme.example', id: 'ann-1'}],
		// A rule with an organization reaches only that one, which is not there.
		[{sub: 'ci elsewhere'}, 403, refused('org')],
	];
	for (const [claims, status, body] of rows) {
		const answer = await whoami(provider.token(claims));
		t.like(answer, body === undefined ? {status} : {status, body}, JSON.stringify(claims));
		// `t.like` would accept more of them.
		t.deepEqual(body?.scopes ?? answer.body.scopes, answer.body.scopes);
	}

	const body = {name: 'made by a pipeline', scopes: ['orgs:read'], expires: '90d'};
	const made = await withKey(service, await provider.token({sub: 'ci'})).post('/admin/tokens', body);
	t.is(made.body.expiresAt, new Date(clock.now().getTime() + 300_000).toISOString());
	const late = await withKey(service, await provider.token({sub: 'ci', exp: 1e300})).post('/admin/tokens', {
		...body,
		name: 'made by a token of long life',
		expires: undefined,
	});
	t.is(late.body.expiresAt, '9999-01-01T00:00:00.000Z');
	const acme = await organization(service);
	await service.services.db('organizations').where({id: acme.id}).update({org_key: 'Zz99'});
	const elsewhere = withKey(service, await provider.token({sub: 'ci elsewhere'}));
	const {scopes, organization: bound} = (await elsewhere.get('/admin/whoami')).body;
	t.deepEqual(bound, {id: acme.id, orgKey: 'Zz99', name: acme.name});
	t.deepEqual(
		scopes,
		presets.admin.filter((scope) => scope !== 'moderation'),
	);
	t.is((await elsewhere.post(`/admin/organizations/${acme.id}/suspend`)).status, 403);
	const pipeline = withKey(service, await provider.token({sub, repository_owner_id: '42'}));
	const release = await pipeline.post(`/admin/organizations/${acme.id}/links`, {path: '/sale'});
	t.is(release.status, 201);
	const {body: audit} = await acme.operator.get('/audit-log');
	t.is(audit.data.find(({entityId}: {entityId: string}) => entityId === release.body.id).actor.name, sub);
});

test.serial('hostile tokens: none is accepted, and none is our fault', async (t) => {
	const good = await provider.token({sub: 'ci'});
	t.is((await whoami(good)).status, 200);
	const now = Math.floor(clock.now().getTime() / 1000);
	const secret = new TextEncoder().encode(JSON.stringify(provider.keys[0]?.jwk));
	const kid = provider.keys[0]?.kid;
	const [header = '', payload = '', signature = ''] = good.split('.');
	const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
	const claims = {iss: provider.issuer, aud: 'oplink', sub: 'ci', iat: now, exp: now + 300};
	const odd: unknown[] = [null, 0, -1, 1e300, '', [], {}, true, 'x'.repeat(5000), '\0', '\ud800', [[['ci']]]];
	const hostile: Array<() => string | Promise<string>> = [
		() => new UnsecuredJWT(claims).encode(),
		() => new SignJWT(claims).setProtectedHeader({alg: 'HS256'}).sign(secret),
		() => `${encoded({alg: 'none', kid})}.${payload}.`,
		...[
			{alg: 'RS256', kid, crit: ['x'], x: 1},
			{alg: 'RS256', jwk: stranger.keys[0]?.jwk},
			{alg: 'RS256', jku: `${stranger.issuer}/keys`, kid: stranger.keys[0]?.kid},
		].map((other) => () => `${encoded(other)}.${payload}.${signature}`),
		() => stranger.token(claims),
		...[{exp: now - 61}, {nbf: now + 61}, {aud: 'other'}, {iss: `${provider.issuer}/`}].map(
			(wrong) => () => provider.token({sub: 'ci', ...wrong}),
		),
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

	t.is((await whoami(`${header}.${'x'.repeat(14_000)}.${signature}`)).status, 401);
	const ofAnother = await whoami(await provider.token({sub: 'ci', iss: 'https://another.example'}));
	t.is(ofAnother.body.message, "The token's claim iss is not accepted");
});

test.serial('a rotated key is taken at once, others ask once in 30 s, and an outage refuses nobody', async (t) => {
	const statusBy = async (key = rotating.keys[0]) => (await whoami(rotating.token({sub: 'ci'}, key))).status;
	rotating.away();
	t.is(await statusBy(), 503);
	rotating.away(false);
	clock.advance(31);
	t.is(await statusBy(), 200);
	const old = rotating.keys[0];
	clock.advance(31);
	await rotating.addKey('ES256');
	t.is(await statusBy(), 200);
	const asked = rotating.asked();
	for (let index = 0; index < 20; index += 1) {
		t.is((await whoami(stranger.token({iss: rotating.issuer, sub: 'ci'}))).status, 401);
	}

	t.is(rotating.asked(), asked);
	clock.advance(24 * 3600);
	rotating.away();
	t.is(await statusBy(), 200);
	t.is(await statusBy(old), 200);
	await rotating.addKey('EdDSA');
	t.is(await statusBy(), 401);
	rotating.away(false);
	clock.advance(31);
	t.is(await statusBy(), 200);
});

const rulesOf = (claims: object[]) => ({rules: claims.map((one) => ({claims: one, scopes: ['viewer']}))});
const viewer = (claims: object) => rulesOf([claims]);
const GITHUB = {issuer: 'https://token.actions.githubusercontent.com'};
const GITLAB = {issuer: 'https://gitlab.com'};
const GOOGLE = {issuer: 'https://accounts.google.com'};
for (const [what, given, sentence] of [
	['no claims', viewer({}), /claims/],
	['any value', viewer({sub: '*'}), /admits everybody/],
	['any repository of GitHub', {...GITHUB, ...viewer({ref: 'refs/heads/main'})}, /repository_owner_id/],
	['a pattern over owners', {...GITHUB, ...viewer({repository: '*'})}, /admits everybody/],
	['a subject of all', {...GITHUB, ...viewer({sub: 'repo:*'})}, /repository_owner_id/],
	['a pattern in the owner', {...GITHUB, ...viewer({repository_owner: 'ac*'})}, /repository_owner_id/],
	['all subjects in a list', {...GITHUB, ...viewer({sub: ['repo:acme/app:*', 'repo:*']})}, /repository_owner_id/],
	['any subject in a list', {...GITHUB, ...viewer({sub: ['repo:acme/app:*', '*'], ref: 'a'})}, /repository_owner_id/],
	['any owner in a list', {...GITHUB, ...viewer({repository: ['acme/*', '*/app']})}, /repository_owner_id/],
	['claims that only look owned', {...GITHUB, ...viewer({constructor: 'a', toString: 'b'})}, /repository_owner_id/],
	['all projects in a list', {...GITLAB, ...viewer({sub: ['project_path:acme/*', 'project_path:a*']})}, /namespace_id/],
	['any project path in a list', {...GITLAB, ...viewer({project_path: ['acme/*', 'ac*']})}, /namespace_id/],
	['many subjects of Google', {...GOOGLE, ...viewer({sub: '1*'})}, /hd or email/],
	['many subjects of Google in a list', {...GOOGLE, ...viewer({sub: ['1234', '1*']})}, /hd or email/],
	['any address of Google in a list', {...GOOGLE, ...viewer({email: ['ann@acme.example', 'a*']})}, /hd or email/],
	['any project of gitlab.com', {...GITLAB, ...viewer({ref_protected: 'true'})}, /namespace_id/],
	['an unknown scope', {rules: [{claims: {sub: 'a'}, scopes: ['links']}]}, /scopes/],
	[
		'moderation of one organization',
		{rules: [{claims: {sub: 'a'}, scopes: ['moderation'], org: 'Ab12'}]},
		/moderation/,
	],
	['no audience', {audience: undefined, ...viewer({sub: 'a'})}, /audience/],
	['an issuer over http', {issuer: 'http://idp.example.com', ...viewer({sub: 'a'})}, /must begin with https/],
] as const) {
	test(`a provider file with ${what} ends the start with a sentence`, async (t) => {
		const content = [{issuer: 'https://idp.example.com', audience: 'oplink', ...given}];
		const error = await withFile(content, (file) =>
			t.throws(() => loadConfig({OPERATOR_OIDC_FILE: file}), {instanceOf: ConfigError}),
		);
		t.regex(error?.message ?? '', /OPERATOR_OIDC_FILE/);
		t.regex(error?.message ?? '', sentence);
	});
}

test('rules that name an owner are taken', async (t) => {
	const byIssuer = [
		{
			...GITHUB,
			claims: [
				{repository_owner_id: '42'},
				{repository: 'acme/*'},
				{sub: ['repo:acme/app:*', 'repo:acme/site:ref:refs/heads/main']},
				{repository_owner: 'acme', ref: ['refs/heads/main', '*']},
			],
		},
		{...GITLAB, claims: [{namespace_id: ['42', '43']}, {project_path: 'acme/*', sub: '*'}]},
		{...GOOGLE, claims: [{sub: ['1234', '5678']}, {hd: 'acme.example', sub: '1*'}, {email: 'ann@acme.example'}]},
	];
	const content = byIssuer.map(({issuer, claims}) => ({issuer, audience: 'oplink', ...rulesOf(claims)}));
	const config = await withFile(content, (file) => loadConfig({OPERATOR_OIDC_FILE: file}));
	const found = config.operatorProviders.map(({rules: taken}) => taken.length);
	t.deepEqual(found, [4, 2, 3]);
});
