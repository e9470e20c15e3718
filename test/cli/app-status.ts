import test, {type ExecutionContext} from 'ava';
import {SDK_VERSION} from '../../src/client/version.ts';
import {countFirstOpens, readCountedUntil, readCounts} from '../../src/operations/app-status/app-status-store.ts';
import {DAY_MS} from '../../src/platform/clock.ts';
import {daysBefore} from '../../src/platform/config/policies.ts';
import {exampleAppConfig, link, organization, type TestOrganization} from '../helpers/builders.ts';
import {admin, anonymous, withKey} from '../helpers/callers.ts';
import {iPhoneApp, match, network, visit} from '../visits/matches/_phones.ts';
import {widest} from './_match.ts';
import {ends} from './_run-cli.ts';
import {serviceCli} from './_service-cli.ts';

const {cli, json, onScreen, service} = serviceCli(test);

const SDK = `oplink-js/${SDK_VERSION}`;
const iPhone = {...iPhoneApp, appVersion: '4.2.0', sdkVersion: SDK};
const pixel = {platform: 'Android', osVersion: '15', deviceModel: 'Pixel 8', appVersion: '4.2.0', sdkVersion: SDK};
const iosOnly = {ios: exampleAppConfig.ios, android: []};
const androidOnly = {android: exampleAppConfig.android};

let devices = 0;
const newDevice = (): string => {
	devices += 1;
	return `device-status-${devices}`;
};

const session = async (
	{client}: TestOrganization,
	fields: object = iPhone,
	deviceId = newDevice(),
): Promise<string> => {
	await client.post('/sdk/session', {deviceId, ...fields});
	return deviceId;
};

/** A first open with the CLIENT key. */
const firstOpen = ({clientKey}: TestOrganization, fields: object, headers: Record<string, string> = {}) =>
	anonymous(service, network()(1)).post('/match', fields, {'X-API-Key': clientKey, ...headers});

/** A session and then a first open that has the token of a new click. */
const goodStart = async (acme: TestOrganization, phone: object, {field = 'clipboardToken', token = true} = {}) => {
	const deviceId = await session(acme, phone);
	const sale = await link(acme);
	const clicked = token ? (await visit(service, sale, network()(1))).token : undefined;
	const {appVersion: _, sdkVersion: __, ...signals} = phone as Record<string, string>;
	await firstOpen(acme, {...signals, deviceId, ...(clicked && {[field]: clicked})});
	return deviceId;
};

const fetchFiles = async (...names: string[]) => {
	for (const name of names) {
		await anonymous(service).get(`/.well-known/${name}`);
	}
};
const [APPLE, ANDROID] = ['apple-app-site-association', 'assetlinks.json'] as const;

const statusOf = async ({orgKey}: TestOrganization, query = '') => {
	const {status, body, text} = await admin(service).get(`/admin/organizations/${orgKey}/app-status${query}`);
	if (status !== 200) {
		throw new Error(`${status}: ${text}`);
	}

	return body;
};

type Found = {
	check: string;
	status: string;
	message: string;
	next: string | null;
	platform: string | null;
	count: number;
};

/** The finding that `app status` has by this name; the CLI prints its sentence and its next step. */
const named = async (t: ExecutionContext, acme: TestOrganization, check: string, exitCode = 0): Promise<Found> => {
	const {findings} = await statusOf(acme);
	const found = (findings as Found[]).find((one) => one.check === check);
	t.truthy(found, `${check} is not among ${findings.map((one: Found) => `${one.check}: ${one.message}`).join('; ')}`);
	const {stdout} = ends(t, await cli(`app status ${acme.orgKey}`), exitCode);
	const text = stdout.replaceAll(/\s+/g, ' ');
	t.true(text.includes(found?.message ?? '?'), stdout);
	t.true(text.includes(`Next: ${found?.next}`), stdout);
	return found as Found;
};

test('app status names an app that sends nothing, with exit 1, and an organization without an app', async (t) => {
	const acme = await organization(service);
	for (const platform of ['ios', 'android']) {
		const {findings} = await statusOf(acme);
		const found = findings.find((one: Found) => one.platform === platform);
		t.like(found, {check: 'app.nothing_seen', status: 'fail', count: 0});
	}

	t.regex(
		(await named(t, acme, 'app.nothing_seen', 1)).message,
		/^iOS: no request of the app since 2026-03-03 \d\d:\d\d UTC$/,
	);
	const bare = await organization(service, {appConfig: null});
	t.like(await named(t, bare, 'app.not_configured', 1), {status: 'fail', platform: null});
	t.deepEqual((await statusOf(bare)).platforms, []);
});

test('app status names sessions without a first open', async (t) => {
	const acme = await organization(service, {appConfig: iosOnly});
	await session(acme);
	await session(acme);
	const {message} = await named(t, acme, 'app.no_first_open');
	t.is(message, 'iOS: 2 sessions, and no first open: the app does not call /match');
});

test('app status names first opens without a clipboard token or an install referrer', async (t) => {
	for (const [appConfig, phone, check, name] of [
		[iosOnly, iPhone, 'app.no_token', 'iOS: 1 first open, none with a clipboard token: the app does not pass it'],
		[
			androidOnly,
			pixel,
			'app.no_referrer',
			'Android: 1 first open, none with an install referrer: the app does not pass it',
		],
	] as const) {
		const acme = await organization(service, {appConfig});
		await goodStart(acme, phone, {token: false});
		const {message, count} = await named(t, acme, check);
		t.is(message, name);
		t.is(count, 1);
	}
});

test('app status names the version whose first opens have no token', async (t) => {
	const acme = await organization(service, {appConfig: iosOnly});
	await goodStart(acme, iPhone);
	await goodStart(acme, {...iPhone, appVersion: '5.0.0'}, {token: false});
	const {message} = await named(t, acme, 'app.token_missing_in_version');
	t.is(message, 'iOS: version 5.0.0: 1 first open, none with a clipboard token; other versions pass it');
	const [ios] = (await statusOf(acme)).platforms;
	t.like(ios.firstOpens, {count: 2, withToken: 1, misses: 1});
	t.deepEqual(
		ios.firstOpens.byAppVersion.toSorted((a: {version: string}, b: {version: string}) =>
			a.version > b.version ? 1 : -1,
		),
		[
			{version: '4.2.0', count: 1, withToken: 1},
			{version: '5.0.0', count: 1, withToken: 0},
		],
	);
});

test('app status names the SERVER key in an app, at the SDK and at /match, and the CLIENT key in a backend', async (t) => {
	const acme = await organization(service);
	const agent = {'User-Agent': 'Acme/4.2 CFNetwork/1410 Darwin/22.6.0'};
	await withKey(service, acme.serverKey).post('/sdk/session', {deviceId: newDevice()}, agent);
	await anonymous(service, network()(1)).post('/match', {}, {'X-API-Key': acme.serverKey, ...agent});
	const found = await named(t, acme, 'app.wrong_key', 1);
	t.like(found, {platform: 'ios', count: 2});
	t.is(found.message, 'iOS: 2 requests with the SERVER key where an app needs the CLIENT key');
	const backend = await organization(service);
	await withKey(service, backend.clientKey).get('/links');
	t.regex((await named(t, backend, 'app.wrong_key', 1)).message, /^App: 1 request with the CLIENT key where a backend/);
});

test('app status names the key of another organization, by click and by link, to both and without a name', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const sale = await link(acme);
	const {token} = await visit(service, sale, network()(1));
	await firstOpen(other, {clipboardToken: token, platform: 'iOS', deviceId: newDevice()});
	const deviceId = await session(other, pixel);
	const refused = await other.client.post('/sdk/events', {deviceId, eventName: 'buy', linkId: sale.id});
	t.is(refused.status, 404);
	for (const [whose, words] of [
		[acme, 'with a link of this organization and the CLIENT key of another one'],
		[other, 'with the CLIENT key of this organization and a link of another one'],
	] as const) {
		const found = await named(t, whose, 'app.foreign_key', whose === acme ? 1 : 0);
		t.true(found.message.endsWith(words), found.message);
		t.false(JSON.stringify(await statusOf(whose)).includes(whose === acme ? other.orgKey : acme.orgKey));
	}
});

test('app status names data of a link that does not exist, by path and on the organization’s own codes', async (t) => {
	const acme = await organization(service);
	const sale = await link(acme);
	const deviceId = await session(acme, pixel);
	const visitor = anonymous(service);
	t.is((await visitor.get(`/${acme.orgKey}/${sale.shortCode}/data?deviceId=${deviceId}`)).status, 200);
	t.is((await visitor.get(`/${acme.orgKey}/sprng/data`, {'User-Agent': 'okhttp/4.12.0'})).status, 404);
	const found = await named(t, acme, 'app.data_not_found', 1);
	t.like(found, {platform: 'android', count: 1});
	const android = (await statusOf(acme)).platforms[1];
	t.like(android.data, {count: 1, notFound: 1});
});

test('app status names events before a session, and counts those after it', async (t) => {
	const acme = await organization(service, {appConfig: androidOnly});
	const deviceId = newDevice();
	t.is((await acme.client.post('/sdk/events', {deviceId, eventName: 'buy'})).status, 404);
	await session(acme, pixel, deviceId);
	t.is((await acme.client.post('/sdk/events', {deviceId, eventName: 'buy'})).status, 200);
	t.like(await named(t, acme, 'app.event_before_session'), {count: 1});
	const {platforms, unknown} = await statusOf(acme);
	t.like(platforms[0].events, {count: 1, unknownDevice: 0});
	t.like(unknown, {events: 0, unknownDevice: 1});
});

test('app status names an old client, and a session without the version of one', async (t) => {
	const acme = await organization(service, {appConfig: iosOnly});
	await session(acme, {...iPhone, sdkVersion: 'oplink-swift/0.0.9'});
	t.regex((await named(t, acme, 'app.old_sdk')).message, /^iOS: 1 session of oplink-swift\/0\.0\.9, which is older/);
	await session(acme, {...iPhone, sdkVersion: null});
	await session(acme, {...iPhone, sdkVersion: 'their-own/0.0.1'});
	t.like(await named(t, acme, 'app.no_sdk_version'), {count: 1});
	const {findings} = await statusOf(acme);
	t.is(findings.filter((one: Found) => one.check === 'app.old_sdk').length, 1);
});

test('app status names guesses that are off, once a first open has no token', async (t) => {
	const acme = await organization(service, {appConfig: {...iosOnly, probabilisticMatching: false}});
	await goodStart(acme, iPhone);
	t.false((await statusOf(acme)).findings.some((one: Found) => one.check === 'app.guesses_off'));
	await visit(service, await link(acme), '10.77.0.1');
	await anonymous(service, '10.77.0.1').post('/match', iPhoneApp, {'X-API-Key': acme.clientKey});
	t.like(await named(t, acme, 'app.guesses_off'), {count: 1});
});

test('app status names the reason of most misses, in the words of match list', async (t) => {
	const acme = await organization(service, {appConfig: iosOnly});
	for (let open = 0; open < 10; open += 1) {
		await firstOpen(acme, {...iPhoneApp, deviceId: newDevice()});
	}

	t.is((await named(t, acme, 'app.miss_reason')).message, 'iOS: 10 of 10 misses for the same reason, no click');
	t.regex((await cli(`match list ${acme.orgKey}`)).stdout, /no click/);
});

test.serial('app status names the association file that nobody fetched since the last change', async (t) => {
	const acme = await organization(service);
	service.clock.advance(60);
	await acme.operator.put('/app-config', exampleAppConfig);
	t.regex(
		(await named(t, acme, 'app.association_unfetched', 1)).message,
		/nobody has fetched the association file since/,
	);
	service.clock.advance(60);
	await fetchFiles(APPLE);
	const found = await named(t, acme, 'app.association_one_platform', 1);
	t.like(found, {platform: 'android'});
	const seen = found.message;
	t.is(seen, 'Android: only the association file of iOS was fetched since the last change of the app configuration');
	await fetchFiles(ANDROID);
	const {findings, association} = await statusOf(acme);
	t.false(findings.some((one: Found) => one.check.startsWith('app.association')));
	t.is(association.ios.lastFetchedAt, association.android.lastFetchedAt);
});

test('app status names the limit that refused requests', async (t) => {
	const acme = await organization(service);
	const [deviceId] = [newDevice()];
	await Promise.all(Array.from({length: 61}, () => session(acme, iPhone, deviceId)));
	t.like(await named(t, acme, 'app.rate_limited', 1), {
		count: 1,
		message: 'App: 1 request refused by the limit sdkDevices',
	});
	const {unknown, platforms} = await statusOf(acme);
	t.is(unknown.refusals, 1);
	t.like(platforms[0].sessions, {count: 60, appVersions: [{version: '4.2.0', count: 60}]});
});

test.serial('an app that does all of it right is ok, on a screen of 80 columns too', async (t) => {
	const acme = await organization(service, {appConfig: exampleAppConfig});
	service.clock.advance(60);
	await fetchFiles(APPLE, ANDROID);
	await goodStart(acme, iPhone);
	await goodStart(acme, pixel, {field: 'installReferrer'});
	const status = await statusOf(acme);
	t.is(status.status, 'ok');
	const found = status.findings.map((one: Found) => [one.check, one.platform]);
	t.deepEqual(found, [
		['app.ok', 'ios'],
		['app.ok', 'android'],
	]);
	const {stdout} = ends(t, await onScreen(`app status --org ${acme.orgKey}`), 0);
	t.true(widest(stdout) <= 80, stdout);
	t.regex(stdout, /^iOS +last seen 2026-03-10 \d\d:\d\d UTC$/m);
	t.regex(stdout, /0 failures, 0 warnings, 2 ok/);
	t.deepEqual(await json(`app status ${acme.orgKey}`), await statusOf(acme));
});

test('since is a number of hours or days, and what is older does not count', async (t) => {
	const acme = await organization(service);
	for (const since of ['30m', '0h', '91d', '7', '-1d', 'd', '7d7d']) {
		const {status, body} = await acme.operator.get(`/app-status?since=${since}`);
		t.is(status, 400, since);
		t.is(body.details[0].field, 'since');
	}

	for (const since of ['1h', '24h', '90d', '2160h']) {
		t.is((await acme.operator.get(`/app-status?since=${since}`)).status, 200);
	}

	ends(t, await cli(`app status ${acme.orgKey} --since week`), 2, {stderr: /such as 12h or 7d/});
});

test.serial('sessions and first opens before since do not count', async (t) => {
	const acme = await organization(service, {appConfig: iosOnly});
	await goodStart(acme, iPhone);
	service.clock.advance(2 * 3600);
	const [old] = (await statusOf(acme, '?since=1h')).platforms;
	t.is(old.lastSeenAt, null);
	const [week] = (await statusOf(acme)).platforms;
	t.like(week.sessions, {count: 1});
	t.like(week.firstOpens, {count: 1, withToken: 1, byAppVersion: [{version: '4.2.0', count: 1, withToken: 1}]});
	// From the counts of whole hours, which two processes make once.
	const {db, clock} = service.services;
	const oldest = new Date(clock.now().getTime() - 90 * DAY_MS);
	const count = () => countFirstOpens(db, {oldest, now: clock.now(), isStopping: () => false});
	await Promise.all([count(), count()]);
	// Between two transactions of the job, a count and its rows are not added up.
	const scope = {organizationId: acme.id, since: oldest};
	for (const countedUntil of [null, await readCountedUntil(db, acme.id)]) {
		const opens = (await readCounts(db, {...scope, countedUntil})).filter(({kind}) => kind === 'first_open');
		const found = opens.map((open) => open.count);
		t.deepEqual(found, [1]);
	}

	await db('match_attempts')
		.where({organization_id: acme.id})
		.update({at: new Date(0)});
	t.deepEqual((await statusOf(acme)).platforms[0].firstOpens, week.firstOpens);
});

test('what names no platform is unknown, and a first open without a session has no version', async (t) => {
	const acme = await organization(service, {appConfig: iosOnly});
	const deviceId = await session(acme, {});
	await acme.client.post('/sdk/events', {deviceId, eventName: 'buy'});
	await firstOpen(acme, {deviceId: newDevice()});
	await firstOpen(acme, iPhoneApp);
	await firstOpen(acme, {}, {'User-Agent': 'Acme/4.2 CFNetwork/1410 Darwin/22.6.0'});
	await anonymous(service).get(`/${acme.orgKey}/sprng/data`);
	const {platforms, unknown} = await statusOf(acme);
	t.deepEqual(unknown, {sessions: 1, data: 0, firstOpens: 1, events: 1, unknownDevice: 0, refusals: 0});
	t.deepEqual(platforms[0].firstOpens.byAppVersion, [{version: 'unknown', count: 2, withToken: 0}]);
	t.like(await named(t, acme, 'app.data_not_found'), {platform: null, count: 1});
	const {stdout} = await cli(`app status ${acme.orgKey}`);
	t.regex(stdout, /^Unknown platform +sessions \(1\), first opens \(1\), events \(1\)$/m);
});

test.serial(
	'countedSince is the latest of the organization, the retention and the upgrade that began to count',
	async (t) => {
		const acme = await organization(service);
		const {db, clock} = service.services;
		const now = clock.now();
		const upgrade = (days: number) =>
			db('migrations')
				.where({name: '20261122001800_app_status'})
				.update({migration_time: daysBefore(now, days)});
		const [row] = await db('migrations').where({name: '20261122001800_app_status'});
		t.teardown(() => db('migrations').where({id: row.id}).update({migration_time: row.migration_time}));
		const createdAt = (days: number) =>
			db('organizations')
				.where({id: acme.id})
				.update({created_at: daysBefore(now, days)});
		for (const [upgraded, created, expected] of [
			[20, 10, 10],
			[10, 20, 10],
			[400, 300, 90],
		] as const) {
			await upgrade(upgraded);
			await createdAt(created);
			t.is((await statusOf(acme)).countedSince, daysBefore(now, expected).toISOString());
		}
	},
);

test('nobody sees the status of another organization', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	await session(acme);
	t.is((await statusOf(other)).platforms[0].sessions.count, 0);
	t.is((await anonymous(service).get(`/admin/organizations/${acme.id}/app-status`)).status, 401);
	t.is((await match(service, network()(1), {})).matched, false);
});
