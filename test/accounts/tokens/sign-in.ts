import {once} from 'node:events';
import {readFile, stat, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import {Writable} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {decodeJwt, exportJWK, generateKeyPair, SignJWT} from 'jose';
import Provider from 'oidc-provider';
import {createClock} from '../../../src/platform/clock.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {folderOf} from '../../helpers/folder.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';
import {startedFor, startedIn} from '../../helpers/started.ts';
import {withFile} from './_provider.ts';

const CLIENT = 'oplink-cli';

/** A real provider with the device grant, ES256 and rotating refresh tokens; people are approved by the test. */
const startOidc = async () => {
	const server = createServer();
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const {privateKey} = await generateKeyPair('ES256', {extractable: true});
	const provider = new Provider(issuer, {
		clients: [
			{
				client_id: CLIENT,
				token_endpoint_auth_method: 'none',
				application_type: 'native',
				grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
				response_types: [],
				redirect_uris: [],
				id_token_signed_response_alg: 'ES256',
			},
		],
		jwks: {keys: [{...(await exportJWK(privateKey)), kid: 'one', alg: 'ES256', use: 'sig'}]},
		features: {deviceFlow: {enabled: true}, revocation: {enabled: true}, devInteractions: {enabled: false}},
		conformIdTokenClaims: false,
		claims: {email: ['email', 'email_verified']},
		rotateRefreshToken: true,
		findAccount: (_: unknown, accountId: string) => ({
			accountId,
			claims: () => ({sub: accountId, email: `${accountId}@acme.example`, email_verified: true}),
		}),
		ttl: {IdToken: 3600, AccessToken: 3600, DeviceCode: 600, RefreshToken: 86_400, Grant: 86_400, Session: 86_400},
	});
	// Mallory gets a token for another application.
	provider.use(async (ctx: {body?: {id_token?: string}}, next: () => Promise<void>) => {
		await next();
		const claims = ctx.body?.id_token === undefined ? {} : decodeJwt(ctx.body.id_token);
		if (claims.sub === 'mallory') {
			const token = new SignJWT({...claims, aud: 'another'}).setProtectedHeader({alg: 'ES256', kid: 'one'});
			Object.assign(ctx.body ?? {}, {id_token: await token.sign(privateKey)});
		}
	});
	server.on('request', provider.callback());
	const approve = async (userCode: string, accountId: string): Promise<void> => {
		const code = await provider.DeviceCode.findByUserCode(userCode.replace('-', ''));
		if (code === undefined) {
			throw new Error(`no device has the code ${userCode}`);
		}

		const grant = new provider.Grant({accountId, clientId: CLIENT});
		grant.addOIDCScope('openid email offline_access');
		Object.assign(code, {
			accountId,
			grantId: await grant.save(),
			scope: 'openid email offline_access',
			claims: {},
			authTime: Math.floor(createClock(0).now().getTime() / 1000),
		});
		await code.save();
	};
	const stop = () => {
		server.closeAllConnections();
		server.close();
	};
	return {issuer, approve, stop};
};

const oidc = startedFor(test, startOidc);
const rules = [{claims: {email: 'ann@acme.example'}, scopes: ['viewer']}];
const service = startedFor(test, () =>
	withFile([{issuer: oidc.issuer, audience: CLIENT, clientId: CLIENT, rules}], (file) =>
		// The provider has the machine's time.
		startService({OPERATOR_OIDC_FILE: file}, createFakeClock(createClock(0).now())),
	),
);

/** Signs somebody in, in a folder of theirs, while the test confirms the code that is shown. */
const signIn = async (t: ExecutionContext, accountId: string) => {
	const folder = await folderOf(t);
	const env = {HOME: folder, XDG_CONFIG_HOME: folder};
	let shown = '';
	const stderr = new Writable({
		write: (chunk, _, done) => {
			shown += String(chunk);
			const code = /confirm the code (\S+)/.exec(shown.replaceAll('\n', ' '))?.[1];
			done();
			if (code !== undefined && !shown.includes('approved')) {
				shown += 'approved';
				void oidc.approve(code, accountId);
			}
		},
	});
	const result = await runCli(['login', '--oidc', '--url', service.url], {env, io: {stderr}});
	return {...result, shown, env, profiles: path.join(folder, 'oplink', 'profiles.json')};
};

test('oplink login --oidc signs in by a code, the token is renewed, and logout ends it at the provider', async (t) => {
	const {exitCode, stdout, shown, env, profiles} = await signIn(t, 'ann');
	t.is(exitCode, 0, shown);
	t.regex(stdout, /^Logged in to /);
	t.regex(shown, /Open http:\/\/127\.0\.0\.1:\d+\/device\?user_code=/);
	t.is((await stat(profiles)).mode & 0o777, 0o600);
	const saved = JSON.parse(await readFile(profiles, 'utf8'));
	t.deepEqual(Object.keys(saved.profiles.default).toSorted(), ['signIn', 'token', 'url']);
	t.is((await runCli(['orgs', 'list'], {env})).exitCode, 0);
	const refused = await runCli(['tokens', 'create', '--name', 'x', '--scope', 'viewer'], {env});
	t.is(refused.exitCode, 3);
	t.regex(refused.stderr, /The token lacks the scope system:write/);

	saved.profiles.default.signIn.expiresAt = '2020-01-01T00:00:00.000Z';
	await writeFile(profiles, JSON.stringify(saved));
	// Two commands at once: a refresh token that rotates is good for one of them.
	const both = await Promise.all([runCli(['orgs', 'list'], {env}), runCli(['orgs', 'list'], {env})]);
	const exitCodes = both.map((one) => one.exitCode);
	t.deepEqual(exitCodes, [0, 0], both.map(({stderr}) => stderr).join());
	const renewed = JSON.parse(await readFile(profiles, 'utf8'));
	t.true(Date.parse(renewed.profiles.default.signIn.expiresAt) > Date.parse('2026-01-01'));
	t.not(renewed.profiles.default.signIn.refreshToken, saved.profiles.default.signIn.refreshToken);

	t.is((await runCli(['logout'], {env})).exitCode, 0);
	t.false((await readFile(profiles, 'utf8')).includes('default'));
	renewed.profiles.default.signIn.expiresAt = '2020-01-01T00:00:00.000Z';
	await writeFile(profiles, JSON.stringify(renewed));
	const ended = await runCli(['orgs', 'list'], {env});
	t.is(ended.exitCode, 3);
	t.regex(ended.stderr, /^Error: The sign-in of profile 'default' has ended: invalid_grant\nNext: oplink login --oidc/);
});

test('a person whom no rule takes is refused, and the claim is named', async (t) => {
	const {exitCode, shown} = await signIn(t, 'eve');
	t.is(exitCode, 3);
	t.regex(shown, /The token's claim email is not accepted/);
});

test('a token for another application is refused, and the claim is named', async (t) => {
	const {exitCode, shown} = await signIn(t, 'mallory');
	t.is(exitCode, 3);
	t.regex(shown, /Error: The sign-in failed: .+ \(aud\)/);
});

test('a server without such a provider says so', async (t) => {
	const service = await startedIn(t, startService());
	const {exitCode, stderr} = await runCli(['login', '--oidc', '--url', service.url], {env: {HOME: '/nonexistent'}});
	t.is(exitCode, 1);
	t.regex(stderr, /names no provider with a clientId/);
});
