import test from 'ava';
import {APPLE_LIMIT_BYTES} from '../../../src/links/app-config/association-files.ts';
import {exampleAppConfig, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, anonymous, type Caller} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const HOST = {Host: 'go.oplink.test'};
const APPLE = '/.well-known/apple-app-site-association';
const ANDROID = '/.well-known/assetlinks.json';

const service = serviceOf(test, {PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'});

/** Each test begins so, and they run one after another: the file is the whole installation's. */
const removeAllApps = async (): Promise<void> => {
	await service.services.db('app_configs').delete();
	await service.services.changes.settled();
};

/** Bytes of an entry beside its bundle id: `{"appIDs":["ABCDE12345."],"components":[{"/":"/AAAA/*"}]}` and a comma. */
const ENTRY = 58;
const EMPTY = '{"applinks":{"details":[]}}'.length;
const MAX_LENGTH = 155;

const iosWith = (length: number) => ({teamId: 'ABCDE12345', bundleId: `com.${'x'.repeat(length - 4)}`});

/** The first letter of the keys of the organizations that `fill` makes. */
let letter = 'A';

/** Organizations with iOS apps, made at once, that take so many bytes of the file together. */
const fill = async (bytes: number, plan = 'GROWTH') => {
	const whole = Math.floor(bytes / (ENTRY + MAX_LENGTH)) - 1;
	const rest = bytes - whole * (ENTRY + MAX_LENGTH);
	const last = [Math.ceil(rest / 2) - ENTRY, Math.floor(rest / 2) - ENTRY];
	const lengths = [...Array.from({length: whole}, () => MAX_LENGTH), ...last];
	const {clock, db} = service.services;
	letter = String.fromCharCode(letter.charCodeAt(0) + 1);
	await db.raw(
		`WITH made AS (
			INSERT INTO organizations (id, org_key, name, plan, created_at, updated_at)
			SELECT gen_random_uuid(), key, key, :plan, :now, :now
			FROM (SELECT CAST(:letter AS text) || lpad(to_hex(n), 3, '0') AS key FROM generate_series(1, 2 * :count) AS n) AS keys
			WHERE key NOT IN (SELECT org_key FROM organizations) LIMIT :count RETURNING id, org_key
		)
		INSERT INTO app_configs (organization_id, ios, android, probabilistic_matching, minimum_confidence, created_at, updated_at)
		SELECT id, json_build_object('teamId', 'ABCDE12345', 'bundleId', 'com.' || repeat('x', length - 4)), '[]', true, 'low', :now, :now
		FROM (SELECT id, row_number() OVER (ORDER BY org_key) AS n FROM made) AS numbered
		JOIN unnest(CAST(:lengths AS int[])) WITH ORDINALITY AS app (length, place) ON place = n`,
		{count: lengths.length, lengths, letter, plan, now: clock.now()},
	);
	await service.services.changes.settled();
	// They have their places once the file is made.
	await fileOf();
	return lengths.length;
};

const fileOf = async (path = APPLE) => {
	const {status, headers, text, body} = await anonymous(service).get(path, HOST);
	return {status, headers, bytes: Buffer.byteLength(text), body};
};
const keysOf = async (): Promise<string[]> =>
	(await fileOf()).body.applinks.details.map(({components}: {components: Array<{'/': string}>}) =>
		components[0]?.['/'].slice(1, 5),
	);
const configure = ({operator}: TestOrganization, ios: object) => operator.put('/app-config', {ios});
const setPlan = ({operator}: TestOrganization, plan: string | null) => operator.put('/plan', {plan});
const suspend = ({operator}: TestOrganization) => operator.post('/suspend');

test.serial('the files list active organizations with a plan, each under its own key', async (t) => {
	await removeAllApps();
	const acme = await organization(service, {plan: null});
	t.deepEqual([(await fileOf()).status, (await fileOf(ANDROID)).status], [404, 404]);
	await setPlan(acme, 'growth');
	t.deepEqual(await keysOf(), [acme.orgKey]);
	const ofGlobex = {teamId: 'ZZZZZ99999', bundleId: 'com.globex.app'};
	const globex = await organization(service, {appConfig: {...exampleAppConfig, ios: ofGlobex}});
	await organization(service, {appConfig: {ios: {bundleId: 'com.incomplete.app'}}});
	const apple = await fileOf();
	const served = {status: 200, headers: {'cache-control': 'public, max-age=3600'}};
	t.like(apple, served);
	t.regex(String(apple.headers['content-type']), /^application\/json/);
	const entries = [
		{appIDs: ['ABCDE12345.com.acme.shop.ios'], components: [{'/': `/${acme.orgKey}/*`}]},
		{appIDs: ['ZZZZZ99999.com.globex.app'], components: [{'/': `/${globex.orgKey}/*`}]},
	];
	t.deepEqual(apple.body, {applinks: {details: acme.orgKey < globex.orgKey ? entries : entries.toReversed()}});
	const android = await fileOf(ANDROID);
	t.like(android, served);
	t.deepEqual(android.body, [
		{
			relation: ['delegate_permission/common.handle_all_urls'],
			target: {
				namespace: 'android_app',
				package_name: 'com.acme.shop',
				sha256_cert_fingerprints: exampleAppConfig.android[0]?.sha256Fingerprints,
			},
		},
	]);
	await suspend(globex);
	t.deepEqual(await keysOf(), [acme.orgKey]);
	await setPlan(acme, null);
	t.is((await fileOf()).status, 404);
});

test.serial('of two that take the last place at once one is refused with 409, and all others stay', async (t) => {
	await removeAllApps();
	const count = await fill(APPLE_LIMIT_BYTES - EMPTY - ENTRY - 40);
	const pair = await Promise.all([1, 2].map(() => organization(service, {appConfig: null})));
	const answers = await Promise.all(pair.map((one) => configure(one, iosWith(40))));
	t.deepEqual(answers.map(({status}) => status).toSorted(), [200, 409]);
	const refused = answers.findIndex(({status}) => status === 409);
	t.regex(answers[refused]?.body.message, /custom domain/);
	const {bytes, body} = await fileOf();
	t.true(bytes <= APPLE_LIMIT_BYTES && bytes > APPLE_LIMIT_BYTES - 10, `${bytes}`);
	t.is(body.applinks.details.length, count + 1);
	const operator = pair[refused]?.operator as Caller;
	t.is((await operator.get('/app-config')).status, 404);
	t.is((await operator.put('/app-config', {android: exampleAppConfig.android})).status, 200);
});

test.serial('an app keeps its place, but cannot grow beyond the limit', async (t) => {
	await removeAllApps();
	const acme = await organization(service, {appConfig: {ios: iosWith(40)}});
	await fill(APPLE_LIMIT_BYTES - EMPTY - ENTRY - 40);
	t.true((await keysOf()).includes(acme.orgKey));
	t.is((await configure(acme, iosWith(41))).status, 409);
	t.is((await configure(acme, iosWith(39))).status, 200);
	t.is((await configure(acme, iosWith(40))).status, 200);
	t.true((await keysOf()).includes(acme.orgKey));
	t.true((await fileOf()).bytes <= APPLE_LIMIT_BYTES);
});

test.serial('an organization with its own domain needs no place, because its own file has its app', async (t) => {
	await removeAllApps();
	await fill(APPLE_LIMIT_BYTES - EMPTY);
	const acme = await organization(service, {appConfig: null});
	t.is((await configure(acme, iosWith(40))).status, 409);
	const {id} = (await acme.operator.post('/domains', {hostname: 'links.acme.test'})).body;
	t.is((await configure(acme, iosWith(40))).status, 409);
	t.is((await acme.operator.post(`/domains/${id}/approve`)).status, 200);
	t.is((await configure(acme, iosWith(40))).status, 200);
	t.false((await keysOf()).includes(acme.orgKey));
	const own = await anonymous(service).get(APPLE, {Host: 'links.acme.test'});
	t.deepEqual(own.body.applinks.details[0].components, [{'/': '/*'}]);
});

test.serial('a free place goes to a waiting app, and a returning one waits', async (t) => {
	await removeAllApps();
	const first = await organization(service, {appConfig: {ios: iosWith(40)}});
	await fill(APPLE_LIMIT_BYTES - EMPTY - ENTRY - 40);
	const second = await organization(service, {plan: null, appConfig: {ios: iosWith(40)}});
	await setPlan(second, 'GROWTH');
	t.false((await keysOf()).includes(second.orgKey));
	await suspend(first);
	t.true((await keysOf()).includes(second.orgKey));
	await first.operator.post('/activate');
	const keys = await keysOf();
	t.true(keys.includes(second.orgKey) && !keys.includes(first.orgKey));
	await setPlan(second, null);
	t.true((await keysOf()).includes(first.orgKey));
});

test.serial('organizations on the free plan may fill half of the file, and paying ones the rest', async (t) => {
	await removeAllApps();
	await fill(APPLE_LIMIT_BYTES / 2 - EMPTY, 'STARTER');
	const free = await organization(service, {plan: 'STARTER', appConfig: null});
	t.is((await configure(free, iosWith(20))).status, 409);
	const paying = await organization(service, {appConfig: {ios: iosWith(MAX_LENGTH)}});
	t.true((await keysOf()).includes(paying.orgKey));
});

test.serial('doctor and metrics report the file’s fill level, and doctor warns from 80 %', async (t) => {
	await removeAllApps();
	const room = async () => {
		const {findings} = (await admin(service).get('/admin/doctor')).body;
		return findings.find(({check}: {check: string}) => check === 'association.room');
	};
	const gauges = async () => (await admin(service).get('/metrics')).text;
	t.is((await room()).status, 'ok');
	await fill(Math.ceil(APPLE_LIMIT_BYTES * 0.8) - EMPTY + 1);
	const {status, message} = await room();
	t.is(status, 'warn');
	t.regex(message, /^104,85\d of 131,072 bytes with 4\d\d iOS app/);
	t.regex(await gauges(), /^oplink_association_file_bytes\{file="apple"\} 10485\d$/m);
	t.regex(await gauges(), /^oplink_association_file_limit_bytes 131072$/m);
	await organization(service, {plan: null, appConfig: {ios: iosWith(40)}});
	t.regex(await gauges(), /^oplink_association_file_waiting 0$/m);
});

test.serial('a file is made once per change, and the limit of resolution counts', async (t) => {
	await removeAllApps();
	await organization(service);
	await service.services.background.settle();
	const statements: string[] = [];
	const note = ({sql}: {sql: string}) => statements.push(sql);
	const visitor = anonymous(service);
	t.is((await visitor.get(APPLE, HOST)).status, 200);
	service.services.db.on('query', note);
	const statuses = await Promise.all(Array.from({length: 500}, async () => (await visitor.get(APPLE, HOST)).status));
	service.services.db.off('query', note);
	t.false(statements.some((sql) => sql.includes('app_configs')));
	t.is(statuses.filter((status) => status === 200).length, 499);
	t.is(statuses.filter((status) => status === 429).length, 1);
});
