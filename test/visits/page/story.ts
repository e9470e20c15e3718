import test, {type ExecutionContext} from 'ava';
import {Oplink} from '../../../src/client/oplink.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {userAgents} from '../matches/_phones.ts';
import {signalsOf, startStage, visit} from './_stage.ts';

const stage = startedFor(test, () => startStage());

/** A link of a new organization, and a phone that will open its page and its app from one address. */
const begin = async () => {
	const {service} = stage;
	const acme = await organization(service);
	const made = await link(acme, {path: '/item/7', params: {coupon: 'C7'}});
	const {address} = anonymous(service);
	const oplink = new Oplink({
		baseUrl: service.url,
		clientKey: acme.clientKey,
		fetch: (url, init) => fetch(url, {...init, headers: {...init?.headers, 'X-Forwarded-For': address}} as RequestInit),
	});
	return {acme, made, oplink, atHome: {extraHTTPHeaders: {'X-Forwarded-For': address}}};
};

/** The app's match, and its calls after it: a session, an identity and an event, which counts for the link. */
const matchAndGoOn = async (
	t: ExecutionContext,
	{acme, made, oplink}: Awaited<ReturnType<typeof begin>>,
	device: {deviceId: string; platform: 'iOS' | 'Android'},
	said: object,
	[matchMethod, matchConfidence]: [method: string, confidence: string],
): Promise<void> => {
	const screen = {linkId: made.id, path: '/item/7', params: {coupon: 'C7'}};
	t.deepEqual(await oplink.match({...device, ...said}), {matched: true, matchMethod, matchConfidence, ...screen});
	const {deviceId} = device;
	t.is((await oplink.session(device))?.deviceId, deviceId);
	await oplink.identify(deviceId, 'user-7');
	await oplink.track(deviceId, 'purchase', {amount: 12});
	const events = await stage.service.services.db('events').where({organization_id: acme.id});
	t.like(events, {length: 1, 0: {link_id: made.id, event_name: 'purchase'}});
	const {body} = await admin(stage.service).get(`/admin/organizations/${acme.id}/stats`);
	t.like(body.totals, {clicks: 1, matches: 1, events: 1});
};

// Both taps copy, and one browser has one clipboard.
test.serial('iPhone: from the tap, by the clipboard, through the store to the right screen', async (t) => {
	const story = await begin();
	const {page, context} = await visit(stage, t, story.made.url, 'iPhone', story.atHome);
	await page.getByRole('link', {name: /^Get Acme .+ on the App Store$/}).tap();
	await page.waitForURL('https://apps.apple.com/**');
	await context.grantPermissions(['clipboard-read'], {origin: stage.url});
	const app = await context.newPage();
	await app.goto(`${stage.url}/health/live`);
	const clipboardToken = await app.evaluate(() => navigator.clipboard.readText());
	const device = {deviceId: 'an-iphone', platform: 'iOS'} as const;
	await matchAndGoOn(t, story, device, {clipboardToken}, ['CLIPBOARD', 'exact']);
});

test.serial('Android: from the tap, by the store referrer, to the right screen', async (t) => {
	const story = await begin();
	const {page} = await visit(stage, t, story.made.url, 'android', story.atHome);
	await page.getByRole('link', {name: /^Get Acme .+ on Google Play$/}).tap();
	await page.waitForURL('https://play.google.com/**');
	const installReferrer = new URL(page.url()).searchParams.get('referrer') ?? '';
	const device = {deviceId: 'an-android', platform: 'Android'} as const;
	await matchAndGoOn(t, story, device, {installReferrer}, ['INSTALL_REFERRER', 'exact']);
});

test('by fingerprint alone: the timezone sent by the page makes it exact', async (t) => {
	const story = await begin();
	const visited = await visit(stage, t, story.made.url, 'iPhone', {
		...story.atHome,
		userAgent: userAgents.iPhone,
		locale: 'de-DE',
		timezoneId: 'Europe/Berlin',
	});
	const {page} = visited;
	await signalsOf(visited);
	await page.getByRole('link', {name: 'Weiter, ohne zu kopieren'}).tap();
	await page.waitForURL('https://apps.apple.com/**');
	const device = {deviceId: 'another-iphone', platform: 'iOS'} as const;
	const said = {osVersion: '17.5.1', language: 'de-DE', timezone: 'Europe/Berlin'};
	await matchAndGoOn(t, story, device, said, ['FINGERPRINT_EXACT', 'high']);
});

test('a text in the link to the app stays within it', async (t) => {
	const text = 'x;package=com.evil;S.browser_fallback_url=https%3A%2F%2Fevil.example.com;end#Intent;scheme=javascript';
	const {url} = await link(await organization(stage.service), {path: `/${text}`, params: {a: text}});
	const {page, destinations} = await visit(stage, t, url, 'android');
	await page.getByRole('link', {name: 'Open in the app'}).tap();
	await page.getByText('Code copied').waitFor();
	const [fields = '', ...others] = (destinations[0] ?? '').split('#Intent;').slice(1);
	t.deepEqual(others, []);
	const names = fields.split(';').map((field) => field.split('=')[0]);
	t.deepEqual(names, ['scheme', 'package', 'S.browser_fallback_url', 'end']);
	t.regex(fields, /^scheme=acmeshop;package=com\.acme\.shop;/);
});

test('script that got into the page after all is refused by its policy', async (t) => {
	const {url} = await link(await organization(stage.service));
	const {page, complaints, elsewhere} = await visit(stage, t, url, 'iPhone');
	await page.evaluate(() => {
		const script = document.createElement('script');
		script.textContent = 'document.title = "taken over"';
		const frame = document.createElement('iframe');
		frame.src = 'https://evil.example.com/';
		const button = document.createElement('div');
		button.innerHTML = `<button id="in" onclick="document.title = 'taken over'" style="color: red">x</button>`;
		document.body.append(script, frame, button);
		document.querySelector<HTMLElement>('#in')?.click();
		return fetch('https://evil.example.com/').catch(() => {});
	});
	t.not(await page.title(), 'taken over');
	for (const refusal of [
		/^Executing inline script violates .* 'script-src/,
		/^Executing inline event handler violates .* 'script-src/,
		/^Applying inline style violates .* 'style-src/,
		/^Framing .* violates .* "default-src 'none'"/,
		/^Connecting to .* violates .* "connect-src 'self'"/,
	]) {
		const found = complaints.some((complaint) => refusal.test(complaint));
		t.true(found, `${refusal} in ${complaints.join('; ')}`);
	}

	t.deepEqual(elsewhere, []);
});
