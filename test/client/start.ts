import test, {type ExecutionContext} from 'ava';
import {type LinkData, type MatchFound, Oplink, type OplinkOptions} from '../../src/client/oplink.ts';
import {type Fate, faultyServer, linksOf, session} from './_faulty-server.ts';

const device = {
	deviceId: 'device-0001',
	platform: 'iOS',
	clipboardToken: `opl_${'Ab1'.repeat(10)}xy`,
	appVersion: '1.2',
} as const;
const link: LinkData = {linkId: '5f0c1f5e-8a58-4a0c-9a43-0d9c2b1b7a10', path: '/sale', params: {code: 'x'}};
const found: MatchFound = {matched: true, matchMethod: 'CLIPBOARD', matchConfidence: 'exact', ...link};

const matched: Fate = {status: 200, body: found};
const unmatched: Fate = {status: 200, body: {matched: false, matchMethod: 'NONE'}};

/** A client of a faulty server after a start, and the links that it handed over. */
const started = async (t: ExecutionContext, fates: [Fate, ...Fate[]], options: Partial<OplinkOptions> = {}) => {
	const client = await faultyServer(t, fates, options);
	const received = linksOf(client.oplink);
	await client.oplink.start(device);
	return {...client, received};
};

const paths = (requests: Array<{url: string}>) => requests.map(({url}) => url);
const errorsOf = (log: Array<{error: unknown}>) => log.map(({error}) => (error as Error).message);

for (const [answer, fate, links] of [
	['matched', matched, [link]],
	['unmatched', unmatched, []],
] as const) {
	test(`a later start opens a session and asks for no second match (${answer})`, async (t) => {
		const {oplink, requests, received} = await started(t, [session, fate, session]);
		await oplink.start(device);
		t.deepEqual(paths(requests), ['/sdk/session', '/match', '/sdk/session']);
		t.deepEqual(received, links);
	});
}

test('two starts at the same time share one match', async (t) => {
	const {oplink, requests} = await faultyServer(t, [session, session, matched]);
	const received = linksOf(oplink);
	await Promise.all([oplink.start(device), oplink.start(device)]);
	t.deepEqual(paths(requests).sort(), ['/match', '/sdk/session', '/sdk/session']);
	t.deepEqual(received, [link]);
});

test('start does not throw without a usable answer, and the next call asks again', async (t) => {
	const answers: Fate[] = [400, 429, 500].map((status) => ({status}));
	for (const fate of ['drop', ...answers, {status: 200, body: '<html>'}, {status: 200, body: 'null'}] as const) {
		const storage = new Map<string, string>();
		const {log, received} = await started(t, [fate], {storage, maxRetries: 0});
		t.is(log.at(-1)?.message, 'oplink: no match');
		t.is(storage.size, 0);
		t.deepEqual(received, []);
		t.deepEqual((await started(t, [session, matched], {storage})).received, [link]);
	}
});

test('a listener that throws or rejects is logged and does not affect others', async (t) => {
	const {oplink, log} = await faultyServer(t, [session, matched]);
	oplink.onLink(() => {
		throw new Error('thrown');
	});
	oplink.onLink(() => Promise.reject(new Error('rejected')));
	const received = linksOf(oplink);
	await oplink.start(device);
	t.deepEqual(received, [link]);
	t.deepEqual(errorsOf(log).sort(), ['rejected', 'thrown']);
});

test('a removed listener is not called, and a function subscribed twice is removed once at a time', async (t) => {
	const {oplink} = await faultyServer(t, [session, matched]);
	const received: LinkData[] = [];
	const listener = (one: LinkData) => void received.push(one);
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
	const {oplink, requests, log, received} = await started(t, [session, matched, session], {storage});
	await oplink.start(device);
	t.deepEqual(received, [link]);
	t.deepEqual(paths(requests), ['/sdk/session', '/match', '/sdk/session']);
	t.deepEqual(errorsOf(log), ['locked', 'full']);
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

test('start throws neither without a server nor without a device', async (t) => {
	const log = () => {};
	await t.notThrowsAsync(new Oplink({baseUrl: 'not an address', maxRetries: 0, log}).start(device));
	const circular: Record<string, unknown> = {};
	circular['self'] = circular;
	await t.notThrowsAsync(new Oplink({baseUrl: 'http://127.0.0.1:1', log}).start({deviceId: circular as never}));
	await t.notThrowsAsync(new Oplink({baseUrl: 'http://127.0.0.1:1', log}).start(undefined as never));
});
