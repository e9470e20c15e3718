import test, {type ExecutionContext} from 'ava';
import {Oplink, OplinkApiError, OplinkConnectionError} from '../../src/client/oplink.ts';
import {type Fate, faultyServer, rateLimited} from './_faulty-server.ts';

const deviceId = 'device-0001';
const id = '5f0c1f5e-8a58-4a0c-9a43-0d9c2b1b7a10';

const resolution: Record<string, (oplink: Oplink) => Promise<unknown>> = {
	match: (oplink) => oplink.match({deviceId}),
	resolve: (oplink) => oplink.resolve('AbC4', 'sale'),
	'links.create': (oplink) => oplink.links.create({path: '/sale'}),
	'links.list': (oplink) => oplink.links.list(),
	'links.get': (oplink) => oplink.links.get(id),
	'links.update': (oplink) => oplink.links.update(id, {title: 'Sale'}),
	'links.delete': (oplink) => oplink.links.delete(id),
};
const reports: Record<string, (oplink: Oplink) => Promise<unknown>> = {
	identify: (oplink) => oplink.identify(deviceId, 'user-1'),
	clearIdentity: (oplink) => oplink.clearIdentity(deviceId),
	track: (oplink) => oplink.track(deviceId, 'signup'),
};

const ok: Fate = {status: 200, body: {fine: true}};
const failed: Fate = {status: 500, body: {statusCode: 500, message: 'Internal server error'}};
const badGateway: Fate = {status: 502, body: '<h1>Bad gateway</h1>', headers: {'content-type': 'text/html'}};
const refusals = [400, 401, 402, 403, 404, 409, 410, 413, 428].map((status): Fate => ({status, body: {message: 'No'}}));

const errorClass = (fate: Fate) => (typeof fate === 'string' ? OplinkConnectionError : OplinkApiError);

type Call = (oplink: Oplink) => Promise<unknown>;

const isRetried = test.macro(async (t: ExecutionContext, call: Call, fate: Fate, waits: [number, number]) => {
	const {oplink, requests, waits: waited} = await faultyServer(t, [fate]);
	await t.throwsAsync(call(oplink), {instanceOf: errorClass(fate)});
	t.is(requests.length, 3);
	t.deepEqual(waited, waits);

	const passing = await faultyServer(t, [fate, ok]);
	t.deepEqual(await call(passing.oplink), {fine: true});
	t.is(passing.requests.length, 2);
	t.deepEqual(passing.requests[1]?.body, passing.requests[0]?.body);
	t.deepEqual(passing.waits, [waits[0]]);
});

/**
 * Attempts that get no answer in time, the first ones or all of them, and then one that gets an answer. Without a
 * network, since on a busy machine that one would have to be in time too; `errors.ts` has a server that hangs.
 */
const silence = (attempts: number) => {
	const waits: number[] = [];
	const urls: string[] = [];
	const oplink = new Oplink({
		baseUrl: 'http://example.invalid',
		timeoutSeconds: 0.02,
		sleep: async (seconds) => {
			waits.push(seconds);
		},
		log: () => {},
		fetch: async (url) => {
			urls.push(url);
			return urls.length > attempts ? {status: 200, text: async () => '{"fine": true}'} : new Promise(() => {});
		},
	});
	return {oplink, waits, urls};
};

const isRetriedAfterTimeout = test.macro(async (t: ExecutionContext, call: Call) => {
	const {oplink, urls, waits} = silence(Number.POSITIVE_INFINITY);
	await t.throwsAsync(call(oplink), {instanceOf: OplinkConnectionError});
	t.is(urls.length, 3);
	t.deepEqual(waits, [0.5, 1]);

	const passing = silence(1);
	t.deepEqual(await call(passing.oplink), {fine: true});
	t.is(passing.urls.length, 2);
	t.deepEqual(passing.waits, [0.5]);
});

const isThrown = test.macro(async (t: ExecutionContext, call: Call, fates: readonly Fate[]) => {
	for (const fate of fates) {
		const {oplink, requests, waits} = await faultyServer(t, [fate, ok]);
		await t.throwsAsync(call(oplink), {instanceOf: OplinkApiError});
		t.is(requests.length, 1);
		t.deepEqual(waits, []);
	}
});

for (const [name, call] of Object.entries({...resolution, ...reports})) {
	test(`${name} is tried again after a dropped connection`, isRetried, call, 'drop', [0.5, 1]);
	test(`${name} is tried again after an answer that breaks off`, isRetried, call, 'break off', [0.5, 1]);
	test(`${name} is tried again after a timeout`, isRetriedAfterTimeout, call);
	test(`${name} is tried again after the seconds that a 429 states`, isRetried, call, rateLimited(7), [7, 7]);
	test(`${name} throws any other 4xx at once`, isThrown, call, refusals);
}

for (const [name, call] of Object.entries(resolution)) {
	test(`${name} is tried again after a 500`, isRetried, call, failed, [0.5, 1]);
	test(`${name} is tried again after a proxy's 502`, isRetried, call, badGateway, [0.5, 1]);
}

for (const [name, call] of Object.entries(reports)) {
	test(`${name} is never tried again after a 5xx`, isThrown, call, [failed, badGateway]);
}

for (const fate of ['drop', 'break off', rateLimited(7), failed, badGateway, ...refusals] as const) {
	const name = typeof fate === 'string' ? fate : fate.status;
	test(`session makes one attempt, and logs and does not throw (${name})`, async (t) => {
		const {oplink, requests, waits, log} = await faultyServer(t, [fate, ok]);
		t.is(await oplink.session({deviceId}), null);
		t.is(requests.length, 1);
		t.deepEqual(waits, []);
		t.is(log.length, 1);
		t.true(log[0]?.error instanceof errorClass(fate));
	});
}

test('session makes one attempt, and logs and does not throw (timeout)', async (t) => {
	const {oplink, urls, waits} = silence(1);
	t.is(await oplink.session({deviceId}), null);
	t.is(urls.length, 1);
	t.deepEqual(waits, []);
});

test('one budget serves all kinds of failure, and n of the backoff is the index of the attempt', async (t) => {
	const {oplink, requests, waits} = await faultyServer(t, [rateLimited(7), failed, ok]);
	t.deepEqual(await oplink.match({deviceId}), {fine: true} as never);
	t.is(requests.length, 3);
	t.deepEqual(waits, [7, 1]);
});

test('when the budget is spent, the last error is thrown', async (t) => {
	const {oplink, requests, waits} = await faultyServer(t, ['drop', rateLimited(3), failed, ok]);
	await t.throwsAsync(oplink.resolve('AbC4', 'sale'), {instanceOf: OplinkApiError, message: 'Internal server error'});
	t.is(requests.length, 3);
	t.deepEqual(waits, [0.5, 3]);
});

test('a report that was let wait is still not repeated after a 5xx', async (t) => {
	const {oplink, requests, waits} = await faultyServer(t, [rateLimited(2), failed, ok]);
	await t.throwsAsync(oplink.track(deviceId, 'signup'), {instanceOf: OplinkApiError, message: 'Internal server error'});
	t.is(requests.length, 2);
	t.deepEqual(waits, [2]);
});

test('each call has its own retry budget', async (t) => {
	const {oplink, requests} = await faultyServer(t, ['drop']);
	await t.throwsAsync(oplink.match({deviceId}));
	await t.throwsAsync(oplink.match({deviceId}));
	t.is(requests.length, 6);
});

test('the backoff grows to 5 seconds and no further', async (t) => {
	const {oplink, waits} = await faultyServer(t, [failed], {maxRetries: 7});
	await t.throwsAsync(oplink.match({deviceId}));
	t.deepEqual(waits, [0.5, 1, 2, 4, 5, 5, 5]);
});

test('maxRetries 0 means one attempt', async (t) => {
	const {oplink, requests, waits} = await faultyServer(t, [rateLimited(1), ok], {maxRetries: 0});
	await t.throwsAsync(oplink.match({deviceId}), {instanceOf: OplinkApiError});
	t.is(requests.length, 1);
	t.deepEqual(waits, []);
});

test('a 429 that states no wait is followed by the backoff', async (t) => {
	const {oplink, waits} = await faultyServer(t, [{status: 429, body: '<h1>Slow down</h1>'}, ok]);
	await oplink.match({deviceId});
	t.deepEqual(waits, [0.5]);
});

test('the attempts of one create share an Idempotency-Key, and the next create has another', async (t) => {
	const {oplink, requests} = await faultyServer(t, ['drop', failed, ok]);
	await oplink.links.create({path: '/sale'});
	await oplink.links.create({path: '/sale'});
	const keys = requests.map(({headers}) => headers['idempotency-key']);
	t.is(keys.length, 4);
	t.is(new Set(keys.slice(0, 3)).size, 1);
	t.regex(String(keys[0]), /^.{16,255}$/);
	t.not(keys[3], keys[0]);
});

test('the attempts of one event share an eventId, and the next event has another', async (t) => {
	const {oplink, requests} = await faultyServer(t, ['drop', ok]);
	await oplink.track(deviceId, 'signup');
	await oplink.track(deviceId, 'signup');
	const ids = requests.map(({body}) => (body as {eventId: string}).eventId);
	t.is(ids.length, 3);
	t.is(ids[1], ids[0]);
	t.not(ids[2], ids[0]);
});
