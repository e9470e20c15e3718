import test from 'ava';
import fc from 'fast-check';
import {withQuery} from '../../../src/visits/visit/tap-query.ts';
import {contentOf, openedBy} from '../../helpers/app-content.ts';
import {link, organization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {serviceOf} from '../../helpers/service.ts';
import {network, pathOf, userAgents, visit} from '../matches/_phones.ts';
import {anchorsOf, hrefsOf} from './_redirect-page.ts';

const service = serviceOf(test);

const android = [{packageName: 'com.acme.app', scheme: 'acme'}];

/** The page's links into the app, by its scheme on iOS and by an intent on Android. */
const targetsOf = (path: string, params: Record<string, string>): string[] =>
	(['ios-browser', 'android-browser'] as const).flatMap((name) =>
		hrefsOf({path, params, android, token: null}, name).filter((href) => /^(?:acme|intent):/.test(href)),
	);

const texts =
	'/ / / . .. %2e %2E%2e %2F %252f %25 % %zz %4 @ : 12:30 user:42 ?a=b& ?x=%26 # ; = & + \\ | ^ [ ] < " ` {}';
const part = fc.oneof(
	fc.constantFrom(...texts.split(' '), ' ', '\t', '\n', 'é', '😀', '\ud800', 'sale'),
	fc.string({unit: 'binary', maxLength: 5}),
);
const anyPath = fc.array(part, {maxLength: 12}).map((parts) => `/${parts.join('')}`);
const anyParams = fc.dictionary(part, part, {maxKeys: 4});
const anyOrigin = fc.constantFrom(
	'',
	'',
	'https://acme.example',
	'HTTP://u@acme.example:8080',
	'acme:/',
	'a+b://https://x',
);

test('whatever path and parameters are, a browser hands the app what /data says', (t) => {
	fc.assert(
		fc.property(anyOrigin, anyPath, anyParams, (origin, path, params) => {
			const expected = contentOf(path, params);
			t.deepEqual(targetsOf(origin + path, params).map(openedBy), [expected, expected]);
		}),
		{numRuns: isDeep ? 20_000 : 300},
	);
});

test('whatever the query of a visit is, an App Link carries it to /data', (t) => {
	fc.assert(
		fc.property(anyParams, (query) => {
			const params = withQuery({own: '1'}, query);
			const [intent = ''] = hrefsOf({query, params}, 'android-browser');
			const {origin, pathname, searchParams} = new URL(
				intent.replace(/^intent|#Intent.*/gs, (m) => (m === 'intent' ? 'https' : '')),
			);
			t.is(origin + pathname, 'https://go.example.com/AB12/sale');
			t.deepEqual(withQuery({own: '1'}, Object.fromEntries(searchParams)), params);
		}),
		{numRuns: isDeep ? 5000 : 100},
	);
});

test('a path is answered as stored, and the page opens the app with its escapes, its first segment and its fragment', async (t) => {
	const acme = await organization(service);
	for (const [path, target] of [
		['/@alice/posts/1', '%40alice/posts/1'],
		['/user:name/x@y:z', 'user%3Aname/x@y:z'],
		['/12:30', '12%3A30'],
		['/search/2018%2F02?q=1%2B1&r=100%25#a%26b', 'search/2018%2F02?q=1%2B1&r=100%25#a%26b'],
		['/a%252Fb/50%/naïve cap', 'a%252Fb/50%25/na%C3%AFve%20cap'],
		['/a/../b/./%2e%2E/c', 'c'],
		['https://user@acme.example:8443/full?x=1#top', 'full?x=1#top'],
		['acme://product/1', 'product/1'],
		['https://acme.example', ''],
		['/https://acme.example', 'https%3A//acme.example'],
	] as const) {
		const {url} = await link(acme, {path, deferredDeepLinking: false});
		t.is((await anonymous(service).get(`${pathOf(url)}/data`)).body.path, path);
		for (const [userAgent, start] of [
			[userAgents.iPhone, `acmeshop://${target}`],
			[userAgents.android, `intent://${target}#Intent;scheme=acmeshop;`],
		] as const) {
			const {answer} = await visit(service, {url}, network()(1), {userAgent});
			const found = anchorsOf(answer.text).some(({href}) => href.startsWith(start));
			t.true(found, `${path} ${answer.text}`);
		}
	}
});

test('Firefox on Android gets no fallback to Play in its intent, and still one to a website', async (t) => {
	const acme = await organization(service);
	const firefox = 'Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0';
	const [play, website] = ['https://play.google.com/store/apps/details?id=com.acme.shop', 'https://shop.example.com/'];
	const [plain, own] = [
		await link(acme, {deferredDeepLinking: false}),
		await link(acme, {deferredDeepLinking: false, destinations: {android: website}}),
	];
	for (const [userAgent, {url}, fallback] of [
		[userAgents.android, plain, play],
		[firefox, plain, null],
		[firefox, own, website],
		[userAgents.android, own, website],
	] as const) {
		for (const query of ['', '?ref=42']) {
			const {answer} = await visit(service, {url}, network()(1), {userAgent, query});
			const hrefs = anchorsOf(answer.text).map(({href}) => href);
			const [, found = null] = /;S\.browser_fallback_url=([^;]*);end$/.exec(hrefs[0] ?? '') ?? [];
			t.is(found && decodeURIComponent(found), fallback, `${userAgent} ${url}${query}`);
			t.regex(hrefs[0] ?? '', /^intent:.*;package=com\.acme\.shop;.*end$/);
			t.true(hrefs.includes(play));
		}
	}
});
