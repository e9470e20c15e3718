import {setTimeout as delay} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {storedRows} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';
import type {ReaderName} from './_readers.ts';
import {signalsOf, startStage, tokenOf, type VisitOptions, visit} from './_stage.ts';

let acme: TestOrganization;
const stage = startedFor(test, () => startStage());
test.serial.before(async () => {
	acme = await organization(stage.service);
});

/** Runs in the page: counts its beacons where the service's next page can read them. */
const countBeacons = () => {
	const send = navigator.sendBeacon.bind(navigator);
	navigator.sendBeacon = (url, body) => {
		sessionStorage.setItem('beacons', String(Number(sessionStorage.getItem('beacons')) + 1));
		return send(url, body);
	};
};

const open = async (t: ExecutionContext, reader: ReaderName, options: VisitOptions = {}, body: object = {}) => {
	const {id, url} = await link(acme, body);
	const visited = await visit(stage, t, url, reader, {...options, before: [countBeacons, options.before ?? []].flat()});
	const {page} = visited;
	/** The stored click. */
	const click = () => storedRows(stage.service, 'match_clicks', {link_id: id}).then(([row]) => row);
	return {
		...visited,
		click,
		answered: () => signalsOf(visited),
		/** Leaves the page like a reader. @returns how many beacons the page has sent. */
		leave: async () => {
			await page.goto(`${stage.url}/health/live`);
			return page.evaluate(() => Number(sessionStorage.getItem('beacons')));
		},
		/** The click, after signals have arrived. The browser does not report the answer of a closed page. */
		stored: async () => {
			for (let attempt = 0; attempt < 500; attempt++) {
				const kept = await click();
				if (kept.signals_at !== null) {
					return kept;
				}

				await delay(10);
			}

			throw new Error('no signals came within 5 s');
		},
	};
};

test('a page posts its signals once, as text that needs no CORS preflight', async (t) => {
	const opened = await open(t, 'iPhone', {timezoneId: 'Asia/Tokyo', locale: 'ja-JP', deviceScaleFactor: 3});
	const token = await tokenOf(opened);
	t.deepEqual(await opened.answered(), {
		token,
		timezone: 'Asia/Tokyo',
		languages: ['ja-JP'],
		screen: {width: 390, height: 844},
		pixelRatio: 3,
		touchPoints: 5,
	});
	t.is(opened.posted[0]?.headers()['content-type'], 'text/plain');
	t.like(await opened.click(), {timezone: 'Asia/Tokyo', language: 'ja-JP', platform: 'ios'});
	t.is(await opened.leave(), 1);
	t.deepEqual(opened.complaints, []);
});

test('an Android browser adds its model and version', async (t) => {
	const opened = await open(t, 'android', {hints: {model: 'Pixel 8', platformVersion: '14.0.0'}});
	t.like(await opened.answered(), {model: 'Pixel 8', platformVersion: '14.0.0', touchPoints: 5});
	t.like(await opened.click(), {platform: 'android', device_model: 'Pixel 8', os_major: 14});
	t.is(await opened.leave(), 1);
});

test('a reader who leaves before the model is known has posted the rest', async (t) => {
	const opened = await open(t, 'android', {
		before: () => {
			Object.defineProperty(navigator, 'userAgentData', {
				value: {mobile: true, getHighEntropyValues: () => new Promise(() => {})},
			});
		},
		timezoneId: 'America/Sao_Paulo',
	});
	await opened.page.waitForLoadState('load');
	t.is(opened.posted.length, 0);
	t.is(await opened.leave(), 1);
	t.like(await opened.stored(), {timezone: 'America/Sao_Paulo', device_model: null});
});

test('an iPad is distinguished from a Mac by its touch screen', async (t) => {
	const [iPad, mac] = [await open(t, 'iPad'), await open(t, 'mac')];
	t.like(await iPad.answered(), {touchPoints: 5});
	t.like(await mac.answered(), {touchPoints: 0});
	t.is((await iPad.click()).platform, 'ios');
	t.is((await mac.click()).platform, 'desktop');
});

test('a desktop that is sent on at once has posted before', async (t) => {
	const opened = await open(t, 'desktop', {leaves: true}, {fallbackUrl: 'https://shop.example.com/'});
	await opened.page.waitForURL('https://shop.example.com/');
	t.is(opened.posted.length, 1);
});

for (const [title, reader, options, body] of [
	['a visitor with the privacy header sends no signals', 'iPhone', {extraHTTPHeaders: {'Sec-GPC': '1'}}, {}],
	[
		'a visitor with the privacy property sends no signals',
		'iPhone',
		{before: () => Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})},
		{},
	],
	['a link that is not deferred asks nothing', 'android', {}, {deferredDeepLinking: false}],
] as const) {
	test(title, async (t) => {
		const opened = await open(t, reader, options, body);
		t.is(await opened.leave(), 0);
	});
}
