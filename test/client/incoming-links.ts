import test from 'ava';
import {createNativeIntent} from '../../src/client/expo-router.ts';
import type {LinkData} from '../../src/client/oplink.ts';
import {createLinking} from '../../src/client/react-navigation.ts';

const HELLO: LinkData = {linkId: 'link-1', path: '/hello', params: {from: 'demo'}};
const SALE: LinkData = {linkId: 'link-2', path: '/sale?a=1#top', params: {b: 'x&y'}};
const ALICE: LinkData = {linkId: 'link-3', path: '/@alice/12:30?q=1%2B1 é', params: {b: '2'}};
const HELLO_URL = 'https://go.acme.test/hello';
const SALE_URL = 'https://go.acme.test/sale';
const ALICE_URL = 'https://go.acme.test/alice';

/** A promise that the test settles. */
const open = <T>() => {
	let resolve: (value: T) => void = () => {};
	const promise = new Promise<T>((then) => {
		resolve = then;
	});
	return {promise, resolve};
};

/** What is under way takes a few turns of the queue, and no time. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A phone with the app: its system, its server and its clock, which stands still until `pass`. */
const phone = (initialUrl: string | null = null) => {
	let hear: (link: LinkData) => void = () => {};
	const events = new Set<(event: {url: string}) => void>();
	let timers: Array<{seconds: number; wake: () => void}> = [];
	const match = open<LinkData | null>();
	const answers = new Map<string, Promise<LinkData | null>>([
		[HELLO_URL, Promise.resolve(HELLO)],
		[SALE_URL, Promise.resolve(SALE)],
		[ALICE_URL, Promise.resolve(ALICE)],
		['https://go.acme.test/whole', Promise.resolve({...ALICE, path: `https://acme.test${ALICE.path}`})],
		['https://go.acme.test/gone', Promise.reject(new Error('410'))],
	]);
	answers.get('https://go.acme.test/gone')?.catch(() => {});
	const started: object[] = [];
	const resolved: object[] = [];
	const warnings: string[] = [];
	const oplink = {
		start: async (device: object) => {
			started.push(device);
			const link = await match.promise;
			if (link !== null) {
				hear(link);
			}
		},
		onLink: (listener: (link: LinkData) => void) => {
			hear = listener;
			return () => {};
		},
		resolveUrl: (url: string, options: object) => {
			resolved.push({url, ...options});
			return answers.get(url) ?? Promise.resolve(null);
		},
	};
	return {
		match,
		answers,
		started,
		resolved,
		warnings,
		options: {
			oplink,
			device: () => ({deviceId: 'device-0001', platform: 'iOS' as const}),
			tokens: async () => ({clipboardToken: 'opl_token'}),
			log: (message: string) => warnings.push(message),
			sleep: (seconds: number) => new Promise<void>((wake) => timers.push({seconds, wake})),
		},
		Linking: {
			getInitialURL: async () => initialUrl,
			addEventListener: (_type: 'url', listener: (event: {url: string}) => void) => events.add(listener),
		},
		tap: async (url: string) => {
			for (const listener of events) {
				listener({url});
			}

			await settled();
		},
		/** Time passes; without seconds all waits end. */
		pass: async (passed = Number.POSITIVE_INFINITY) => {
			const left = timers.map(({seconds, wake}) => ({seconds: seconds - passed, wake}));
			timers = left.filter(({seconds}) => seconds > 0);
			for (const {wake} of left.filter(({seconds}) => seconds <= 0)) {
				wake();
			}

			await settled();
		},
	};
};

/** The app on a phone, with React Navigation shown once the first address is known. */
const shown = async (device: ReturnType<typeof phone>, mayOpen?: (target: string) => boolean) => {
	const links = createLinking({...device.options, mayOpen, Linking: device.Linking, scheme: 'acmeshop'});
	const opened: string[] = [];
	links.linking.subscribe((url) => opened.push(url));
	const first = links.linking.getInitialURL();
	await settled();
	return {...links, first, opened};
};

const HELLO_SCREEN = 'acmeshop://hello?from=demo';
const SALE_SCREEN = 'acmeshop://sale?a=1&b=x%26y#top';

test('a cold start opens its link once, however often the system reports it, and the deferred one not', async (t) => {
	const device = phone(HELLO_URL);
	const app = await shown(device);
	t.is(await app.first, HELLO_SCREEN);
	app.ready();
	await device.tap(HELLO_URL);
	device.match.resolve(SALE);
	await settled();
	t.deepEqual(app.opened, []);
	t.is(await app.linking.getInitialURL(), null);
	t.deepEqual(device.resolved, [{url: HELLO_URL, deviceId: 'device-0001'}]);
	t.deepEqual(device.started, [{deviceId: 'device-0001', platform: 'iOS', clipboardToken: 'opl_token'}]);
});

test('a cold start that is reported as an event first opens its link once', async (t) => {
	const device = phone(HELLO_URL);
	const links = createLinking({...device.options, Linking: device.Linking, scheme: 'acmeshop'});
	await device.tap(HELLO_URL);
	device.match.resolve(SALE);
	const opened: string[] = [];
	links.linking.subscribe((url) => opened.push(url));
	t.is(await links.linking.getInitialURL(), HELLO_SCREEN);
	links.ready();
	t.deepEqual(opened, []);
});

test('a warm start opens its link, and the same link again when it is tapped again', async (t) => {
	const device = phone();
	device.match.resolve(null);
	const app = await shown(device);
	t.is(await app.first, null);
	app.ready();
	await device.tap(SALE_URL);
	await device.pass(1);
	await device.tap(SALE_URL);
	t.deepEqual(app.opened, [SALE_SCREEN]);
	await device.pass(1);
	await device.tap(SALE_URL);
	await device.tap('acmeshop://hello?from=page');
	await device.tap('acmeshop://');
	await device.tap('acmeshop://?from=page');
	await device.tap('https://go.acme.test/gone');
	t.deepEqual(app.opened, [SALE_SCREEN, SALE_SCREEN, 'acmeshop://hello?from=page', 'acmeshop://?from=page']);
	t.deepEqual(device.warnings, ['oplink: the link cannot be opened']);
});

test('the first screen waits for the deferred link', async (t) => {
	const device = phone('acmeshop:///');
	const app = await shown(device);
	const again = app.linking.getInitialURL();
	device.match.resolve(HELLO);
	t.deepEqual([await app.first, await again], [HELLO_SCREEN, HELLO_SCREEN]);
	app.ready();
	await device.pass();
	t.deepEqual(app.opened, []);
});

test('what comes after the limit is opened when it comes', async (t) => {
	for (const initial of [null, HELLO_URL]) {
		const device = phone(initial);
		const slow = open<LinkData | null>();
		device.answers.set(HELLO_URL, slow.promise);
		const app = await shown(device);
		await device.pass();
		t.is(await app.first, null);
		app.ready();
		device.match.resolve(HELLO);
		slow.resolve(HELLO);
		await settled();
		t.deepEqual(app.opened, [HELLO_SCREEN]);
	}
});

test('a tap while the first screen waits becomes the first screen, and the deferred link follows', async (t) => {
	const device = phone();
	const app = await shown(device);
	await device.tap(SALE_URL);
	t.is(await app.first, SALE_SCREEN);
	device.match.resolve(HELLO);
	await settled();
	t.deepEqual(app.opened, []);
	app.ready();
	t.deepEqual(app.opened, [HELLO_SCREEN]);
});

test('a tap while a cold start is resolved is opened after it', async (t) => {
	const device = phone(HELLO_URL);
	const slow = open<LinkData | null>();
	device.answers.set(HELLO_URL, slow.promise);
	const app = await shown(device);
	await device.tap(SALE_URL);
	slow.resolve(HELLO);
	t.is(await app.first, HELLO_SCREEN);
	app.ready();
	t.deepEqual(app.opened, [SALE_SCREEN]);
});

test('links from before sign-in are held until the app is ready, each once', async (t) => {
	for (const initial of [HELLO_URL, null]) {
		const device = phone(initial);
		device.match.resolve(HELLO);
		let isSignedIn = false;
		const app = await shown(device, (target) => isSignedIn || target === '/public');
		t.is(await app.first, null);
		app.ready();
		await device.tap(SALE_URL);
		await device.pass();
		await device.tap(SALE_URL);
		t.deepEqual(app.opened, []);
		isSignedIn = true;
		app.ready();
		app.ready();
		t.deepEqual(app.opened, [HELLO_SCREEN, SALE_SCREEN]);
	}
});

test('an app whose own functions fail still opens its links', async (t) => {
	const device = phone(HELLO_URL);
	const fails = () => {
		throw new Error('no storage');
	};
	const failing = {...device, options: {...device.options, device: fails, tokens: fails}};
	const app = await shown(failing, undefined);
	t.is(await app.first, HELLO_SCREEN);
	t.deepEqual(device.resolved, [{url: HELLO_URL, deviceId: undefined}]);
});

test('Expo Router gets paths: cold, warm, deferred and held, each once', async (t) => {
	const device = phone();
	const opened: string[] = [];
	let isSignedIn = true;
	const {redirectSystemPath, ready} = createNativeIntent({
		...device.options,
		mayOpen: () => isSignedIn,
		open: (path) => opened.push(path),
	});
	const first = redirectSystemPath({path: 'acmeshop:///', initial: true});
	device.match.resolve(HELLO);
	t.is(await first, '/hello?from=demo');
	t.is(await redirectSystemPath({path: SALE_URL, initial: false}), '/sale?a=1&b=x%26y#top');
	t.is(await redirectSystemPath({path: SALE_URL, initial: false}), null);
	t.is(await redirectSystemPath({path: 'acmeshop://other', initial: false}), 'acmeshop://other');
	t.is(await redirectSystemPath({path: 'https://go.acme.test/gone', initial: false}), null);
	isSignedIn = false;
	t.is(await redirectSystemPath({path: HELLO_URL, initial: false}), null);
	ready();
	t.deepEqual(opened, []);
	isSignedIn = true;
	ready();
	t.deepEqual(opened, ['/hello?from=demo']);

	const cold = createNativeIntent({...phone().options, open: (path) => opened.push(path)});
	t.is(await cold.redirectSystemPath({path: HELLO_URL, initial: true}), '/hello?from=demo');
	const none = createNativeIntent({...phone().options, open: (path) => opened.push(path)});
	t.is(await none.redirectSystemPath({path: 'https://go.acme.test/gone', initial: true}), '/');
});

test('a path reaches the router with its escapes, and an address of the app’s scheme with its first segment', async (t) => {
	const target = '/@alice/12:30?q=1%2B1%20%C3%A9&b=2';
	for (const url of [ALICE_URL, 'https://go.acme.test/whole']) {
		const app = await shown(phone(url));
		t.is(await app.first, `acmeshop:/${target.replace('@', '%40')}`);
		const native = createNativeIntent({...phone().options, open: () => t.fail()});
		t.is(await native.redirectSystemPath({path: url, initial: true}), target);
	}
});
