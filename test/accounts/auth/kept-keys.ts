import test from 'ava';
import {prefixOf} from '../../../src/accounts/api-keys/api-key.ts';
import {createApiKeyStore} from '../../../src/accounts/api-keys/api-key-store.ts';
import {organization} from '../../helpers/builders.ts';
import {admin, withKey} from '../../helpers/callers.ts';
import type {TestService} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';
import {startTwoServices} from '../../helpers/two-services.ts';

let one: TestService;
let other: TestService;
const both = startedFor(test, () => startTwoServices({}));
test.serial.before(() => {
	({one, other} = both);
});

/** An organization whose keys both processes have in memory, and callers of the other process. */
const known = async () => {
	const acme = await organization(one);
	const server = withKey(other, acme.serverKey);
	const client = withKey(other, acme.clientKey);
	const session = () => client.post('/sdk/session', {deviceId: 'device-0001'});
	const isKept = async (key: string): Promise<boolean> =>
		(await other.services.keyCache.get(prefixOf(key), async () => [])).length > 0;
	while (!(await isKept(acme.serverKey)) || !(await isKept(acme.clientKey))) {
		await acme.server.get('/links');
		await server.get('/links');
		await session();
	}

	return {acme, path: `/admin/organizations/${acme.id}`, server, session};
};

test('a SERVER key that is replaced on one process is refused by the other at once', async (t) => {
	const {path, server, session} = await known();
	t.is((await server.get('/links')).status, 200);
	const replaced = await admin(one).post(`${path}/api-keys/SERVER/regenerate`);
	t.like(await server.get('/links'), {status: 401, body: {message: 'Invalid API key'}});
	t.is((await withKey(other, replaced.body.rawKey).get('/links')).status, 200);
	t.is((await session()).status, 200);
});

test('a CLIENT key that is replaced on one process ends with its grace on the other', async (t) => {
	const {acme, path, session} = await known();
	t.is((await admin(one).post(`${path}/api-keys/CLIENT/regenerate`)).status, 200);
	t.is((await session()).status, 200);
	const prefix = prefixOf(acme.clientKey);
	const {db, keyCache} = other.services;
	const [kept] = await keyCache.get(prefix, () => createApiKeyStore(db).findByPrefix(prefix));
	t.deepEqual(kept?.key.expiresAt, new Date(one.clock.now().getTime() + 24 * 3600 * 1000));
});

test('an organization that is suspended on one process is refused by the other at once, and served when active', async (t) => {
	const {path, server, session} = await known();
	t.is((await admin(one).post(`${path}/suspend`)).status, 200);
	const refused = {status: 401, body: {message: 'Organization is suspended'}};
	t.like(await server.get('/links'), refused);
	t.like(await session(), refused);
	t.is((await admin(one).post(`${path}/activate`)).status, 200);
	t.is((await server.get('/links')).status, 200);
});

test('a plan without keys set on one process reaches the other at once, as does the deletion of the organization', async (t) => {
	const {path, server} = await known();
	t.is((await admin(one).put(`${path}/plan`, {plan: 'STARTER'})).status, 200);
	t.like(await server.get('/links'), {status: 403, body: {code: 'FEATURE_NOT_AVAILABLE'}});
	t.is((await admin(one).delete(path)).status, 200);
	t.is((await server.get('/links')).status, 401);
});

test('an unknown key is looked up each time', async (t) => {
	const {server} = await known();
	t.is((await withKey(other, `opl_api_${'x'.repeat(43)}`).get('/links')).status, 401);
	t.deepEqual(await other.services.keyCache.get(`opl_api_${'x'.repeat(8)}`, async () => []), []);
	t.is((await server.get('/links')).status, 200);
});
