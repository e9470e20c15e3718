import test, {type ExecutionContext} from 'ava';
import type {Page} from 'playwright-core';
import {Oplink} from '../../../src/client/oplink.ts';
import {exampleAppConfig, link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {type ReaderName, readers} from './_readers.ts';
import {startStage, tokenOf, visit} from './_stage.ts';

// A browser has one clipboard, so these tests run serially.

let clipboard: Page;
let url: string;
const stage = startedFor(test, () => startStage());
test.serial.before(async () => {
	({url} = await link(await organization(stage.service, {name: 'Acme'})));
	const context = await stage.browser.newContext();
	await context.grantPermissions(['clipboard-read', 'clipboard-write'], {origin: stage.url});
	clipboard = await context.newPage();
	await clipboard.goto(`${stage.url}/health/live`);
});

const copied = (): Promise<string> => clipboard.evaluate(() => navigator.clipboard.readText());

const appStore = 'https://apps.apple.com/app/id123456789';
const store = 'Get Acme on the App Store';

/** Opens the link, with something of the reader's own on the clipboard. */
const open = async (t: ExecutionContext, reader: ReaderName, options: Parameters<typeof visit>[4] = {}) => {
	await clipboard.evaluate(() => navigator.clipboard.writeText('of the reader'));
	const opened = await visit(stage, t, url, reader, options);
	const token = await tokenOf(opened);
	t.regex(token, /^opl_[A-Za-z0-9]{32}$/);
	const tap = (name: string) => opened.page.getByRole('link', {name, exact: true}).tap();
	const toStore = async (name = store) => {
		await tap(name);
		await opened.page.waitForURL(appStore);
	};
	return {...opened, token, tap, toStore};
};

test.serial('a tap on an iPhone copies the token within the tap, then goes to the App Store', async (t) => {
	const {page, token, toStore, destinations, complaints} = await open(t, 'iPhone', {
		before: () => {
			const write = navigator.clipboard.writeText.bind(navigator.clipboard);
			navigator.clipboard.writeText = (text) => {
				// A handler that had waited for anything would have no event any more, and Safari would refuse it.
				sessionStorage.setItem('during', `${event?.isTrusted} ${event?.type}`);
				return write(text);
			};
		},
	});
	t.is(await copied(), 'of the reader');
	await page.evaluate(() => {
		addEventListener('pagehide', () =>
			sessionStorage.setItem('said', document.querySelector('#status')?.textContent ?? ''),
		);
	});
	await toStore();
	t.is(await copied(), token);
	t.deepEqual(destinations, [appStore]);
	t.deepEqual(complaints, []);
	await page.goBack();
	t.is(await page.evaluate(() => sessionStorage.getItem('during')), 'true click');
	t.is(await page.evaluate(() => sessionStorage.getItem('said')), 'Code copied');
});

test.serial('the Enter key works like a tap', async (t) => {
	const {page, token} = await open(t, 'iPhone');
	await page.keyboard.press('Tab');
	t.is(await page.evaluate(() => document.activeElement?.textContent), store);
	await page.keyboard.press('Enter');
	await page.waitForURL(appStore);
	t.is(await copied(), token);
});

test.serial('a reader who comes back from the store can tap again', async (t) => {
	const {page, toStore} = await open(t, 'iPhone');
	await toStore();
	await page.goBack();
	await clipboard.evaluate(() => navigator.clipboard.writeText('of the reader'));
	await toStore();
	t.regex(await copied(), /^opl_/);
});

const withoutApi = () => Object.defineProperty(Navigator.prototype, 'clipboard', {value: undefined});
for (const [title, reader, options] of [
	['an iPad that calls itself a Mac copies like an iPhone', 'iPad', {}],
	['if the browser refuses the clipboard the old command copies', 'iPhone', {clipboard: 'refused'}],
	['without a clipboard API the old command copies', 'iPhoneInApp', {before: withoutApi}],
] as const) {
	test.serial(title, async (t) => {
		const {token, toStore} = await open(t, reader, options);
		await toStore();
		t.is(await copied(), token);
	});
}

test.serial('if copying is refused entirely the tap still opens the App Store', async (t) => {
	const {page, toStore, complaints} = await open(t, 'iPhone', {
		clipboard: 'refused',
		before: () => {
			document.execCommand = () => false;
		},
	});
	t.regex(await page.evaluate(() => navigator.clipboard.writeText('x').then(String, String)), /NotAllowedError/);
	await toStore();
	t.is(await copied(), 'of the reader');
	t.true(complaints.every((complaint) => /clipboard|not allowed/i.test(complaint)));
});

test.serial('a clipboard that never answers holds the reader up for 0.4 s at most', async (t) => {
	const {page, tap, destinations} = await open(t, 'iPhone', {
		before: () => {
			navigator.clipboard.writeText = () => new Promise(() => {});
		},
	});
	await page.clock.install();
	await page.clock.pauseAt(Date.now() + 60_000);
	await tap(store);
	await page.clock.runFor(399);
	t.deepEqual(destinations, []);
	await page.clock.runFor(1);
	await page.waitForURL(appStore);
	t.deepEqual(destinations, [appStore]);
});

test.serial('continuing without copying does not touch the clipboard', async (t) => {
	const {toStore} = await open(t, 'iPhone');
	await toStore('Continue without copying');
	t.is(await copied(), 'of the reader');
});

test.serial('viewing a page copies nothing, for any visitor', async (t) => {
	for (const reader of ['iPhone', 'iPad', 'android', 'desktop'] as const) {
		const {page} = await open(t, reader, {
			before: () => {
				const note = () => sessionStorage.setItem('asked', 'yes');
				navigator.clipboard.writeText = async () => note();
				document.execCommand = () => {
					note();
					return true;
				};
			},
		});
		await page.waitForLoadState('load');
		t.is(await page.evaluate(() => sessionStorage.getItem('asked')), null, reader);
		t.is(await copied(), 'of the reader', reader);
	}
});

test.serial('on Android a tap copies along, and asks for the app at once', async (t) => {
	const {page, token, tap, destinations} = await open(t, 'android');
	await tap('Open in the app');
	await page.getByText('Code copied').waitFor();
	t.is(await copied(), token);
	t.is(await page.evaluate(() => document.activeElement?.textContent), 'Open in the app');
	t.is(destinations.length, 1);
	t.regex(destinations[0] ?? '', /^intent:\/\/sale#Intent;scheme=acmeshop;package=com\.acme\.shop;/);
});

test.serial("in an app's browser on Android a tap copies before the store is there", async (t) => {
	const {page, token, tap} = await open(t, 'androidInApp');
	await tap('Get Acme on Google Play');
	await page.waitForURL(`https://play.google.com/store/apps/details?id=com.acme.shop&referrer=${token}`);
	t.is(await copied(), token);
});

test.serial("in an app's browser the link can be copied, to open it elsewhere", async (t) => {
	const {page, complaints} = await open(t, 'iPhoneInApp');
	await page.getByRole('button', {name: 'Copy link'}).tap();
	await page.getByRole('status').getByText('Link copied').waitFor();
	t.is(await copied(), url);
	t.deepEqual(complaints, []);
});

test.serial('with clipboardFormat url a tap copies the short URL with the token, and no more changes', async (t) => {
	const {service} = stage;
	const org = await organization(service);
	const {url: own, id} = await link(org);
	const put = (fields: object) => admin(service).put(`/admin/organizations/${org.id}/app-config`, fields);
	/** The page without its token, which differs in each answer. */
	const html = async () => {
		const {text} = await anonymous(service).get(new URL(own).pathname, {'User-Agent': readers.iPhone.userAgent ?? ''});
		return text.replaceAll(/opl_[A-Za-z0-9]{32}/g, 'TOKEN');
	};
	const before = await html();
	t.deepEqual((await put({...exampleAppConfig, clipboardFormat: 'url'})).body.clipboardFormat, 'url');
	const after = await html();
	t.is(after.replace(`"copies":"${own}#TOKEN",`, ''), before);
	t.not(after, before);

	const opened = await visit(stage, t, own, 'iPhone');
	const token = await tokenOf(opened);
	await opened.page.getByRole('link', {name: `Get ${org.name} on the App Store`, exact: true}).tap();
	await opened.page.waitForURL(appStore);
	t.is(await copied(), `${own}#${token}`);
	t.deepEqual(opened.complaints, []);
	const oplink = new Oplink({baseUrl: stage.url, clientKey: org.clientKey});
	const longer = `${await copied()}`.replace('//', `//${'a'.repeat(60)}.`);
	t.like(await oplink.match({clipboardToken: longer, deviceId: 'device-0001'}), {matchMethod: 'CLIPBOARD', linkId: id});

	for (const [fields, format] of [
		[{clipboardFormat: 'token'}, 'token'],
		[{clipboardFormat: null}, undefined],
		[{}, undefined],
	] as const) {
		t.is((await put({...exampleAppConfig, ...fields})).body.clipboardFormat, format);
		t.is(await html(), before);
	}

	t.is((await put({...exampleAppConfig, clipboardFormat: 'address'})).status, 400);
});
