import test from 'ava';
import type {Page} from 'playwright-core';
import decode from 'qr/decode.js';
import {exampleAppConfig, link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {startedFor} from '../../helpers/started.ts';
import {readers} from './_readers.ts';
import {startStage, type Visit, visit} from './_stage.ts';

/** The text of a QR code in a screenshot. The browser of `page` decodes the picture to pixels, in a separate window. */
const decodeQR = async (page: Page, screenshot: Buffer): Promise<string> => {
	const blank = await page.context().newPage();
	try {
		const {width, height, pixels} = await blank.evaluate(async (base64) => {
			const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
			const bitmap = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
			const drawing = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
			drawing?.drawImage(bitmap, 0, 0);
			const image = drawing?.getImageData(0, 0, bitmap.width, bitmap.height);
			// As one string: each number of an array would be serialized separately, millions of them.
			const characters = Array.from(image?.data ?? [], (byte) => String.fromCharCode(byte));
			return {width: bitmap.width, height: bitmap.height, pixels: btoa(characters.join(''))};
		}, screenshot.toString('base64'));
		return decode({width, height, data: new Uint8Array(Buffer.from(pixels, 'base64'))}, {timeLimit: 10_000});
	} finally {
		await blank.close();
	}
};

let acme: TestOrganization;
let appless: TestOrganization;
const stage = startedFor(test, () => startStage());
test.serial.before(async () => {
	acme = await organization(stage.service, {name: 'Acme'});
	appless = await organization(stage.service, {appConfig: {}});
});

const appStore = 'https://apps.apple.com/app/id123456789';
const playStore = 'https://play.google.com/store/apps/details?id=com.acme.shop';
const website = 'https://shop.example.com/sale';

const offersOfIos = ['Get Acme on the App Store', 'Continue without copying', 'I already have the app'];

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
	t.deepEqual(await offered(visited), [...offersOfIos, 'Continue to the website']);
	await follow(visited, 'I already have the app');
	await visited.page.waitForFunction(() => true);
	t.deepEqual(visited.destinations, ['acmeshop://sale/summer']);
});

const {userAgent: iPhone = ''} = readers.iPhoneInApp;
const {userAgent: android = ''} = readers.androidInApp;
const linkedIn = iPhone.replace(/Instagram.*/, '[LinkedInApp]/9.29');
const telegram = android.replace(/\[.*/, 'Telegram-Android/10.14.5');
for (const [app, reader, userAgent, target] of [
	['Instagram on iOS', 'iPhoneInApp', iPhone, 'instagram://extbrowser/?url={encoded}'],
	['LinkedIn on iOS', 'iPhoneInApp', linkedIn, 'x-safari-http://{address}'],
	['Telegram on Android', 'androidInApp', telegram, 'intent://{address}#Intent;scheme=http;end'],
] as const) {
	const targetOf = (url: string) =>
		target.replace('{encoded}', encodeURIComponent(url)).replace('{address}', url.replace('http://', ''));
	test(`${app} leads out into the browser by a tap, and never by itself, also without an app to open`, async (t) => {
		const {url} = await newLink({fallbackUrl: website});
		const visited = await visit(stage, t, url, reader, {userAgent});
		await visited.page.waitForLoadState('load');
		t.deepEqual(visited.destinations, []);
		await follow(visited, 'Open in browser');
		await visited.page.waitForFunction(() => true);
		t.deepEqual(visited.destinations, [targetOf(url)]);

		const {url: plain} = await link(appless, {fallbackUrl: website});
		const withoutScript = await visit(stage, t, plain, reader, {userAgent, javaScriptEnabled: false});
		t.deepEqual(await offered(withoutScript), ['Continue to the website', 'Open in browser']);
		t.is(await withoutScript.page.getByRole('link', {name: 'Open in browser'}).getAttribute('href'), targetOf(plain));
		t.true(visited.complaints.every((line) => line.includes('scheme does not have a registered handler')));
	});
}

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
	t.deepEqual(await offered(visited), [...offersOfIos, 'Continue to the website']);
	await follow(visited, 'Continue to the website');
	await visited.page.waitForURL(website);
});

test('an iPad that claims to be a Mac is offered its own destination, from which a Mac is led to another', async (t) => {
	const destinations = {ipad: 'https://ipad.example.com/', desktop: website};
	const {url} = await newLink({destinations});
	const visited = await visit(stage, t, url, 'iPad');
	t.deepEqual(await offered(visited), ['Continue to the website', ...offersOfIos]);
	await visited.page.getByRole('link', {name: 'Continue to the website'}).tap();
	await visited.page.waitForURL(destinations.ipad);
	await (await visit(stage, t, url, 'mac')).page.waitForURL(website);
});

test('without script every link works as a link, also into the app', async (t) => {
	const {url} = await newLink();
	for (const [reader, name, target] of [
		['iPhone', 'Get Acme on the App Store', appStore],
		['iPhone', 'I already have the app', 'acmeshop://sale/summer'],
		['android', 'Open in the app', 'intent://sale/summer#Intent;'],
		['androidInApp', 'Get Acme on Google Play', `${playStore}&referrer=opl_`],
		['iPad', 'App Store', appStore],
		['tool', 'Google Play', playStore],
	] as const) {
		const {page, destinations} = await visit(stage, t, url, reader, {javaScriptEnabled: false});
		t.is(await page.getByRole('button').count(), 0, reader);
		await page.getByRole('link', {name, exact: true}).click();
		t.is(destinations.length, 1, reader);
		t.true(destinations[0]?.startsWith(target), destinations[0]);
	}
});

test('without script a desktop is redirected to the website, or shows the QR code', async (t) => {
	const {url} = await newLink({fallbackUrl: website});
	const visited = await visit(stage, t, url, 'desktop', {javaScriptEnabled: false, leaves: true});
	await visited.page.waitForURL(website);
	const plain = await newLink();
	const {page} = await visit(stage, t, plain.url, 'desktop', {javaScriptEnabled: false});
	t.true(await page.getByRole('img', {name: `QR code for ${plain.url}`}).isVisible());
});

test('an organization’s logo stands in the place of its initial, which shows where the logo cannot be had', async (t) => {
	const org = await organization(stage.service);
	const {url} = await link(org);
	const put = (logoUrl: string | null) => org.operator.put('/app-config', {...exampleAppConfig, logoUrl});
	const logo = 'https://img.example.com/logo.png';
	t.is((await put(logo)).body.logoUrl, logo);
	const {page, elsewhere, complaints} = await visit(stage, t, url, 'iPhone');
	await page.waitForLoadState('load');
	t.deepEqual(elsewhere, [logo]);
	t.deepEqual(complaints, []);
	t.deepEqual(await page.locator('.mark img').boundingBox(), await page.locator('.mark').boundingBox());
	await put('https://img.example.com/missing.png');
	await page.reload();
	await page.locator('.logo').waitFor({state: 'hidden'});
	t.is(await page.locator('.mark').innerText(), 'A');
	for (const without of ['http://img.example.com/logo.png', null]) {
		t.is((await put(without)).status, 200);
		await page.reload();
		t.is(await page.locator('.logo').count(), 0);
	}

	t.like(await put('javascript:alert(1)'), {status: 400, body: {details: [{field: 'logoUrl'}]}});
});
