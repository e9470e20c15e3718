import test from 'ava';
import {exampleAppConfig, link, organization} from '../helpers/builders.ts';
import {anonymous, withKey} from '../helpers/callers.ts';
import {iPhoneApp, network, visit} from '../visits/matches/_phones.ts';
import {androidOnly, appStatus, type Found, iosOnly, iPhone, newDevice, pixel} from './_app-status.ts';
import {widest} from './_match.ts';
import {ends} from './_run-cli.ts';

const {cli, json, onScreen, service, session, firstOpen, goodStart, fetchFiles, statusOf, named} = appStatus(test);

const [APPLE, ANDROID] = ['apple-app-site-association', 'assetlinks.json'] as const;

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
