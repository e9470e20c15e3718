import {generateKeyPairSync} from 'node:crypto';
import test, {type ExecutionContext} from 'ava';
import {pino} from 'pino';
import {createSessionVerifier} from '../../../src/accounts/auth/session.ts';
import {loadConfig} from '../../../src/platform/config/config.ts';
import type {HttpError} from '../../../src/platform/errors.ts';
import {startIdentityProvider} from '../../fakes/identity-provider/identity-provider.ts';
import type {TokenInput} from '../../fakes/identity-provider/tokens.ts';
import type {FaultInput} from '../../fakes/shared/faults.ts';
import {anonymous} from '../../helpers/callers.ts';
import {type Portal, portalOf} from '../../helpers/portal.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';

const clock = createFakeClock();
const portal = portalOf(test, {}, clock);

const opsUser = 'user_ops';
const secondsFrom = (seconds: number): number => clock.now().getTime() / 1000 + seconds;

/** A token of the ops organization, which needs no mirrored membership. */
const tokenOf = (input: Partial<TokenInput> = {}, {provider}: Pick<Portal, 'provider'> = portal) =>
	provider.token({user: opsUser, organization: provider.opsOrganization, ...input});

/** What a service with these variables makes of an Authorization header: the session, or status and message. */
const verifier = (env: Record<string, string> = {}, by: Pick<Portal, 'provider' | 'clock'> = portal) => {
	const verify = createSessionVerifier(loadConfig({...by.provider.env, ...env}), by.clock, pino({level: 'silent'}));
	return (authorization?: string): Promise<object> =>
		verify(authorization).catch(({status, message}: HttpError) => ({status, message}));
};

let present: ReturnType<typeof verifier>;
test.serial.before(() => {
	present = verifier();
});

const withToken = async (input: Partial<TokenInput> = {}, verify = present) => verify(`Bearer ${await tokenOf(input)}`);

const accepted = {userId: opsUser, isOps: true};
const missing = {status: 401, message: 'Missing or invalid Authorization header'};
const refused = {status: 401, message: 'Invalid Clerk session token'};
const unavailable = {status: 502, message: 'Identity provider unavailable'};

test('a header without a bearer token is refused as missing, whatever else it holds', async (t) => {
	for (const authorization of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', 'Token abc']) {
		t.deepEqual(await present(authorization), missing, authorization);
	}

	t.like(await present(`bearer   ${await tokenOf()} `), accepted);
});

test('a token of either claim form is accepted; the compact one wins, and clocks may differ by five seconds', async (t) => {
	const good: Array<Partial<TokenInput>> = [
		{version: 2},
		{version: 1},
		{kind: 'template', header: {oiat: 1}},
		{claims: {azp: undefined}},
		{claims: {org_id: 'org_other'}},
		{issuedAt: new Date(secondsFrom(-64) * 1000)},
		{claims: {nbf: secondsFrom(5)}},
	];
	for (const input of good) {
		t.like(await withToken(input), accepted, JSON.stringify(input));
	}

	const other = {organizationId: 'org_other', isOps: false};
	t.like(await withToken({version: 1, claims: {o: {id: 'org_other'}}}), other);
});

const forged: Record<string, Partial<TokenInput>> = {
	'of no algorithm': {signedBy: 'none'},
	'signed with the public key as a secret': {signedBy: 'hmac'},
	"signed by somebody else's key": {signedBy: 'foreign'},
	'of a machine': {kind: 'machine'},
	'of another issuer': {claims: {iss: 'https://clerk.example.net'}},
	'without an issuer': {claims: {iss: undefined}},
	'that has expired': {issuedAt: new Date(secondsFrom(-66) * 1000)},
	'that is not valid yet': {claims: {nbf: secondsFrom(6)}},
	'without an end': {claims: {exp: undefined}},
	'without a time of issue': {claims: {iat: undefined}},
	'without a user': {claims: {sub: undefined}},
	'with an empty user': {claims: {sub: ''}},
	'with a null character in its user': {claims: {sub: 'user_\0'}},
	'without a session': {claims: {sid: undefined}},
	'with a key id that nobody knows': {header: {kid: 'ins_unknown'}},
};
for (const [name, input] of Object.entries(forged)) {
	test(`a token ${name} is refused`, async (t) => {
		t.deepEqual(await withToken(input), refused);
	});
}

test('a malformed token is refused', async (t) => {
	const [header = '', payload = '', signature = ''] = (await tokenOf()).split('.');
	const other = (await tokenOf({user: 'user_other'})).split('.')[1];
	for (const token of [
		'x',
		'a.b.c',
		`${header}.${payload}`,
		`${header}.${payload}.`,
		`.${payload}.${signature}`,
		`${header}.${other}.${signature}`,
	]) {
		t.deepEqual(await present(`Bearer ${token}`), refused, token);
	}
});

test('a claim that PostgreSQL cannot store counts as absent', async (t) => {
	for (const text of ['x\0', 'x\ud800']) {
		t.like(await withToken({claims: {o: {id: text}, email: text}}), {organizationId: null, email: null});
	}
});

test('without an issuer or a key set every session is refused', async (t) => {
	for (const name of ['IDP_ISSUER', 'IDP_JWKS_URL']) {
		t.deepEqual(await withToken({}, verifier({[name]: ''})), refused, name);
	}
});

test('audience and authorized parties are required if configured', async (t) => {
	const strict = verifier({
		IDP_AUDIENCE: 'oplink, oplink-eu',
		IDP_AUTHORIZED_PARTIES: 'https://a.example, https://b.example',
	});
	const good = {aud: 'oplink-eu', azp: 'https://b.example'};
	t.like(await withToken({claims: good}, strict), accepted);
	t.like(await withToken({claims: {...good, aud: ['x', 'oplink']}}, strict), accepted);
	for (const bad of [
		{aud: 'x'},
		{aud: undefined},
		{azp: 'https://c.example'},
		{azp: undefined},
		{azp: ['https://b.example']},
	]) {
		t.deepEqual(await withToken({claims: {...good, ...bad}}, strict), refused, JSON.stringify(bad));
	}
});

/** A separate provider for a test, with a clock that it moves, and a verifier of its tokens. */
const ownProvider = async (t: ExecutionContext) => {
	const ownClock = createFakeClock();
	const own = await startedIn(t, startIdentityProvider({clock: ownClock}));
	const verify = verifier({}, {provider: own, clock: ownClock});
	const ask = async (input: Partial<TokenInput> = {}) => verify(`Bearer ${await tokenOf(input, {provider: own})}`);
	const failKeys = (fault: FaultInput) => own.fail({...fault, path: '/.well-known/jwks.json', times: Infinity});
	return {own, ownClock, ask, failKeys};
};

test('a new key is found, a removed one ends, and cached keys work while the key set is unavailable', async (t) => {
	const {own, ownClock, ask, failKeys} = await ownProvider(t);

	// Nothing is cached yet, and the provider's outage is not the caller's fault.
	const away = failKeys({status: 500});
	t.deepEqual(await ask(), unavailable);
	away.lift();
	ownClock.advance(1);

	// An unknown key causes an immediate request unless the last answer is fresh.
	await own.rotateKeys({keepOld: false});
	t.like(await ask(), accepted);
	t.deepEqual(await ask({signedBy: 'previous'}), refused);

	const asked = own.calls.length;
	failKeys({drop: true});
	t.like(await ask(), accepted);
	// Invented key ids do not make us ask time and again.
	for (let index = 0; index < 5; index += 1) {
		t.deepEqual(await ask({header: {kid: `ins_${index}`}}), refused);
	}

	t.is(own.calls.length, asked);
});

for (const [what, fault] of Object.entries({
	'answers 500': {status: 500},
	'answers with a page': {rawBody: '<html>'},
	'hangs up': {drop: true},
})) {
	test(`a flood of sessions is one fetch a second of a key set whose provider ${what}`, async (t) => {
		const {own, ownClock, ask, failKeys} = await ownProvider(t);
		const away = failKeys(fault);
		const flood = async (expected: object, calls: number) => {
			for (let index = 0; index < 5; index += 1) {
				const [known] = await Promise.all([ask(), ask({header: {kid: `ins_${index}`}})]);
				t.like(known, expected);
			}

			t.is(own.calls.length, calls);
			ownClock.advance(1);
		};
		await flood(unavailable, 1);
		await flood(unavailable, 2);
		away.lift();
		await flood(accepted, 3);
	});
}

test('a session of the ops organization opens its routes, others do not', async (t) => {
	const ask = (authorization?: string) =>
		anonymous(portal).get('/dev/session', authorization === undefined ? {} : {Authorization: authorization});
	const askWith = async (input: Partial<TokenInput>) => ask(`Bearer ${await tokenOf(input)}`);
	t.like(await askWith({claims: {email: 'x\0'}}), {status: 200, body: {actor: {id: opsUser, name: null}}});
	t.like(await ask(), {status: 401, body: {message: missing.message}});
	const notOps = {status: 403, body: {message: 'Ops access required'}};
	t.like(await askWith({claims: {o: {id: 'org_other'}}}), notOps);
	// Of a session that is not finished, and of somebody else.
	for (const input of [{claims: {sts: 'pending'}}, {signedBy: 'foreign'}] as const) {
		t.like(await askWith(input), {status: 401, body: {message: refused.message}});
	}

	const {publicKey} = generateKeyPairSync('rsa', {modulusLength: 2048});
	const pem = publicKey.export({type: 'spki', format: 'pem'}).toString('base64');
	for (const token of [portal.adminToken, `opl_api_${'x'.repeat(43)}`, pem.replace(/\s/g, '')]) {
		t.like(await ask(`Bearer ${token}`), {status: 401, body: {message: refused.message}});
	}
});

test('a session token opens no other surface', async (t) => {
	const headers = {Authorization: `Bearer ${await tokenOf({role: 'owner'})}`};
	t.like(await anonymous(portal).get('/links', headers), {status: 401, body: {message: 'Invalid API key'}});
	const refusedAdmin = {status: 401, body: {message: 'Invalid admin token'}};
	t.like(await anonymous(portal).get('/admin/organizations', headers), refusedAdmin);
});
