import test from 'ava';
import {regenerateApiKey} from '../../../src/accounts/api-keys/rotation.ts';
import {systemCaller} from '../../../src/accounts/audit/audit-log.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {organization} from '../../helpers/builders.ts';
import {admin, withKey} from '../../helpers/callers.ts';
import {databaseOf, untilAwaited} from '../../helpers/database.ts';
import {createFakeClock, serviceOf, startService} from '../../helpers/service.ts';

const service = serviceOf(test);
/** One whose clock moves and that is looked into. */
const inside = serviceOf(test, {}, createFakeClock());

const keysPath = (id: string) => `/admin/organizations/${id}/api-keys`;

test('the first read provisions both tiers, whatever the plan', async (t) => {
	const operator = admin(inside);
	const {id} = (await operator.post('/admin/organizations', {name: 'First read', plan: 'STARTER'})).body;
	const {status, body} = await operator.get(keysPath(id));
	t.is(status, 200);
	t.is(body.locked, false);
	t.regex(body.sdkKey.displayKey, /^opl_sdk_[A-Za-z0-9_-]{43}$/);
	t.regex(body.serverKey.displayKey, /^opl_api_[A-Za-z0-9_-]{43}$/);
	t.deepEqual(body.serverKey, {
		id: body.serverKey.id,
		tier: 'SERVER',
		prefix: body.serverKey.displayKey.slice(0, 16),
		displayKey: body.serverKey.displayKey,
		createdAt: inside.clock.now().toISOString(),
		expiresAt: null,
		lastUsedAt: null,
	});
	t.deepEqual((await operator.get(keysPath(id))).body, body);
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
	const {body} = await admin(service).post(`${keysPath(acme.id)}/SERVER/regenerate`);
	t.like(body, {tier: 'SERVER', rawKey: body.displayKey});
	t.like(await acme.server.get('/links'), {status: 401, body: {message: 'Invalid API key'}});
	t.is((await withKey(service, body.rawKey).get('/links')).status, 200);
	const {data} = (await admin(service).get(`/admin/organizations/${acme.id}/audit-log`)).body;
	const audit = data.find(({action}: {action: string}) => action === 'REGENERATE');
	t.like(audit, {entityType: 'ApiKey', entityId: body.id});
	t.false(JSON.stringify(audit).includes(body.rawKey));
});

// Before the others, as it moves the clock.
test.serial('a regenerated CLIENT key lets the old one live for 24 hours', async (t) => {
	const acme = await organization(inside);
	const {body} = await admin(inside).post(`${keysPath(acme.id)}/CLIENT/regenerate`);
	const messageTo = async (key: string) => (await withKey(inside, key).get('/links')).body.message;
	const tierRefused = `API key tier 'CLIENT' is not permitted on this endpoint (requires 'SERVER')`;
	t.is(await messageTo(acme.clientKey), tierRefused);
	inside.clock.advance(24 * 3600 - 1);
	t.is(await messageTo(acme.clientKey), tierRefused);
	inside.clock.advance(1);
	t.is(await messageTo(acme.clientKey), 'Invalid API key');
	t.is(await messageTo(body.rawKey), tierRefused);
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
	const {body} = await admin(inside).post('/admin/organizations', {name: 'Rotated first'});
	const rotation = await inside.services.db.transaction();
	await rotation('organizations').where({id: body.id}).forUpdate().select('id');
	const read = admin(inside).get(keysPath(body.id));
	await untilAwaited(rotation);
	await rotation.raw("SET LOCAL lock_timeout = '200ms'");
	const how = {organization: body, tier: 'CLIENT', by: systemCaller} as const;
	await t.notThrowsAsync(regenerateApiKey({...inside.services, db: rotation}, how));
	await rotation.commit();
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

test('with OPLINK_KEY_SECRET keys are shown although the database has none; with another they work, and all say why not', async (t) => {
	const database = await databaseOf(t);
	const lines: string[] = [];
	const start = async (secret: string) => {
		const own = await startService(
			{OPLINK_KEY_SECRET: secret, LOG_LEVEL: 'warn'},
			createFakeClock(),
			{...database, drop: async () => {}},
			{write: (line) => lines.push(line)},
		);
		const keys = async (id: string) => (await admin(own).get(keysPath(id))).body;
		const doctor = async () => {
			const {findings} = (await admin(own).get('/admin/doctor')).body;
			return findings.find(({check}: {check: string}) => check === 'keys.readable');
		};
		const shown = async (org: string) => {
			const env = {OPLINK_URL: own.url, OPLINK_ADMIN_TOKEN: own.adminToken};
			return (await runCli(['keys', 'show', '--org', org], {env})).stdout;
		};
		return {own, keys, doctor, shown};
	};

	const first = await start('correct horse battery staple');
	const acme = await organization(first.own);
	const rows = await first.own.services.db('api_keys').where({organization_id: acme.id});
	t.is(rows.length, 2);
	for (const row of rows) {
		t.regex(row.display_key, /^aes256gcm:/);
		t.false(JSON.stringify(row).includes(acme.serverKey) || JSON.stringify(row).includes(acme.clientKey));
	}

	t.is((await acme.server.get('/links')).status, 200);
	await first.own.stop();

	const other = await start('quite another secret');
	t.is((await withKey(other.own, acme.serverKey).get('/links')).status, 200);
	t.like((await other.keys(acme.id)).serverKey, {displayKey: null, displayKeyFault: 'OTHER_SECRET'});
	t.true(lines.some((line) => line.includes('different OPLINK_KEY_SECRET')));
	const finding = await other.doctor();
	t.is(finding.status, 'warn');
	t.regex(finding.message, /^2 of 2: the key was encrypted with a different OPLINK_KEY_SECRET/);
	t.regex(await other.shown(acme.orgKey), /encrypted with another OPLINK_KEY_SECRET/);
	await other.own.stop();

	const again = await start('correct horse battery staple');
	t.is((await again.keys(acme.id)).serverKey.displayKey, acme.serverKey);
	t.is((await again.doctor()).status, 'ok');
	t.true((await again.shown(acme.orgKey)).includes(acme.serverKey));
	await again.own.stop();
});

test('the last use of a key is recorded', async (t) => {
	const acme = await organization(inside);
	await acme.server.get('/links');
	await inside.services.background.settle();
	const {serverKey} = (await admin(inside).get(keysPath(acme.id))).body;
	t.is(serverKey.lastUsedAt, inside.clock.now().toISOString());
});
