import test from 'ava';
import {Oplink} from '../../src/client/oplink.ts';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {serviceOf} from '../helpers/service.ts';

const iPhone =
	'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const pixel =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

const service = serviceOf(test);

/** The app on a phone: the client library, from the phone's own address. */
const app = (address: string, clientKey: string) =>
	new Oplink({
		baseUrl: service.url,
		clientKey,
		fetch: (url, init) => fetch(url, {...init, headers: {...init?.headers, 'X-Forwarded-For': address}} as RequestInit),
	});

/** What an app does with its link: a session, an identity, and an event that is counted for the link. */
const goOn = async (oplink: Oplink, deviceId: string, platform: 'iOS' | 'Android', organizationId: string) => {
	const session = await oplink.session({deviceId, platform});
	await oplink.identify(deviceId, `user of ${deviceId}`);
	await oplink.track(deviceId, 'purchase', {amount: 12});
	const [event] = await service.services.db('events').where({organization_id: organizationId, device_id: deviceId});
	return {session, event};
};

for (const [platform, agent, carry] of [
	['iOS', iPhone, (token: string) => ({clipboardToken: token})],
	['Android', pixel, (token: string) => ({installReferrer: token})],
] as const) {
	test(`${platform}: from the tap through the store to the right screen, and the event counts for the link`, async (t) => {
		const acme = await organization(service);
		const made = await link(acme, {path: '/item/7', params: {coupon: 'C7'}});
		const phone = anonymous(service);
		const page = await phone.get(new URL(made.url).pathname, {'User-Agent': agent});
		const [token = ''] = /opl_[A-Za-z0-9]{32}/.exec(page.text) ?? [];
		const deviceId = `phone-${platform}`;
		const oplink = app(phone.address, acme.clientKey);
		const match = await oplink.match({...carry(token), deviceId, platform});
		t.deepEqual(match, {
			matched: true,
			matchMethod: platform === 'iOS' ? 'CLIPBOARD' : 'INSTALL_REFERRER',
			matchConfidence: 'exact',
			linkId: made.id,
			path: '/item/7',
			params: {coupon: 'C7'},
		});
		const {session, event} = await goOn(oplink, deviceId, platform, acme.id);
		t.is(session?.deviceId, deviceId);
		t.is(event.link_id, made.id);
		const {body} = await admin(service).get(`/admin/organizations/${acme.id}/stats`);
		t.like(body.totals, {clicks: 1, matches: 1, events: 1});
	});
}

test('by fingerprint alone, with neither clipboard nor referrer', async (t) => {
	const acme = await organization(service);
	const made = await link(acme, {path: '/item/8'});
	const phone = anonymous(service);
	await phone.get(new URL(made.url).pathname, {
		'User-Agent': iPhone,
		'Accept-Language': 'de-DE',
		'Sec-CH-Timezone': 'Europe/Berlin',
	});
	const oplink = app(phone.address, acme.clientKey);
	const deviceId = 'phone-by-fingerprint';
	const match = await oplink.match({
		deviceId,
		platform: 'iOS',
		osVersion: '17.5.1',
		language: 'de-DE',
		timezone: 'Europe/Berlin',
	});
	t.like(match, {
		matched: true,
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'high',
		linkId: made.id,
		path: '/item/8',
	});
	const {event} = await goOn(oplink, deviceId, 'iOS', acme.id);
	t.is(event.link_id, made.id);
});
