import test from 'ava';
import {regenerateApiKey} from '../../../src/accounts/api-keys/rotation.ts';
import {systemCaller} from '../../../src/accounts/audit/audit-log.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {organization} from '../../helpers/builders.ts';
import {admin, send, withKey} from '../../helpers/callers.ts';
import {createTestDatabase, untilAwaited} from '../../helpers/database.ts';
import {createFakeClock, serviceOf, startService} from '../../helpers/service.ts';

const service = serviceOf(test);

const keysPath = (id: string) => `/admin/organizations/${id}/api-keys`;

test('the first read provisions both tiers, whatever the plan', async (t) => {
	const own = await startService({}, createFakeClock());
	t.teardown(() => own.stop());
	const {id} = (await admin(own).post('/admin/organizations', {name: 'First read', plan: 'STARTER'})).body;
	const {status, body} = await admin(own).get(keysPath(id));
	t.is(status, 200);
	t.is(body.locked, false);
	t.regex(body.sdkKey.displayKey, /^opl_sdk_[A-Za-z0-9_-]{43}$/);
	t.regex(body.serverKey.displayKey, /^opl_api_[A-Za-z0-9_-]{43}$/);
	t.deepEqual(body.serverKey, {
		id: body.serverKey.id,
		tier: 'SERVER',
		prefix: body.serverKey.displayKey.slice(0, 16),
		displayKey: body.serverKey.displayKey,
		createdAt: own.clock.now().toISOString(),
		expiresAt: null,
		lastUsedAt: null,
	});
	t.deepEqual((await admin(own).get(keysPath(id))).body, body);
});

test('ten first reads at once provision one key per tier', async (t) => {
	const {id} = (await admin(service).post('/admin/organizations', {name: 'Ten at once'})).body;
	const answers = await Promise.all(Array.from({length: 10}, () => admin(service).get(keysPath(id))));
	t.deepEqual(new Set(answers.map(({status}) => status)), new Set([200]));
	t.is(new Set(answers.map(({body}) => body.sdkKey.id)).size, 1);
	t.is((await service.services.db('api_keys').where({organization_id: id})).length, 2);
});

test('a regenerated SERVER key ends the old one at once', async (t) => {
	const acme = await organization(service);
	const {status, body} = await admin(service).post(`${keysPath(acme.id)}/SERVER/regenerate`);
	t.is(status, 200);
	t.is(body.rawKey, body.displayKey);
	t.is(body.tier, 'SERVER');
	const old = await acme.server.get('/links');
	t.is(old.status, 401);
	t.is(old.body.message, 'Invalid API key');
	t.is((await withKey(service, body.rawKey).get('/links')).status, 200);
	const [audit] = (await admin(service).get(`/admin/organizations/${acme.id}/audit-log`)).body.data.filter(
		({action}: {action: string}) => action === 'REGENERATE',
	);
	t.is(audit.entityType, 'ApiKey');
	t.is(audit.entityId, body.id);
	t.false(JSON.stringify(audit).includes(body.rawKey));
});

test('a regenerated CLIENT key lets the old one live for 24 hours', async (t) => {
	const own = await startService({}, createFakeClock());
	t.teardown(() => own.stop());
	const acme = await organization(own);
	const {body} = await admin(own).post(`${keysPath(acme.id)}/CLIENT/regenerate`);
	const tierRefused = `API key tier 'CLIENT' is not permitted on this endpoint (requires 'SERVER')`;
	t.is((await acme.client.get('/links')).body.message, tierRefused);
	own.clock.advance(24 * 3600 - 1);
	t.is((await acme.client.get('/links')).body.message, tierRefused);
	own.clock.advance(1);
	t.is((await acme.client.get('/links')).body.message, 'Invalid API key');
	t.is((await withKey(own, body.rawKey).get('/links')).body.message, tierRefused);
});

test('parallel rotations leave one current key', async (t) => {
	const acme = await organization(service);
	const answers = await Promise.all(
		Array.from({length: 6}, () => admin(service).post(`${keysPath(acme.id)}/SERVER/regenerate`)),
	);
	t.deepEqual(new Set(answers.map(({status}) => status)), new Set([200]));
	const working = await Promise.all(answers.map(({body}) => withKey(service, body.rawKey).get('/links')));
	t.is(working.filter(({status}) => status === 200).length, 1);
});

test('a rotation waits for no first read that waits for it', async (t) => {
	const own = await startService({}, createFakeClock());
	t.teardown(() => own.stop());
	const {body} = await admin(own).post('/admin/organizations', {name: 'First read'});
	const rotation = await own.services.db.transaction();
	await rotation('organizations').where({id: body.id}).forUpdate().select('id');
	const read = admin(own).get(keysPath(body.id));
	await untilAwaited(rotation);
	await rotation.raw("SET LOCAL lock_timeout = '200ms'");
	await t.notThrowsAsync(
		regenerateApiKey({...own.services, db: rotation}, {organization: body, tier: 'CLIENT', by: systemCaller}).then(() =>
			rotation.commit(),
		),
	);
	t.is((await read).status, 200);
});

test('an unknown tier is 400', async (t) => {
	const acme = await organization(service);
	t.is((await admin(service).post(`${keysPath(acme.id)}/ADMIN/regenerate`)).status, 400);
});

test('a legacy key without its raw text is not shown but still authenticates', async (t) => {
	const acme = await organization(service);
	await service.services.db('api_keys').where({organization_id: acme.id, tier: 'SERVER'}).update({display_key: null});
	t.is((await admin(service).get(keysPath(acme.id))).body.serverKey.displayKey, null);
	t.is((await acme.server.get('/links')).status, 200);
});

test('with OPLINK_KEY_SECRET the raw key is shown although the database does not contain it', async (t) => {
	const own = await startService({OPLINK_KEY_SECRET: 'correct horse battery staple'});
	t.teardown(() => own.stop());
	const acme = await organization(own);
	const rows = await own.services.db('api_keys').where({organization_id: acme.id});
	t.is(rows.length, 2);
	for (const row of rows) {
		t.regex(row.display_key, /^aes256gcm:/);
		t.false(JSON.stringify(row).includes(acme.serverKey) || JSON.stringify(row).includes(acme.clientKey));
	}

	t.is((await admin(own).get(keysPath(acme.id))).body.serverKey.displayKey, acme.serverKey);
	t.is((await acme.server.get('/links')).status, 200);
});

test('with another OPLINK_KEY_SECRET keys work and are not shown, which log, doctor and keys show explain; with the first they are again', async (t) => {
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const lines: string[] = [];
	const start = async (secret: string) => {
		const own = await startService(
			{OPLINK_KEY_SECRET: secret, LOG_LEVEL: 'warn'},
			createFakeClock(new Date()),
			{...database, drop: async () => {}},
			{write: (line) => lines.push(line)},
		);
		const doctor = async () => {
			const {findings} = (await admin(own).get('/admin/doctor')).body;
			return findings.find(({check}: {check: string}) => check === 'keys.readable');
		};
		const shown = () =>
			runCli(['keys', 'show', '--org', acme.orgKey], {env: {OPLINK_URL: own.url, OPLINK_ADMIN_TOKEN: own.adminToken}});
		return {own, doctor, shown};
	};
	const made = await startService({OPLINK_KEY_SECRET: 'the first secret of all'}, undefined, {
		...database,
		drop: async () => {},
	});
	const acme = await organization(made);
	await made.stop();

	const other = await start('quite another secret');
	const withKey = {Authorization: `Bearer ${acme.serverKey}`};
	t.is((await send(other.own.url, 'GET', '/links', withKey)).status, 200);
	const {serverKey} = (await admin(other.own).get(keysPath(acme.id))).body;
	t.like(serverKey, {displayKey: null, displayKeyFault: 'OTHER_SECRET'});
	t.true(lines.some((line) => line.includes('different OPLINK_KEY_SECRET')));
	const finding = await other.doctor();
	t.is(finding.status, 'warn');
	t.regex(finding.message, /^2 of 2: the key was encrypted with a different OPLINK_KEY_SECRET/);
	t.regex((await other.shown()).stdout, /encrypted with another OPLINK_KEY_SECRET/);
	await other.own.stop();

	const again = await start('the first secret of all');
	t.is((await admin(again.own).get(keysPath(acme.id))).body.serverKey.displayKey, acme.serverKey);
	t.is((await again.doctor()).status, 'ok');
	t.true((await again.shown()).stdout.includes(acme.serverKey));
	await again.own.stop();
});

test('the last use of a key is recorded', async (t) => {
	const own = await startService({}, createFakeClock());
	t.teardown(() => own.stop());
	const acme = await organization(own);
	await acme.server.get('/links');
	await own.services.background.settle();
	t.is((await admin(own).get(keysPath(acme.id))).body.serverKey.lastUsedAt, own.clock.now().toISOString());
});
