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

/**
 * A client whose first attempts get no answer in time, without a network: on a busy machine the last one would have to be
 * in time too. `errors.ts` has a server that hangs.
 */
const silence = (attempts: number) => {
	const requests: Array<{body: unknown}> = [];
	const waits: number[] = [];
	const log: Array<{message: string; error: unknown}> = [];
	const oplink = new Oplink({
		baseUrl: 'http://example.invalid',
		serverKey: 'opl_api_test',
		timeoutSeconds: 0.02,
		sleep: async (seconds) => void waits.push(seconds),
		log: (message, error) => void log.push({message, error}),
		fetch: async (_url, {body}) => {
			requests.push({body});
			return requests.length > attempts ? {status: 200, text: async () => '{"fine": true}'} : new Promise(() => {});
		},
	});
	return {oplink, requests, waits, log};
};

const clientOf = async (t: ExecutionContext, fate: Fate, attempts: number) =>
	fate === 'hang' ? silence(attempts) : faultyServer(t, [...Array<Fate>(attempts).fill(fate), ok] as [Fate]);

const backoff = [0.5, 1];
const retried: Array<[fate: Fate, waits: number[]]> = [
	['drop', backoff],
	['break off', backoff],
	['hang', backoff],
	[rateLimited(7), [7, 7]],
];
const serverFailures: typeof retried = [
	[failed, backoff],
	[badGateway, backoff],
];

for (const [name, call] of Object.entries({...resolution, ...reports})) {
	const [again, thrown] = name in reports ? [[], [failed, badGateway]] : [serverFailures, []];

	test(`${name} is tried again after what may pass, each call with a budget of its own`, async (t) => {
		for (const [fate, expected] of [...retried, ...again]) {
			const {oplink, requests, waits} = await clientOf(t, fate, 4);
			await t.throwsAsync(call(oplink), {instanceOf: errorClass(fate)});
			t.is(requests.length, 3);
			t.deepEqual(await call(oplink), {fine: true});
			t.is(requests.length, 5);
			t.deepEqual(requests[4]?.body, requests[3]?.body);
			t.deepEqual(waits, [...expected, expected[0]]);
		}
	});

	test(`${name} throws ${name in reports ? 'a 5xx and ' : ''}any other 4xx at once`, async (t) => {
		const fates = [...refusals, ...thrown];
		const {oplink, requests, waits} = await faultyServer(t, [...fates, ok] as [Fate]);
		for (const [index] of fates.entries()) {
			await t.throwsAsync(call(oplink), {instanceOf: OplinkApiError});
			t.is(requests.length, index + 1);
		}

		t.deepEqual(waits, []);
	});
}

test('a link that a person waits for is not waited for where another one serves', async (t) => {
	const invite = {deviceId, template: 'invite', params: {}};
	for (const [link, waited] of [
		['https://go.example.com/invite', []],
		[undefined, [7]],
	] as const) {
		const {oplink, waits} = await faultyServer(t, [rateLimited(7), ok]);
		await oplink.createLink(invite, {link});
		t.deepEqual(waits, waited);
	}
});

test('session makes one attempt, and logs and does not throw', async (t) => {
	for (const fate of ['drop', 'break off', 'hang', rateLimited(7), failed, badGateway, ...refusals] as const) {
		const {oplink, requests, waits, log} = await clientOf(t, fate, 1);
		t.is(await oplink.session({deviceId}), null);
		t.is(requests.length, 1);
		t.deepEqual(waits, []);
		t.is(log.length, 1);
		t.is(log[0]?.message, 'oplink: no session');
		t.true(log[0]?.error instanceof errorClass(fate));
	}
});

test('n of the backoff is the index of the attempt, whatever the kinds of failure', async (t) => {
	const {oplink, requests, waits} = await faultyServer(t, [rateLimited(7), failed, ok]);
	t.deepEqual(await oplink.match({deviceId}), {fine: true} as never);
	t.is(requests.length, 3);
	t.deepEqual(waits, [7, 1]);
});

test('a report that was let wait is still not repeated after a 5xx', async (t) => {
	const {oplink, requests, waits} = await faultyServer(t, [rateLimited(2), failed, ok]);
	await t.throwsAsync(oplink.track(deviceId, 'signup'), {instanceOf: OplinkApiError, message: 'Internal server error'});
	t.is(requests.length, 2);
	t.deepEqual(waits, [2]);
});

test('the attempts of one create share an Idempotency-Key, those of one event an eventId, and the next has another', async (t) => {
	const {oplink, requests} = await faultyServer(t, ['drop', failed, ok, ok, 'drop', ok]);
	await oplink.links.create({path: '/sale'});
	await oplink.links.create({path: '/sale'});
	await oplink.track(deviceId, 'signup');
	await oplink.track(deviceId, 'signup');
	const names = requests.map(({headers, body}) => headers['idempotency-key'] ?? (body as {eventId: string}).eventId);
	const [key, , , other, id, , next] = names;
	t.deepEqual(names, [key, key, key, other, id, id, next]);
	t.regex(String(key), /^.{16,255}$/);
	t.is(new Set(names).size, 4);
});
