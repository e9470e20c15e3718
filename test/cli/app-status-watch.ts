import {PassThrough} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {linesOf} from '../../src/cli/lines.ts';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous, withKey} from '../helpers/callers.ts';
import {createTestDatabase} from '../helpers/database.ts';
import {startService} from '../helpers/service.ts';
import {iPhoneApp, network, visit} from '../visits/matches/_phones.ts';
import {listen} from '../visits/reports/_event-stream.ts';
import {runCli} from './_run-cli.ts';
import {environment, serviceCli} from './_service-cli.ts';

const {service} = serviceCli(test);

/** `app status --watch`, once it listens: its lines one by one, its notes, and Ctrl-C. */
const watching = async (t: ExecutionContext, server: typeof service, orgKey: string, ...options: string[]) => {
	const [stdout, stderr] = [new PassThrough(), new PassThrough()];
	const ctrlC = new AbortController();
	const ended = runCli(['app', 'status', orgKey, '--watch', ...options], {
		env: environment(server),
		// The clock stands still, so that nobody's watch ends; the loop of attempts still lets the server come back.
		io: {stdout, stderr, interruption: ctrlC.signal, sleep: () => setImmediate()},
	});
	t.teardown(() => ctrlC.abort());
	const {id} = (await admin(server).get(`/admin/organizations/${orgKey}`)).body;
	while ((await server.services.db('app_watches').where({organization_id: id})).length === 0) {
		// The command has not reached the server yet.
	}

	const lines = linesOf(stdout);
	const notes = linesOf(stderr);
	return {
		next: async () => String((await lines.next()).value),
		nextNote: async () => String((await notes.next()).value),
		stop: async () => {
			ctrlC.abort();
			return (await ended).exitCode;
		},
	};
};

/** What each request of a phone does, in the order in which `walk` sends them. */
const walk = async (acme: Awaited<ReturnType<typeof organization>>, step: () => Promise<string>) => {
	const sale = await link(acme, {shortCode: 'spring'});
	const {token} = await visit(service, sale, network()(1));
	const device = {deviceId: 'device-watched', ...iPhoneApp};
	const lines: string[] = [];
	for (const send of [
		() => acme.client.post('/sdk/session', {...device, appVersion: '4.2.0', sdkVersion: 'oplink-js/1.0.0'}),
		() =>
			anonymous(service, network()(1)).post(
				'/match',
				{...device, clipboardToken: token},
				{'X-API-Key': acme.clientKey},
			),
		() => anonymous(service).get(`/${acme.orgKey}/spring/data?deviceId=device-watched`),
		() => acme.client.post('/sdk/events', {deviceId: 'device-watched', eventName: 'purchase'}),
		() => acme.client.post('/sdk/events', {deviceId: 'device-unknown', eventName: 'purchase'}),
		() => acme.client.post('/sdk/session', {deviceId: 'short'}),
		() => withKey(service, acme.serverKey).post('/sdk/session', {}, {'User-Agent': 'okhttp/4.12.0'}),
		() => anonymous(service).get(`/${acme.orgKey}/sprng/data`),
		() => anonymous(service).post('/match', {deviceId: 'short', platform: 'iOS'}, {'X-API-Key': acme.clientKey}),
		() =>
			anonymous(service, network()(1)).post(
				'/match',
				{...device, deviceId: 'device-second'},
				{'X-API-Key': acme.clientKey},
			),
	]) {
		await send();
		lines.push(await step());
	}

	return {lines, token: token ?? '?'};
};

test('app status --watch prints each request of a device, and ends with 130 at Ctrl-C', async (t) => {
	const acme = await organization(service);
	const {next, stop} = await watching(t, service, acme.orgKey);
	const {lines, token} = await walk(acme, next);
	const found = lines.map((line) => line.replace(/^12:00:00 {2}/, ''));
	t.deepEqual(found, [
		'iOS      session  session of a new device (device-watched, 4.2.0, oplink-js/1.0.0)',
		'iOS      match    matched by clipboard: spring (device-watched, 4.2.0, oplink-js/1.0.0)',
		'iOS      data     data of spring: /sale (device-watched, 4.2.0, oplink-js/1.0.0)',
		'iOS      event    purchase (device-watched, 4.2.0, oplink-js/1.0.0)',
		'-        refusal  404 Unknown deviceId device-unknown. Call /sdk/session first. (device-unknown)',
		'-        refusal  400 Validation failed: deviceId must be longer than or equal to 8 characters (short)',
		"Android  refusal  403 API key tier 'SERVER' is not permitted on this endpoint (requires 'CLIENT')",
		'-        refusal  404 Link not found: sprng',
		'iOS      refusal  400 Validation failed: deviceId must be longer than or equal to 8 characters (short)',
		'iOS      match    no match: no click (device-second)',
	]);
	t.false(lines.join('\n').includes(token));
	t.is(await stop(), 130);
});

test('app status --watch --json prints an object per request, of the organization alone', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const {next, stop} = await watching(t, service, acme.orgKey, '--json');
	await other.client.post('/sdk/session', {deviceId: 'device-of-other', platform: 'iOS'});
	await acme.client.post('/sdk/session', {deviceId: 'device-of-acme', platform: 'android', appVersion: '1.0'});
	t.deepEqual(JSON.parse(await next()), {
		type: 'session',
		at: service.clock.now().toISOString(),
		platform: 'android',
		deviceId: 'device-of-acme',
		appVersion: '1.0',
		sdkVersion: null,
		text: 'session of a new device',
	});
	t.is(await stop(), 130);
});

test('app status --watch reconnects after a restart of the server, and misses no request', async (t) => {
	const {url, drop} = await createTestDatabase();
	const database = {url, drop: async () => {}};
	t.teardown(drop);
	const before = await startService({}, undefined, database);
	const acme = await organization(before);
	const {next, nextNote, stop} = await watching(t, before, acme.orgKey);
	t.regex(await nextNote(), /^Requests of the apps of /);
	await acme.client.post('/sdk/session', {deviceId: 'device-before', platform: 'iOS'});
	t.regex(await next(), /device-before/);
	await before.stop();
	t.regex(await nextNote(), /^The stream is interrupted \(.+\); reconnecting$/);
	const after = await startService(
		{PORT: new URL(before.url).port, ADMIN_TOKEN: before.adminToken},
		before.clock,
		database,
	);
	t.teardown(after.stop);
	for (const deviceId of ['device-after', 'device-last']) {
		t.is((await acme.client.post('/sdk/session', {deviceId, platform: 'iOS'})).status, 200);
		t.regex(await next(), new RegExp(`iOS +session +session of a new device \\(${deviceId}\\)$`));
	}

	t.is(await stop(), 130);
});

test('of requests that nobody watches no row is stored, and the clicks of a stream stay without them', async (t) => {
	const acme = await organization(service);
	const stream = await listen(t, service, {query: `?orgId=${acme.orgKey}`});
	t.is((await stream.next()).type, 'recent');
	await acme.client.post('/sdk/session', {deviceId: 'device-unwatched', platform: 'iOS'});
	await service.services.appRequests.settled();
	t.deepEqual(await service.services.db('app_requests').where({organization_id: acme.id}), []);
	await acme.client.post('/sdk/events', {deviceId: 'device-unwatched', eventName: 'purchase'});
	t.is((await stream.next()).type, 'event');
	t.is((await admin(service).get('/admin/clicks/stream?of=apps')).status, 400);
});
