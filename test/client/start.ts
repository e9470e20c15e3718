import test from 'ava';
import {type LinkData, type MatchFound, Oplink} from '../../src/client/oplink.ts';
import {type Fate, faultyServer} from './_faulty-server.ts';

const matchToken = `opl_${'Ab1'.repeat(10)}xy`;
const device = {deviceId: 'device-0001', platform: 'iOS', clipboardToken: matchToken, appVersion: '1.2'} as const;
const link: LinkData = {linkId: '5f0c1f5e-8a58-4a0c-9a43-0d9c2b1b7a10', path: '/sale', params: {code: 'x'}};
const found: MatchFound = {matched: true, matchMethod: 'CLIPBOARD', matchConfidence: 'exact', ...link};

const session: Fate = {status: 200, body: {deviceId: device.deviceId, sessionId: 'session-1', isNewDevice: true}};
const matched: Fate = {status: 200, body: found};
const unmatched: Fate = {status: 200, body: {matched: false, matchMethod: 'NONE'}};

const paths = (requests: Array<{url: string}>) => requests.map(({url}) => url);

test('start opens a session, then asks for a match, and hands its link to the listeners', async (t) => {
	const {oplink, requests, log} = await faultyServer(t, [session, matched]);
	const received: unknown[] = [];
	oplink.onLink((...given) => {
		received.push(given);
	});
	t.is(await oplink.start(device), undefined);
	t.deepEqual(received, [[link, found]]);
	t.deepEqual(paths(requests), ['/sdk/session', '/match']);
	t.deepEqual(requests[0]?.body, {deviceId: device.deviceId, platform: 'iOS', appVersion: '1.2'});
	t.deepEqual(requests[1]?.body, {deviceId: device.deviceId, platform: 'iOS', clipboardToken: matchToken});
	t.deepEqual(log, []);
});

for (const [what, given, sent] of [
	['a token in an address', {clipboardToken: `https://example.com/x?t=${matchToken} `}, {clipboardToken: matchToken}],
	[
		'a long referrer',
		{installReferrer: `utm_source=${'x'.repeat(200)}&t=${matchToken}&b=1`},
		{installReferrer: matchToken},
	],
	['what else a clipboard holds', {clipboardToken: 'my password', installReferrer: 'utm_source=google-play'}, {}],
	['what only looks like a token', {clipboardToken: `${matchToken}z`, installReferrer: 'opl_short'}, {}],
] as const) {
	test(`start sends only the token of clipboard and referrer (${what})`, async (t) => {
		const {oplink, requests} = await faultyServer(t, [session, unmatched]);
		await oplink.start({deviceId: device.deviceId, ...given});
		t.deepEqual(requests[0]?.body, {deviceId: device.deviceId});
		t.deepEqual(requests[1]?.body, {deviceId: device.deviceId, ...sent});
	});
}

test('without a match the listeners hear nothing', async (t) => {
	const {oplink, requests} = await faultyServer(t, [session, unmatched]);
	oplink.onLink(() => t.fail());
	await oplink.start(device);
	t.is(requests.length, 2);
});

for (const [answer, fate] of Object.entries({matched, unmatched})) {
	test(`a later start opens a session and asks for no second match (${answer})`, async (t) => {
		const {oplink, requests} = await faultyServer(t, [session, fate, session]);
		const received: LinkData[] = [];
		oplink.onLink((one) => {
			received.push(one);
		});
		await oplink.start(device);
		await oplink.start(device);
		t.deepEqual(paths(requests), ['/sdk/session', '/match', '/sdk/session']);
		t.is(received.length, answer === 'matched' ? 1 : 0);
	});

	test(`with a storage that lasts, the next process asks for no second match (${answer})`, async (t) => {
		const storage = new Map<string, string>();
		const first = await faultyServer(t, [session, fate], {storage});
		await first.oplink.start(device);
		t.is(storage.size, 1);

		const second = await faultyServer(t, [session, matched], {storage});
		second.oplink.onLink(() => t.fail());
		await second.oplink.start(device);
		t.deepEqual(paths(second.requests), ['/sdk/session']);
	});
}

test('two starts at the same time share one match', async (t) => {
	const {oplink, requests} = await faultyServer(t, [session, session, matched]);
	const received: LinkData[] = [];
	oplink.onLink((one) => {
		received.push(one);
	});
	await Promise.all([oplink.start(device), oplink.start(device)]);
	t.deepEqual(paths(requests).sort(), ['/match', '/sdk/session', '/sdk/session']);
	t.deepEqual(received, [link]);
});

for (const [what, fate] of Object.entries<Fate>({
	'a dropped connection': 'drop',
	'a 500': {status: 500},
	'a 429': {status: 429},
	'a 400': {status: 400},
	'a page of HTML': {status: 200, body: '<html>'},
	'JSON that is not a match': {status: 200, body: 'null'},
})) {
	test(`start does not throw on ${what}, and the next call asks again`, async (t) => {
		const storage = new Map<string, string>();
		const {oplink, log} = await faultyServer(t, [fate], {storage, maxRetries: 0});
		oplink.onLink(() => t.fail());
		await oplink.start(device);
		t.is(log.at(-1)?.message, 'oplink: no match');
		t.is(storage.size, 0);

		const next = await faultyServer(t, [session, matched], {storage});
		const received: LinkData[] = [];
		next.oplink.onLink((one) => {
			received.push(one);
		});
		await next.oplink.start(device);
		t.deepEqual(received, [link]);
	});
}

test('a failed session does not prevent a match', async (t) => {
	const {oplink, log} = await faultyServer(t, [{status: 500}, matched]);
	const received: LinkData[] = [];
	oplink.onLink((one) => {
		received.push(one);
	});
	await oplink.start(device);
	t.deepEqual(received, [link]);
	t.deepEqual(
		log.map(({message}) => message),
		['oplink: no session'],
	);
});

test('the match of a start is tried again like any other', async (t) => {
	const {oplink, requests, waits} = await faultyServer(t, [session, 'drop', {status: 503}, matched]);
	await oplink.start(device);
	t.deepEqual(paths(requests), ['/sdk/session', '/match', '/match', '/match']);
	t.deepEqual(waits, [0.5, 1]);
});

test('a listener that throws or rejects is logged and does not affect others', async (t) => {
	const {oplink, log} = await faultyServer(t, [session, matched]);
	const received: string[] = [];
	oplink.onLink(() => {
		throw new Error('thrown');
	});
	oplink.onLink(async () => {
		throw new Error('rejected');
	});
	oplink.onLink(() => {
		received.push('last');
	});
	await oplink.start(device);
	t.deepEqual(received, ['last']);
	t.deepEqual(log.map(({error}) => (error as Error).message).sort(), ['rejected', 'thrown']);
});

test('a removed listener is not called, and a function subscribed twice is removed once at a time', async (t) => {
	const {oplink} = await faultyServer(t, [session, matched]);
	const received: LinkData[] = [];
	const listener = (one: LinkData) => {
		received.push(one);
	};
	const end = oplink.onLink(listener);
	oplink.onLink(listener);
	oplink.onLink(() => t.fail())();
	end();
	end();
	await oplink.start(device);
	t.deepEqual(received, [link]);
});

test('a link found before there is a listener goes to the first, once', async (t) => {
	const {oplink} = await faultyServer(t, [session, matched]);
	await oplink.start(device);
	oplink.onLink(() => t.fail())();
	const first = await new Promise<LinkData>((resolve) => {
		const end = oplink.onLink((one) => {
			end();
			resolve(one);
		});
	});
	t.deepEqual(first, link);
	oplink.onLink(() => t.fail());
	await oplink.session(device);
});

test('a failing storage is logged, and the link still arrives', async (t) => {
	const storage = {
		get: () => Promise.reject(new Error('locked')),
		set: () => {
			throw new Error('full');
		},
	};
	const {oplink, requests, log} = await faultyServer(t, [session, matched, session], {storage});
	const received: LinkData[] = [];
	oplink.onLink((one) => {
		received.push(one);
	});
	await oplink.start(device);
	await oplink.start(device);
	t.deepEqual(received, [link]);
	t.deepEqual(paths(requests), ['/sdk/session', '/match', '/sdk/session']);
	t.deepEqual(
		log.map(({error}) => (error as Error).message),
		['locked', 'full'],
	);
});

test('a log that throws makes neither session nor start throw', async (t) => {
	const {oplink} = await faultyServer(t, ['drop'], {
		maxRetries: 0,
		log: () => {
			throw new Error('no log');
		},
	});
	t.is(await oplink.session(device), null);
	await t.notThrowsAsync(oplink.start(device));
});

test('start throws neither without a server nor without a log', async (t) => {
	const log = () => {};
	await t.notThrowsAsync(new Oplink({baseUrl: 'not an address', maxRetries: 0, log}).start(device));
	const circular: Record<string, unknown> = {};
	circular['self'] = circular;
	await t.notThrowsAsync(new Oplink({baseUrl: 'http://127.0.0.1:1', log}).start({deviceId: circular as never}));
	await t.notThrowsAsync(new Oplink({baseUrl: 'http://127.0.0.1:1', log}).start(undefined as never));
});
