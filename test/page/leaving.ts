import test from 'ava';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {startedFor} from '../helpers/started.ts';
import {decodeQR} from './_qr.ts';
import {startStage, tokenOf, type Visit, visit} from './_stage.ts';

let acme: TestOrganization;
const stage = startedFor(test, () => startStage());
test.serial.before(async () => {
	acme = await organization(stage.service);
});

const appStore = 'https://apps.apple.com/app/id123456789';
const playStore = 'https://play.google.com/store/apps/details?id=com.acme.shop';
const website = 'https://shop.example.com/sale';

const newLink = (body: object = {}) => link(acme, {path: '/sale/summer', ...body});

/** The names of the links and buttons that can be seen, in order. */
const offered = ({page}: Visit): Promise<string[]> =>
	page.locator('a:visible, button:visible').evaluateAll((all) => all.map((one) => one.firstChild?.textContent ?? ''));

const follow = async ({page}: Visit, name: string): Promise<void> => {
	const target = page.getByRole('link', {name, exact: true});
	await ((await page.evaluate(() => navigator.maxTouchPoints)) > 0 ? target.tap() : target.click());
};

test('an iPhone stays on the page until it is tapped, and is offered the store and the app', async (t) => {
	const visited = await visit(stage, t, (await newLink({fallbackUrl: website})).url, 'iPhone');
	await visited.page.waitForLoadState('load');
	t.deepEqual(visited.destinations, []);
	t.deepEqual(await offered(visited), [
		'Continue',
		'Continue without copying',
		'I already have the app',
		'Continue to the website',
	]);
	await follow(visited, 'I already have the app');
	await visited.page.waitForFunction(() => true);
	t.deepEqual(visited.destinations, ['acmeshop://sale/summer']);
});

test('an iPhone is not asked to copy for a link that is not deferred', async (t) => {
	const {url} = await newLink({deferredDeepLinking: false});
	const visited = await visit(stage, t, url, 'iPhone');
	t.deepEqual(await offered(visited), ['Get the app', 'I already have the app']);
	t.false((await visited.page.content()).includes('opl_'));
	await follow(visited, 'Get the app');
	await visited.page.waitForURL(appStore);
});

test('an in-app browser on iOS is offered only the store, with a hint to Safari', async (t) => {
	const {url} = await newLink();
	const visited = await visit(stage, t, url, 'iPhoneInApp');
	t.deepEqual(await offered(visited), ['Continue', 'Continue without copying', 'Copy link']);
	t.true(await visited.page.getByText('Open this link in Safari').isVisible());
	t.true((await visited.page.locator('.url').textContent())?.includes(new URL(url).pathname));
});

test('an intent asks for the app, and falls back to the store with the token as its referrer', async (t) => {
	const visited = await visit(stage, t, (await newLink()).url, 'android');
	const token = await tokenOf(visited);
	await visited.page.waitForLoadState('load');
	t.deepEqual(visited.destinations, []);
	t.deepEqual(await offered(visited), ['Open in the app', 'Continue without copying', 'Get the app']);
	await follow(visited, 'Open in the app');
	await visited.page.getByText('Code copied').waitFor();
	const [intent = '', ...others] = visited.destinations;
	t.deepEqual(others, []);
	const [target, fields = ''] = intent.split('#Intent;');
	t.is(target, 'intent://sale/summer');
	const [scheme, name, fallback, end, ...rest] = fields.split(';');
	t.deepEqual([scheme, name, end, rest], ['scheme=acmeshop', 'package=com.acme.shop', 'end', []]);
	t.is(decodeURIComponent(String(fallback).replace('S.browser_fallback_url=', '')), `${playStore}&referrer=${token}`);
});

test('Android gets to the store with the token as its referrer', async (t) => {
	const visited = await visit(stage, t, (await newLink()).url, 'android');
	const token = await tokenOf(visited);
	await follow(visited, 'Get the app');
	await visited.page.waitForURL(`${playStore}&referrer=${token}`);
	t.is(new URL(visited.page.url()).searchParams.get('referrer'), token);
});

test('an in-app browser on Android is offered the store first, with a hint to Chrome', async (t) => {
	const visited = await visit(stage, t, (await newLink()).url, 'androidInApp');
	t.deepEqual(await offered(visited), ['Get the app', 'Continue without copying', 'Open in the app', 'Copy link']);
	t.true(await visited.page.getByText('Open this link in Chrome').isVisible());
});

test('a desktop is redirected to the website, and Back leads to the previous page', async (t) => {
	const {url} = await newLink({fallbackUrl: website, utmSource: 'mail'});
	for (const reader of ['desktop', 'mac'] as const) {
		const visited = await visit(stage, t, url, reader, {leaves: true});
		await visited.page.waitForURL(`${website}?utm_source=mail`);
		t.deepEqual(visited.destinations, [`${website}?utm_source=mail`]);
		await visited.page.goBack();
		t.is(visited.page.url(), 'about:blank');
	}
});

test('without a website a desktop shows a QR code of the short URL, in light and in dark', async (t) => {
	const {url} = await newLink();
	for (const [reader, colorScheme] of [
		['desktop', 'light'],
		['mac', 'dark'],
	] as const) {
		const visited = await visit(stage, t, url, reader, {colorScheme});
		await visited.page.waitForLoadState('load');
		t.deepEqual(visited.destinations, []);
		t.deepEqual(await offered(visited), ['Copy link', 'App Store', 'Google Play']);
		const code = visited.page.getByRole('img', {name: `QR code for ${url}`});
		t.is(await decodeQR(visited.page, await code.screenshot()), url);
	}
});

test('an iPad that claims to be a Mac gets an iPhone’s offer, without a redirect', async (t) => {
	const {url} = await newLink({fallbackUrl: website});
	const visited = await visit(stage, t, url, 'iPad');
	await visited.page.waitForLoadState('load');
	t.deepEqual(visited.destinations, []);
	t.deepEqual(await offered(visited), [
		'Continue',
		'Continue without copying',
		'I already have the app',
		'Continue to the website',
	]);
	await follow(visited, 'Continue to the website');
	await visited.page.waitForURL(website);
});

test('a tool without a known browser is offered the website, else the stores', async (t) => {
	const {url} = await newLink({fallbackUrl: website});
	t.deepEqual(await offered(await visit(stage, t, url, 'tool')), ['Continue to the website']);
	t.deepEqual(await offered(await visit(stage, t, (await newLink()).url, 'tool')), ['App Store', 'Google Play']);
});

test('a phone whose platform has no app is offered the website', async (t) => {
	const appConfig = {ios: {bundleId: 'com.acme.shop.ios', teamId: 'ABCDE12345', appStoreId: '123456789'}};
	const {url} = await link(await organization(stage.service, {appConfig}), {fallbackUrl: website});
	t.deepEqual(await offered(await visit(stage, t, url, 'android')), ['Continue to the website']);
});

test('without script every link works as a link', async (t) => {
	const {url} = await newLink();
	const withoutScript = {javaScriptEnabled: false};
	for (const [reader, name, target] of [
		['iPhone', 'Continue', appStore],
		['androidInApp', 'Get the app', `${playStore}&referrer=opl_`],
		['iPad', 'App Store', appStore],
		['tool', 'Google Play', playStore],
	] as const) {
		const visited = await visit(stage, t, url, reader, withoutScript);
		t.is(await visited.page.getByRole('button').count(), 0, reader);
		await visited.page.getByRole('link', {name, exact: true}).click();
		await visited.page.waitForURL((arrived) => arrived.href.startsWith(target));
		t.is(visited.destinations.length, 1, reader);
	}
});

test('without script a link into the app asks for the app', async (t) => {
	const {url} = await newLink();
	for (const [reader, name, target] of [
		['iPhone', 'I already have the app', /^acmeshop:\/\/sale\/summer$/],
		['android', 'Open in the app', /^intent:\/\/sale\/summer#Intent;/],
	] as const) {
		const visited = await visit(stage, t, url, reader, {javaScriptEnabled: false});
		await visited.page.getByRole('link', {name, exact: true}).click();
		t.is(visited.destinations.length, 1);
		t.regex(visited.destinations[0] ?? '', target);
	}
});

test('without script a desktop is redirected to the website, or shows the QR code', async (t) => {
	const {url} = await newLink({fallbackUrl: website});
	const visited = await visit(stage, t, url, 'desktop', {javaScriptEnabled: false, leaves: true});
	await visited.page.waitForURL(website);
	const plain = await newLink();
	const {page} = await visit(stage, t, plain.url, 'desktop', {javaScriptEnabled: false});
	const code = page.getByRole('img', {name: `QR code for ${plain.url}`});
	t.true(await code.isVisible());
});
