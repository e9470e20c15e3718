import test, {type ExecutionContext} from 'ava';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import type {ReaderName} from './_readers.ts';
import {type Stage, signalsOf, startStage, tokenOf, type VisitOptions, visit} from './_stage.ts';

let stage: Stage;
let acme: TestOrganization;
test.before(async () => {
	stage = await startStage();
	acme = await organization(stage.service);
});
test.after.always(() => stage?.stop());

const open = async (t: ExecutionContext, reader: ReaderName, options: VisitOptions = {}, body: object = {}) => {
	const {id, url} = await link(acme, body);
	const visited = await visit(stage, t, url, reader, options);
	return {
		...visited,
		answered: () => signalsOf(visited),
		/** What the service keeps of the click. */
		click: () => stage.service.services.db('match_clicks').where({link_id: id}).first(),
		/** Goes away, as a reader does; what the page still had to say it has said then. */
		leave: () => visited.page.goto('https://elsewhere.example.com/'),
	};
};

test('a page posts once what only script can see, as text that needs no permission of another origin', async (t) => {
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
	await opened.leave();
	t.is(opened.posted.length, 1);
	t.deepEqual(opened.complaints, []);
});

test('an Android browser adds its model and version', async (t) => {
	const opened = await open(t, 'android', {hints: {model: 'Pixel 8', platformVersion: '14.0.0'}});
	t.like(await opened.answered(), {model: 'Pixel 8', platformVersion: '14.0.0', touchPoints: 5});
	t.like(await opened.click(), {platform: 'android', device_model: 'Pixel 8', os_major: 14});
	await opened.leave();
	t.is(opened.posted.length, 1);
});

test('a reader who leaves before the model is known takes the rest along', async (t) => {
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
	await opened.leave();
	t.is(opened.posted.length, 1);
	t.like(JSON.parse(opened.posted[0]?.postData() ?? ''), {timezone: 'America/Sao_Paulo'});
});

test('an iPad is told from a Mac by its touch screen', async (t) => {
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

test('who asks for privacy by the header is asked nothing', async (t) => {
	const opened = await open(t, 'iPhone', {extraHTTPHeaders: {'Sec-GPC': '1'}});
	await opened.leave();
	t.deepEqual(opened.posted, []);
});

test('who asks for privacy by the property is asked nothing', async (t) => {
	const opened = await open(t, 'iPhone', {
		before: () => Object.defineProperty(navigator, 'globalPrivacyControl', {value: true}),
	});
	await opened.leave();
	t.deepEqual(opened.posted, []);
});

test('a link that is not deferred asks nothing', async (t) => {
	const opened = await open(t, 'android', {}, {deferredDeepLinking: false});
	await opened.leave();
	t.deepEqual(opened.posted, []);
});
