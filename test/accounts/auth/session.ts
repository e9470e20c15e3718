import {generateKeyPairSync} from 'node:crypto';
import test from 'ava';
import {type IdentityProvider, startIdentityProvider} from '../../fakes/identity-provider/identity-provider.ts';
import type {TokenInput} from '../../fakes/identity-provider/tokens.ts';
import {anonymous} from '../../helpers/callers.ts';
import {createFakeClock, startService, type TestService} from '../../helpers/service.ts';

const clock = createFakeClock();
let idp: IdentityProvider;
let service: TestService;

test.serial.before(async () => {
	idp = await startIdentityProvider({clock});
	service = await startService(idp.env, clock);
});

test.after.always(async () => {
	await service?.stop();
	await idp?.stop();
});

const opsUser = 'user_ops';

/** The service's answer to a token of the ops organization, which needs no mirrored membership. */
const present = async (on: TestService, authorization: string | null) => {
	const headers: Record<string, string> = authorization === null ? {} : {Authorization: authorization};
	const {status, body} = await anonymous(on).get('/dev/session', headers);
	return {status, message: body.message as string | undefined};
};

const withToken = async (input: Partial<TokenInput>, on = service) =>
	present(on, `Bearer ${await idp.token({user: opsUser, organization: idp.opsOrganization, ...input})}`);

const accepted = {status: 200, message: undefined};
const missing = {status: 401, message: 'Missing or invalid Authorization header'};
const refused = {status: 401, message: 'Invalid Clerk session token'};
const notOps = {status: 403, message: 'Ops access required'};

test('a header without a bearer token is refused as missing, whatever else it holds', async (t) => {
	for (const authorization of [null, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', 'Token abc']) {
		t.deepEqual(await present(service, authorization), missing, String(authorization));
	}

	const token = await idp.token({user: opsUser, organization: idp.opsOrganization});
	t.deepEqual(await present(service, `bearer   ${token} `), accepted);
});

test('a token of either claim form is accepted, and unknown header members are ignored', async (t) => {
	t.deepEqual(await withToken({version: 2}), accepted);
	t.deepEqual(await withToken({version: 1}), accepted);
	t.deepEqual(await withToken({kind: 'template', header: {oiat: 1}}), accepted);
	t.deepEqual(await withToken({claims: {azp: undefined}}), accepted);
});

test('the compact form wins if a token has both', async (t) => {
	t.deepEqual(await withToken({claims: {org_id: 'org_other'}}), accepted);
	t.deepEqual(await withToken({version: 1, claims: {o: {id: 'org_other'}}}), notOps);
});

const forged: Record<string, Partial<TokenInput>> = {
	'of no algorithm': {signedBy: 'none'},
	'signed with the public key as a secret': {signedBy: 'hmac'},
	"signed by somebody else's key": {signedBy: 'foreign'},
	'of a machine': {kind: 'machine'},
	'of another issuer': {claims: {iss: 'https://clerk.example.net'}},
	'without an issuer': {claims: {iss: undefined}},
	'that has expired': {issuedAt: new Date(clock.now().getTime() - 66_000)},
	'that is not valid yet': {claims: {nbf: clock.now().getTime() / 1000 + 6}},
	'without an end': {claims: {exp: undefined}},
	'without a time of issue': {claims: {iat: undefined}},
	'without a user': {claims: {sub: undefined}},
	'with an empty user': {claims: {sub: ''}},
	'with a null character in its user': {claims: {sub: 'user_\0'}},
	'without a session': {claims: {sid: undefined}},
	'with a key id that nobody knows': {header: {kid: 'ins_unknown'}},
	'of a session that is not finished': {claims: {sts: 'pending'}},
};
for (const [name, input] of Object.entries(forged)) {
	test(`a token ${name} is refused`, async (t) => {
		t.deepEqual(await withToken(input), refused);
	});
}

test('a malformed token is refused', async (t) => {
	const [header = '', payload = '', signature = ''] = (await idp.token({user: opsUser})).split('.');
	for (const token of ['x', 'a.b.c', `${header}.${payload}`, `${header}.${payload}.`, `.${payload}.${signature}`]) {
		t.deepEqual(await present(service, `Bearer ${token}`), refused, token);
	}

	const other = (await idp.token({user: 'user_other', organization: idp.opsOrganization})).split('.')[1];
	t.deepEqual(await present(service, `Bearer ${header}.${other}.${signature}`), refused);
});

test('a claim that PostgreSQL cannot store counts as absent', async (t) => {
	for (const text of ['x\0', 'x\ud800']) {
		const get = async (path: string, claims: Record<string, unknown>) =>
			anonymous(service).get(path, {
				Authorization: `Bearer ${await idp.token({user: opsUser, organization: idp.opsOrganization, role: 'owner', claims})}`,
			});
		const {status, body} = await get('/portal/organization', {o: {id: text}});
		t.deepEqual([status, body.message], [403, 'User does not belong to a valid organization']);
		t.like(await get('/dev/session', {email: text}), {status: 200, body: {actor: {id: opsUser, name: null}}});
	}
});

test('clocks may differ by five seconds', async (t) => {
	t.deepEqual(await withToken({issuedAt: new Date(clock.now().getTime() - 64_000)}), accepted);
	t.deepEqual(await withToken({claims: {nbf: clock.now().getTime() / 1000 + 5}}), accepted);
});

test('without an issuer or a key set every session is refused', async (t) => {
	for (const name of ['IDP_ISSUER', 'IDP_JWKS_URL']) {
		const other = await startService({...idp.env, [name]: ''}, clock);
		t.deepEqual(await withToken({}, other), refused, name);
		await other.stop();
	}
});

test('audience and authorized parties are required if configured', async (t) => {
	const strict = await startService(
		{...idp.env, IDP_AUDIENCE: 'oplink, oplink-eu', IDP_AUTHORIZED_PARTIES: 'https://a.example, https://b.example'},
		clock,
	);
	const good = {aud: 'oplink-eu', azp: 'https://b.example'};
	t.deepEqual(await withToken({claims: good}, strict), accepted);
	t.deepEqual(await withToken({claims: {...good, aud: ['x', 'oplink']}}, strict), accepted);
	for (const bad of [
		{aud: 'x'},
		{aud: undefined},
		{azp: 'https://c.example'},
		{azp: undefined},
		{azp: ['https://b.example']},
	]) {
		t.deepEqual(await withToken({claims: {...good, ...bad}}, strict), refused, JSON.stringify(bad));
	}

	await strict.stop();
});

test('a new key is found, a removed one ends, and cached keys work while the key set is unavailable', async (t) => {
	const ownClock = createFakeClock();
	const own = await startIdentityProvider({clock: ownClock});
	const on = await startService(own.env, ownClock);
	t.teardown(async () => {
		await on.stop();
		await own.stop();
	});
	const token = (input: Partial<TokenInput> = {}) =>
		own.token({user: opsUser, organization: own.opsOrganization, ...input});

	// Nothing is cached yet, and the provider's outage is not the caller's fault.
	const away = own.fail({path: '/.well-known/jwks.json', status: 500, times: Infinity});
	const first = await present(on, `Bearer ${await token()}`);
	t.deepEqual(first, {status: 502, message: 'Identity provider unavailable'});
	away.lift();
	ownClock.advance(1);

	// An unknown key causes an immediate request unless the last answer is fresh.
	await own.rotateKeys({keepOld: false});
	t.deepEqual(await present(on, `Bearer ${await token()}`), accepted);
	t.deepEqual(await present(on, `Bearer ${await token({signedBy: 'previous'})}`), refused);

	const asked = own.calls.length;
	own.fail({path: '/.well-known/jwks.json', drop: true, times: Infinity});
	t.deepEqual(await present(on, `Bearer ${await token()}`), accepted);
	// Invented key ids do not make us ask time and again.
	for (let index = 0; index < 5; index += 1) {
		t.deepEqual(await present(on, `Bearer ${await token({header: {kid: `ins_${index}`}})}`), refused);
	}

	t.is(own.calls.length, asked);
});

for (const [what, fault] of Object.entries({
	'answers 500': {status: 500},
	'answers with a page': {rawBody: '<html>'},
	'hangs up': {drop: true},
})) {
	test(`a flood of sessions is one fetch a second of a key set whose provider ${what}`, async (t) => {
		const ownClock = createFakeClock();
		const own = await startIdentityProvider({clock: ownClock});
		const on = await startService(own.env, ownClock);
		t.teardown(async () => {
			await on.stop();
			await own.stop();
		});
		const away = own.fail({...fault, path: '/.well-known/jwks.json', times: Infinity});
		const token = await own.token({user: opsUser, organization: own.opsOrganization});
		const flood = async (expected: object) => {
			for (let index = 0; index < 5; index += 1) {
				const unknown = await own.token({user: opsUser, header: {kid: `ins_${index}`}});
				const answers = await Promise.all([present(on, `Bearer ${token}`), present(on, `Bearer ${unknown}`)]);
				t.like(answers[0], expected);
			}
		};
		const unavailable = {status: 502, message: 'Identity provider unavailable'};
		await flood(unavailable);
		t.is(own.calls.length, 1);
		ownClock.advance(1);
		await flood(unavailable);
		t.is(own.calls.length, 2);
		away.lift();
		ownClock.advance(1);
		await flood(accepted);
		t.is(own.calls.length, 3);
	});
}

test('a session token opens no other surface, and no other credential opens the portal', async (t) => {
	const authorization = `Bearer ${await idp.token({user: opsUser, organization: idp.opsOrganization, role: 'owner'})}`;
	const caller = anonymous(service);
	for (const [path, message] of [
		['/links', 'Invalid API key'],
		['/admin/organizations', 'Invalid admin token'],
	] as const) {
		const {status, body} = await caller.get(path, {Authorization: authorization});
		t.deepEqual([status, body.message], [401, message]);
	}

	const {publicKey} = generateKeyPairSync('rsa', {modulusLength: 2048});
	const pem = publicKey.export({type: 'spki', format: 'pem'}).toString('base64');
	for (const token of [service.adminToken, `opl_api_${'x'.repeat(43)}`, pem.replace(/\s/g, '')]) {
		t.deepEqual(await present(service, `Bearer ${token}`), refused);
	}
});
