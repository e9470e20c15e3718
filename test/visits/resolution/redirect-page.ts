import test from 'ava';
import type {LinkView} from '../../../src/visits/page/link-view.ts';
import type {VisitorClass} from '../../../src/visits/visit/visitor.ts';
import {matchToken} from '../../fixtures/link-view.ts';
import {
	anchorsOf,
	appStore,
	classes,
	configOf,
	intent,
	openInApp,
	play,
	qrSvg,
	render,
	website,
	withoutApps,
} from './_redirect-page.ts';

const offers = test.macro((t, visitorClass: VisitorClass, overrides: Partial<LinkView>, expected: string[][]) => {
	const anchors = anchorsOf(render(visitorClass, overrides));
	const offered = anchors.map(({text, href, copies}) => [text, href, ...(copies === null ? [] : [copies])]);
	t.deepEqual(offered, expected);
});

const withoutWebsite = {fallbackUrl: null};
const notDeferred = {token: null, ...withoutWebsite};
const toWebsite = ['Continue to the website', website];
const stores = [
	['App Store', appStore],
	['Google Play', play],
];
const deferredOnIos = [
	['Get Acme on the App Store', appStore, 'before'],
	['Continue without copying', appStore],
];
const haveApp = ['I already have the app', openInApp];

test('iOS, deferred: one button that copies and goes to the store, then ways around it', offers, 'ios-browser', {}, [
	...deferredOnIos,
	haveApp,
	toWebsite,
]);
test('iOS, not deferred: the store and the app', offers, 'ios-browser', notDeferred, [
	['Get Acme on the App Store', appStore],
	haveApp,
]);
test('an app on iOS: the store, and no scheme that it would block', offers, 'ios-inapp', {}, [
	...deferredOnIos,
	toWebsite,
]);
const withoutStoreId = {bundleId: 'a.b', teamId: 'ABCDE12345', appStoreId: null, scheme: 'acme'};
test('iOS without a store id: the app', offers, 'ios-browser', {...notDeferred, ios: withoutStoreId}, [
	['Open in the app', openInApp],
]);
test('iOS without an app: the website', offers, 'ios-browser', {ios: null}, [toWebsite]);
test('Android: the app first, the store behind it', offers, 'android-browser', {}, [
	['Open in the app', intent, 'along'],
	['Continue without copying', intent],
	['Get Acme on Google Play', play, 'along'],
	toWebsite,
]);
test('an app on Android: the store first', offers, 'android-inapp', withoutWebsite, [
	['Get Acme on Google Play', play, 'along'],
	['Continue without copying', play],
	['Open in the app', intent, 'along'],
]);
test('Android without an app: the website', offers, 'android-browser', {android: []}, [toWebsite]);
test('desktop: the website and the stores', offers, 'desktop', {}, [toWebsite, ...stores]);
test('desktop without a website: the stores', offers, 'desktop', withoutWebsite, stores);
test('desktop without a website and without apps: nothing', offers, 'desktop', {...withoutApps, ...withoutWebsite}, []);
test('unknown: only the website', offers, 'unknown', {}, [toWebsite]);
test('unknown without a website: the stores', offers, 'unknown', withoutWebsite, stores);
test('a Mac: the offers of a desktop and of an iPad', offers, 'mac-or-ipad', withoutWebsite, [
	...stores,
	...deferredOnIos,
	haveApp,
]);

test('a long name in a button is cut, and one in another direction turns no words around it', (t) => {
	const [long] = anchorsOf(render('ios-browser', {organizationName: 'A'.repeat(60)}));
	t.is(long?.text, `Get ${'A'.repeat(49)}… on the App Store`);
	for (const [organizationName, shown] of [
		['متجر', '\u2068متجر\u2069'],
		['A\u202eemc', '\u2068A\u202eemc\u2069'],
		['$& {name}', '$& {name}'],
	] as const) {
		t.is(anchorsOf(render('ios-browser', {organizationName}))[0]?.text, `Get ${shown} on the App Store`);
	}
});

test('every class has one main link at most, and a page that says something', (t) => {
	for (const visitorClass of classes) {
		const offer = render(visitorClass).replace(/id="ipad-offer".*/s, '');
		t.is(anchorsOf(offer).filter(({isPrimary}) => isPrimary).length, 1, visitorClass);
		const empty = render(visitorClass, {...withoutApps, fallbackUrl: null, token: null});
		t.true(empty.includes('This link cannot be opened on this device.'), visitorClass);
		t.regex(empty, /<h1 dir="auto">Summer sale<\/h1>/);
	}
});

test('only desktop browsers are redirected, and only to the website', (t) => {
	for (const visitorClass of classes) {
		const moves = visitorClass === 'desktop' || visitorClass === 'mac-or-ipad';
		const page = render(visitorClass);
		t.is(configOf(page).redirectTo, moves ? website : null, visitorClass);
		const refresh = `<noscript><meta http-equiv="refresh" content="0;url=${website}"></noscript>`;
		t.is(page.includes(refresh), moves, visitorClass);
		t.is(page.includes('http-equiv'), moves, visitorClass);
		const without = render(visitorClass, {fallbackUrl: null});
		t.is(configOf(without).redirectTo, null, visitorClass);
		t.false(without.includes('http-equiv'), visitorClass);
	}
});

test('an app with a custom scheme is opened by it on Android', (t) => {
	const [open] = anchorsOf(render('android-browser', {android: [{packageName: 'com.acme.app', scheme: 'acme'}]}));
	t.true(open?.href.startsWith('intent://sale/summer?ref=mail#Intent;scheme=acme;package=com.acme.app;'));
});

test('a deferred link has its token and the address for its signals on every page, another has neither', (t) => {
	for (const visitorClass of classes) {
		t.like(configOf(render(visitorClass)), {token: matchToken, signalUrl: '/AB12/sale/signals'}, visitorClass);
		const page = render(visitorClass, {token: null});
		t.notRegex(page, /opl_|data-copies="|referrer=/, visitorClass);
		t.like(configOf(page), {token: null, signalUrl: null}, visitorClass);
	}
});

test('Safari’s banner is shown only if no token is lost', (t) => {
	const banner =
		'<meta name="apple-itunes-app" content="app-id=123456789, app-argument=https://go.example.com/AB12/sale">';
	t.true(render('ios-browser', {token: null}).includes(banner));
	t.false(render('ios-browser').includes('apple-itunes-app'));
	t.false(render('android-browser', {token: null}).includes('apple-itunes-app'));
});

test('desktops show the QR code with the URL as text; phones and links without an app do not', (t) => {
	for (const visitorClass of classes) {
		const isDesk = visitorClass === 'desktop' || visitorClass === 'mac-or-ipad';
		t.is(render(visitorClass).split(qrSvg).length, isDesk ? 2 : 1, visitorClass);
	}

	t.true(render('desktop').includes('aria-label="QR code for https://go.example.com/AB12/sale"'));
	t.regex(render('desktop'), /<p class="url"><bdi dir="ltr">go\.example\.com\/<wbr>AB12\/<wbr>sale/);
	t.false(render('desktop', withoutApps).includes(qrSvg));
	t.false(render('desktop', {}, 'en', null).includes('role="img"'));
});

test("an app's own browser shows the way out of it", (t) => {
	t.regex(render('ios-inapp'), /<p class="url"><bdi dir="ltr">go\.example\.com/);
	t.true(render('ios-inapp').includes('Nothing happens? Open this link in Safari.'));
	t.true(render('android-inapp').includes('Nothing happens? Open this link in Chrome.'));
	t.true(render('ios-inapp').includes('data-copy-link="https://go.example.com/AB12/sale"'));
	t.false(render('ios-browser').includes('Nothing happens?'));
});
