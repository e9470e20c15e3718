import {createHash} from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import type {LinkView} from '../../src/resolution/link-view.ts';
import {pageLanguages, pageStrings} from '../../src/resolution/page-strings.ts';
import {redirectPageHeaders, renderRedirectPage} from '../../src/resolution/redirect-page.ts';
import type {VisitorClass} from '../../src/resolution/visitor.ts';
import {headerRecord, hostileTexts, linkView, matchToken} from '../fixtures/link-view.ts';

const qrSvg = '<svg viewBox="0 0 37 37"><path d="M4 4h7"/></svg>';

const render = (visitorClass: VisitorClass, overrides: Partial<LinkView> = {}, acceptLanguage = 'en') =>
	renderRedirectPage({link: linkView(overrides), visitor: {class: visitorClass}, acceptLanguage, qrSvg});

type Anchor = {text: string; href: string; copies: string | null; isPrimary: boolean};

const decode = (text: string) =>
	text.replace(
		/&(amp|lt|gt|quot|#39);/g,
		(_, name) => ({amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'"})[String(name)] ?? '',
	);

const anchorsOf = (page: string): Anchor[] =>
	[...page.matchAll(/<a class="([^"]*)" href="([^"]*)"(?: data-copies="([^"]*)")?>([^<]*)/g)].map(
		([, names = '', href = '', copies, text = '']) => ({
			text: decode(text),
			href: decode(href),
			copies: copies ?? null,
			isPrimary: names.includes('primary'),
		}),
	);

const configOf = (page: string): Record<string, unknown> =>
	JSON.parse(/<script type="application\/json" id="config">(.*?)<\/script>/s.exec(page)?.[1] ?? '');

const appStore = 'https://apps.apple.com/app/id123456789';
const play = `https://play.google.com/store/apps/details?id=com.acme.app&referrer=${matchToken}`;
const intent = `intent://go.example.com/AB12/sale#Intent;scheme=https;package=com.acme.app;S.browser_fallback_url=${encodeURIComponent(play)};end`;
const website = 'https://shop.example.com/sale?utm_source=mail';
const openInApp = 'acme://sale/summer?ref=mail';

const offers = test.macro((t, visitorClass: VisitorClass, overrides: Partial<LinkView>, expected: string[][]) => {
	const anchors = anchorsOf(render(visitorClass, overrides));
	t.deepEqual(
		anchors.map(({text, href, copies}) => [text, href, ...(copies === null ? [] : [copies])]),
		expected,
	);
});

const notDeferred = {token: null, fallbackUrl: null};
const withoutApps = {ios: null, android: []};

test('iOS, deferred: one button that copies and goes to the store, then ways around it', offers, 'ios-browser', {}, [
	['Get Acme on the App Store', appStore, 'before'],
	['Continue without copying', appStore],
	['I already have the app', openInApp],
	['Continue to the website', website],
]);
test('iOS, not deferred: the store and the app', offers, 'ios-browser', notDeferred, [
	['Get Acme on the App Store', appStore],
	['I already have the app', openInApp],
]);
test('an app on iOS: the store, and no scheme that it would block', offers, 'ios-inapp', {}, [
	['Get Acme on the App Store', appStore, 'before'],
	['Continue without copying', appStore],
	['Continue to the website', website],
]);
test(
	'iOS without a store id: the app',
	offers,
	'ios-browser',
	{...notDeferred, ios: {bundleId: 'a.b', teamId: 'ABCDE12345', appStoreId: null, scheme: 'acme'}},
	[['Open in the app', openInApp]],
);
test('iOS without an app: the website', offers, 'ios-browser', {ios: null}, [['Continue to the website', website]]);
test('Android: the app first, the store behind it', offers, 'android-browser', {}, [
	['Open in the app', intent, 'along'],
	['Continue without copying', intent],
	['Get Acme on Google Play', play, 'along'],
	['Continue to the website', website],
]);
test('an app on Android: the store first', offers, 'android-inapp', {fallbackUrl: null}, [
	['Get Acme on Google Play', play, 'along'],
	['Continue without copying', play],
	['Open in the app', intent, 'along'],
]);
test('Android without an app: the website', offers, 'android-browser', {android: []}, [
	['Continue to the website', website],
]);
test('desktop: the website and the stores', offers, 'desktop', {}, [
	['Continue to the website', website],
	['App Store', appStore],
	['Google Play', play],
]);
test('desktop without a website: the stores', offers, 'desktop', {fallbackUrl: null}, [
	['App Store', appStore],
	['Google Play', play],
]);
test('desktop without a website and without apps: nothing', offers, 'desktop', {...withoutApps, fallbackUrl: null}, []);
test('unknown: only the website', offers, 'unknown', {}, [['Continue to the website', website]]);
test('unknown without a website: the stores', offers, 'unknown', {fallbackUrl: null}, [
	['App Store', appStore],
	['Google Play', play],
]);
test('a Mac: the offers of a desktop and of an iPad', offers, 'mac-or-ipad', {fallbackUrl: null}, [
	['App Store', appStore],
	['Google Play', play],
	['Get Acme on the App Store', appStore, 'before'],
	['Continue without copying', appStore],
	['I already have the app', openInApp],
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

const classes: VisitorClass[] = [
	'ios-browser',
	'ios-inapp',
	'android-browser',
	'android-inapp',
	'mac-or-ipad',
	'desktop',
	'unknown',
];

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

test('the intent of Android falls back to the very Play link of the page', (t) => {
	const [open, , get] = anchorsOf(render('android-browser'));
	t.is(get?.href, play);
	t.is(decodeURIComponent(/browser_fallback_url=([^;]*);end$/.exec(open?.href ?? '')?.[1] ?? ''), play);
});

test('an app with a custom scheme is opened by it on Android', (t) => {
	const [open] = anchorsOf(render('android-browser', {android: [{packageName: 'com.acme.app', scheme: 'acme'}]}));
	t.true(open?.href.startsWith('intent://sale/summer?ref=mail#Intent;scheme=acme;package=com.acme.app;'));
});

test('a link that is not deferred has no token anywhere and posts no signals', (t) => {
	for (const visitorClass of classes) {
		const page = render(visitorClass, {token: null});
		t.notRegex(page, /opl_|data-copies="|referrer=/, visitorClass);
		t.like(configOf(page), {token: null, signalUrl: null}, visitorClass);
	}
});

test('a deferred link has the token and the address for its signals on every page', (t) => {
	for (const visitorClass of classes) {
		t.like(configOf(render(visitorClass)), {token: matchToken, signalUrl: '/AB12/sale/signals'}, visitorClass);
	}
});

test('a request that asks for privacy posts no signals and keeps its token', (t) => {
	const page = renderRedirectPage({
		link: linkView(),
		visitor: {class: 'ios-browser'},
		qrSvg,
		globalPrivacyControl: true,
	});
	t.like(configOf(page), {token: matchToken, signalUrl: null});
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
	const link = linkView();
	t.false(renderRedirectPage({link, visitor: {class: 'desktop'}, qrSvg: null}).includes('role="img"'));
});

test("an app's own browser shows the way out of it", (t) => {
	t.true(render('ios-inapp').includes('Nothing happens? Open this link in Safari.'));
	t.true(render('android-inapp').includes('Nothing happens? Open this link in Chrome.'));
	t.true(render('ios-inapp').includes('data-copy-link="https://go.example.com/AB12/sale"'));
	t.false(render('ios-browser').includes('Nothing happens?'));
});

test('a stored target that is unsafe is not shown', (t) => {
	for (const fallbackUrl of ['javascript:alert(1)', 'https://go.example.com/AB12/other', 'https://user@example.com/']) {
		const page = render('desktop', {fallbackUrl});
		t.false(page.includes(fallbackUrl));
		t.is(configOf(page).redirectTo, null);
	}

	const ios = {bundleId: 'a.b', teamId: 'ABCDE12345', appStoreId: '1"x', scheme: 'javascript'};
	t.deepEqual(anchorsOf(render('ios-browser', {ios, fallbackUrl: null})), []);
});

test('the image is loaded over https only, without telling the page that it is on', (t) => {
	t.true(render('desktop').includes('<img src="https://img.example.com/1.png" alt="" referrerpolicy="no-referrer">'));
	const og = {title: null, description: null, imageUrl: 'http://img.example.com/1.png'};
	t.false(render('desktop', {og}).includes('<img'));
});

test('the page loads nothing but the image, and holds no inline handler or style', (t) => {
	for (const visitorClass of classes) {
		const page = render(visitorClass);
		t.deepEqual(page.match(/ src="[^"]*"/g), [' src="https://img.example.com/1.png"'], visitorClass);
		t.notRegex(
			page,
			/<link rel="(?!icon" href="data:,"|canonical")|@import|url\(|<[^>]* style=|<[^>]* on[a-z]+=/,
			visitorClass,
		);
	}
});

test('the policy names the hashes of the one style and the one script that a page has', (t) => {
	const page = render('ios-browser');
	const hashes = (tag: string) =>
		[...page.matchAll(new RegExp(`<${tag}>([^<]*(?:<(?!/${tag}>)[^<]*)*)</${tag}>`, 'g'))].map(
			([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
		);
	const [[script, ...scripts], [style, ...styles]] = [hashes('script'), hashes('style')];
	t.deepEqual([scripts, styles], [[], []]);
	t.is(
		headerRecord(redirectPageHeaders('en'))['Content-Security-Policy'],
		`default-src 'none'; script-src ${script}; style-src ${style}; img-src https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
	);
});

test('the page is never cached, asks for the timezone and names its language', (t) => {
	t.like(headerRecord(redirectPageHeaders('ar')), {
		'Content-Type': 'text/html; charset=utf-8',
		'Content-Language': 'ar',
		'Cache-Control': 'no-store',
		'Accept-CH': 'Sec-CH-Timezone',
		Vary: 'User-Agent, Accept-Language',
		'X-Robots-Tag': 'noindex, nofollow',
		'Referrer-Policy': 'strict-origin-when-cross-origin',
	});
});

test("the page speaks the reader's language, by its q-values, and English otherwise", (t) => {
	t.deepEqual(pageLanguages, ['en', 'ar', 'es', 'fr', 'de', 'it', 'pt', 'tr', 'ru', 'zh', 'ja', 'ko']);
	for (const language of pageLanguages) {
		const page = render('ios-browser', {}, `sv, ${language};q=0.8, en;q=0.1`);
		const direction = language === 'ar' ? 'rtl' : 'ltr';
		t.true(page.includes(`<html lang="${language}" dir="${direction}"`), language);
		t.is(anchorsOf(page)[0]?.text, pageStrings(language).onAppStore.replace('{name}', 'Acme'));
		t.regex(anchorsOf(page)[0]?.text ?? '', /App Store/, language);
	}

	for (const [header, language] of [
		['pt-BR,pt;q=0.9', 'pt'],
		['zh-Hans-CN', 'zh'],
		['sv,nb', 'en'],
		['de;q=0.2, fr;q=0.9', 'fr'],
		['*', 'en'],
		['', 'en'],
		['\u0000;;q=x', 'en'],
	] as const) {
		t.true(render('desktop', {}, header).includes(`<html lang="${language}"`), header);
	}
});

test('no language lacks a word, and those with a place for a value have it', (t) => {
	for (const language of pageLanguages) {
		const words = pageStrings(language);
		t.true(
			Object.values(words).every((text) => text.trim() !== ''),
			language,
		);
		t.true(words.hint.includes('{browser}') && words.qrAlt.includes('{url}'), language);
	}
});

test('long texts are cut on screen, between characters', (t) => {
	const family = '👨‍👩‍👧‍👦';
	const og = {title: family.repeat(100), description: 'word '.repeat(100), imageUrl: null};
	const page = render('ios-browser', {og});
	t.is(/<h1 dir="auto">(.*?)<\/h1>/.exec(page)?.[1], `${family.repeat(69)}…`);
	t.is(/<p class="about" dir="auto">(.*?)<\/p>/.exec(page)?.[1]?.length, 200);
	t.true(
		render('ios-browser', {og: {...og, title: family.repeat(70)}}).includes(`<h1 dir="auto">${family.repeat(70)}</h1>`),
	);
});

test('tenants’ texts are escaped, in the page and in its data block', (t) => {
	const tagsOf = (page: string) => page.match(/<[a-z!/]+/gi);
	const hostile = (text: string): Partial<LinkView> => ({
		og: {title: text, description: text, imageUrl: 'https://img.example.com/1.png'},
		title: text,
		organizationName: `x${text}`,
		path: text,
		params: {[text]: text},
		utm: {source: text, medium: text, campaign: text, term: text, content: text},
	});
	for (const visitorClass of classes) {
		const harmless = tagsOf(render(visitorClass, hostile('y')));
		for (const text of hostileTexts) {
			const page = render(visitorClass, hostile(text));
			t.deepEqual(tagsOf(page), harmless, `${visitorClass} ${text}`);
			t.like(configOf(page), {token: matchToken});
		}

		fc.assert(
			fc.property(fc.string({unit: 'binary', minLength: 1, maxLength: 60}), (text) => {
				const page = render(visitorClass, hostile(`y${text}`));
				t.deepEqual(tagsOf(page), harmless);
			}),
			{numRuns: 30},
		);
	}
});

test('the page stays under 20 KB with the longest texts', (t) => {
	const longest = {
		og: {
			title: '漢'.repeat(255),
			description: '字'.repeat(1024),
			imageUrl: `https://img.example.com/${'i'.repeat(1000)}`,
		},
		params: {a: 'p'.repeat(300)},
	};
	for (const visitorClass of classes) {
		t.true(Buffer.byteLength(render(visitorClass)) < 12_000, visitorClass);
		const page = render(visitorClass, {...longest, og: {...longest.og, description: 'd'.repeat(1024)}}, 'ru');
		t.true(Buffer.byteLength(page) < 20_000, `${visitorClass}: ${Buffer.byteLength(page)}`);
	}
});
