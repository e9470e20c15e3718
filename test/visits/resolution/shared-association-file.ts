import test from 'ava';
import {APPLE_LIMIT_BYTES} from '../../../src/links/app-config/association-files.ts';
import {exampleAppConfig, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {startService, type TestService} from '../../helpers/service.ts';

const HOST = {Host: 'go.oplink.test'};
const APPLE = '/.well-known/apple-app-site-association';
const ANDROID = '/.well-known/assetlinks.json';

/** A service of its own: the file is the whole installation's. */
const start = () => startService({PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'});

/** Bytes of an entry beside its bundle id: `{"appIDs":["ABCDE12345."],"components":[{"/":"/AAAA/*"}]}` and a comma. */
const ENTRY = 58;
const EMPTY = '{"applinks":{"details":[]}}'.length;
const LONGEST = 155;

const iosWith = (length: number) => ({teamId: 'ABCDE12345', bundleId: `com.${'x'.repeat(length - 4)}`});

/** Organizations with iOS apps, made at once, that take so many bytes of the file together. */
const fill = async (service: TestService, bytes: number, plan = 'GROWTH') => {
	const whole = Math.floor(bytes / (ENTRY + LONGEST)) - 1;
	const rest = bytes - whole * (ENTRY + LONGEST);
	const lengths = [
		...Array.from({length: whole}, () => LONGEST),
		Math.ceil(rest / 2) - ENTRY,
		Math.floor(rest / 2) - ENTRY,
	];
	const {clock, db} = service.services;
	await db.raw(
		`WITH made AS (
			INSERT INTO organizations (id, org_key, name, plan, created_at, updated_at)
			SELECT gen_random_uuid(), upper(left(:plan, 1)) || lpad(to_hex(n), 3, '0'), :plan || n, :plan, :now, :now
			FROM generate_series(1, :count) AS n RETURNING id, org_key
		)
		INSERT INTO app_configs (organization_id, ios, android, probabilistic_matching, minimum_confidence, created_at, updated_at)
		SELECT id, json_build_object('teamId', 'ABCDE12345', 'bundleId', 'com.' || repeat('x', length - 4)), '[]', true, 'low', :now, :now
		FROM (SELECT id, row_number() OVER (ORDER BY org_key) AS n FROM made) AS numbered
		JOIN unnest(CAST(:lengths AS int[])) WITH ORDINALITY AS app (length, place) ON place = n`,
		{count: lengths.length, lengths, plan, now: clock.now()},
	);
	// They have their places once the file is made.
	await fileOf(service);
	return lengths.length;
};

const fileOf = async (service: TestService, path = APPLE) => {
	const {status, text, body} = await anonymous(service).get(path, HOST);
	return {status, bytes: Buffer.byteLength(text), body};
};
const keysOf = async (service: TestService): Promise<string[]> =>
	(await fileOf(service)).body.applinks.details.map(({components}: {components: Array<{'/': string}>}) =>
		components[0]?.['/'].slice(1, 5),
	);
const configure = (service: TestService, {id}: {id: string}, ios: object) =>
	admin(service).put(`/admin/organizations/${id}/app-config`, {ios});

test('an organization is in the files once it has a plan', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	const acme = await organization(service, {plan: null});
	t.is((await fileOf(service)).status, 404);
	t.is((await fileOf(service, ANDROID)).status, 404);
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: 'growth'});
	t.deepEqual(await keysOf(service), [acme.orgKey]);
	t.is((await fileOf(service, ANDROID)).body[0].target.package_name, exampleAppConfig.android[0]?.packageName);
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: null});
	t.is((await fileOf(service)).status, 404);
});

test('of two that take the last place at once one is refused with 409, and all others stay served', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	const count = await fill(service, APPLE_LIMIT_BYTES - EMPTY - ENTRY - 40);
	const pair = await Promise.all([1, 2].map(() => organization(service, {appConfig: null})));
	const answers = await Promise.all(pair.map((one) => configure(service, one, iosWith(40))));
	t.deepEqual(answers.map(({status}) => status).toSorted(), [200, 409]);
	const refused = answers.find(({status}) => status === 409);
	t.regex(refused?.body.message, /custom domain/);
	const {bytes, body} = await fileOf(service);
	t.true(bytes <= APPLE_LIMIT_BYTES && bytes > APPLE_LIMIT_BYTES - 10, `${bytes}`);
	t.is(body.applinks.details.length, count + 1);
	const late = pair[answers.findIndex(({status}) => status === 409)];
	t.is((await admin(service).get(`/admin/organizations/${late?.id}/app-config`)).status, 404);
	t.is(
		(await admin(service).put(`/admin/organizations/${late?.id}/app-config`, {android: exampleAppConfig.android}))
			.status,
		200,
	);
});

test('an app keeps its place, but cannot grow beyond the limit', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	const acme = await organization(service, {appConfig: {ios: iosWith(40)}});
	await fill(service, APPLE_LIMIT_BYTES - EMPTY - ENTRY - 40);
	t.true((await keysOf(service)).includes(acme.orgKey));
	t.is((await configure(service, acme, iosWith(41))).status, 409);
	t.is((await configure(service, acme, iosWith(39))).status, 200);
	t.is((await configure(service, acme, iosWith(40))).status, 200);
	t.true((await keysOf(service)).includes(acme.orgKey));
	t.true((await fileOf(service)).bytes <= APPLE_LIMIT_BYTES);
});

test('an organization with its own domain needs no place, because its own file has its app', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	await fill(service, APPLE_LIMIT_BYTES - EMPTY);
	const acme = await organization(service, {appConfig: null});
	t.is((await configure(service, acme, iosWith(40))).status, 409);
	const base = `/admin/organizations/${acme.id}/domains`;
	const {body: domain} = await admin(service).post(base, {hostname: 'links.acme.test'});
	t.is((await configure(service, acme, iosWith(40))).status, 409);
	t.is((await admin(service).post(`${base}/${domain.id}/approve`)).status, 200);
	t.is((await configure(service, acme, iosWith(40))).status, 200);
	t.false((await keysOf(service)).includes(acme.orgKey));
	const own = await anonymous(service).get(APPLE, {Host: 'links.acme.test'});
	t.deepEqual(own.body.applinks.details[0].components, [{'/': '/*'}]);
});

test('a free place goes to a waiting app, and a returning one waits', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	const first = await organization(service, {appConfig: {ios: iosWith(40)}});
	await fill(service, APPLE_LIMIT_BYTES - EMPTY - ENTRY - 40);
	const second = await organization(service, {plan: null, appConfig: {ios: iosWith(40)}});
	await admin(service).put(`/admin/organizations/${second.id}/plan`, {plan: 'GROWTH'});
	t.false((await keysOf(service)).includes(second.orgKey));
	await admin(service).post(`/admin/organizations/${first.id}/suspend`);
	t.true((await keysOf(service)).includes(second.orgKey));
	await admin(service).post(`/admin/organizations/${first.id}/activate`);
	const keys = await keysOf(service);
	t.true(keys.includes(second.orgKey) && !keys.includes(first.orgKey));
	await admin(service).put(`/admin/organizations/${second.id}/plan`, {plan: null});
	t.true((await keysOf(service)).includes(first.orgKey));
});

test('organizations on the free plan may fill half of the file, and paying ones the rest', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	await fill(service, APPLE_LIMIT_BYTES / 2 - EMPTY, 'STARTER');
	const free = await organization(service, {plan: 'STARTER', appConfig: null});
	t.is((await configure(service, free, iosWith(20))).status, 409);
	const paying = await organization(service, {appConfig: {ios: iosWith(LONGEST)}});
	t.true((await keysOf(service)).includes(paying.orgKey));
});

test('doctor and metrics report the file’s fill level, and doctor warns from 80 %', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	const room = async () =>
		(await admin(service).get('/admin/doctor')).body.findings.find(
			({check}: {check: string}) => check === 'association.room',
		);
	const gauges = async () => (await admin(service).get('/metrics')).text;
	t.is((await room()).status, 'ok');
	await fill(service, Math.ceil(APPLE_LIMIT_BYTES * 0.8) - EMPTY + 1);
	const {status, message} = await room();
	t.is(status, 'warn');
	t.regex(message, /^104,85\d of 131,072 bytes with 4\d\d iOS app/);
	t.regex(await gauges(), /^oplink_association_file_bytes\{file="apple"\} 10485\d$/m);
	t.regex(await gauges(), /^oplink_association_file_limit_bytes 131072$/m);
	await organization(service, {plan: null, appConfig: {ios: iosWith(40)}});
	t.regex(await gauges(), /^oplink_association_file_waiting 0$/m);
});

test('a file is made once per change, and the limit of resolution counts', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	await organization(service);
	await service.services.changes.settled();
	await service.services.background.settle();
	const statements: string[] = [];
	const note = ({sql}: {sql: string}) => statements.push(sql);
	const visitor = anonymous(service);
	t.is((await visitor.get(APPLE, HOST)).status, 200);
	service.services.db.on('query', note);
	const statuses = await Promise.all(Array.from({length: 500}, async () => (await visitor.get(APPLE, HOST)).status));
	service.services.db.off('query', note);
	t.deepEqual(
		statements.filter((sql) => sql.includes('app_configs')),
		[],
	);
	t.is(statuses.filter((status) => status === 200).length, 499);
	t.is(statuses.filter((status) => status === 429).length, 1);
});
