import test from 'ava';
import {approvedDomain, link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf, startService} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';
import {startTwoServices} from '../../helpers/two-services.ts';
import {iPhoneApp, network, open, pathOf, visit} from '../matches/_phones.ts';
import {endpoint, startReceiver, subscribed, untilTrue} from './_receiver.ts';

const service = serviceOf(test);

type Clicks = {clicks: Array<Record<string, unknown>>};

test('clicks of people are sent in batches, without address and User-Agent, and crawlers are not', async (t) => {
	const acme = await organization(service);
	const receiver = await startReceiver(t);
	// Three bytes a character: the clicks of a body are cut by bytes.
	const title = '题'.repeat(255);
	const made = await link(acme, {title, tags: ['spring']});
	const host = network();
	await visit(service, made, host(1));
	await service.services.clickJournal.flushed({containing: [acme.id]});
	await endpoint(acme, {url: receiver.url, events: ['click.recorded'], filter: {tags: ['spring']}});
	const other = await link(acme, {tags: ['summer']});
	const visits = 120;
	for (let index = 0; index < visits; index += 1) {
		await visit(service, made, host(2 + index));
	}

	await visit(service, other, host(200));
	await anonymous(service, host(201)).get(pathOf(made.url), {'User-Agent': 'WhatsApp/2.23.20.0'});
	const received = () => receiver.all.flatMap(({json}) => (json.data as Clicks).clicks);
	await untilTrue(async () => received().length >= visits);
	const clicks = received();
	t.deepEqual([clicks.length, new Set(clicks.map(({id}) => id)).size], [visits, visits]);
	t.true(receiver.all.every(({json}) => (json.data as Clicks).clicks.length <= 100));
	t.true(receiver.all.every(({body}) => Buffer.byteLength(body) < 20_000));
	t.deepEqual(Object.keys(clicks[0] ?? {}).toSorted(), ['at', 'browser', 'country', 'id', 'link', 'platform']);
	t.deepEqual(clicks[0]?.['link'], {id: made.id, shortCode: made.shortCode, title});
	t.true(receiver.all.every(({body}) => !body.includes(host(2)) && !body.includes('AppleWebKit')));
});

test('a match and a miss are sent as match explain has them, without signals, a miss with its reason', async (t) => {
	const {acme, receiver} = await subscribed(t, service, 'match.found', 'match.missed');
	const host = network();
	const tapped = await visit(service, await link(acme), host(1), {query: '?ref=ann'});
	const device = {...iPhoneApp, deviceId: 'webhook-device'};
	t.true((await open(service, host(1), {...device, clipboardToken: tapped.token}, acme)).body.matched);
	t.false((await open(service, network()(1), {...device, deviceId: 'webhook-device-2'}, acme)).body.matched);
	const received = await receiver.until(2);
	const {body: explained} = await admin(service).get(`/admin/organizations/${acme.id}/matches`);
	for (const {signals: _, ...attempt} of explained.data) {
		const type = attempt.matched ? 'match.found' : 'match.missed';
		t.deepEqual(received.find(({json}) => json.type === type)?.json.data, attempt);
	}

	const found = received.find(({json}) => json.type === 'match.found');
	t.deepEqual(found?.json.data['query'], {ref: 'ann'});

	t.is(received.find(({json}) => json.type === 'match.missed')?.json.data['reason'], 'no_click');
});

test('an event is sent as it is stored', async (t) => {
	const {acme, receiver} = await subscribed(t, service, 'event.tracked');
	await acme.client.post('/sdk/session', {deviceId: 'device-7'});
	await acme.client.post('/sdk/events', {deviceId: 'device-7', eventName: 'purchase', properties: {price: 12.5}});
	const [received] = await receiver.until(1);
	t.like(received?.json.data, {eventName: 'purchase', deviceId: 'device-7', properties: {price: 12.5}, linkId: null});
});

test('a domain that is verified and one that lapses are sent', async (t) => {
	const {acme, receiver} = await subscribed(t, service, 'domain.verified', 'domain.lapsed');
	const {id} = await approvedDomain(acme, 'webhooks.acme.example');
	await acme.operator.post(`/domains/${id}/reject`, {});
	const received = await receiver.until(2);
	t.deepEqual(received.map(({json}) => json.type).toSorted(), ['domain.lapsed', 'domain.verified']);
	t.like(received[0]?.json.data, {id, hostname: 'webhooks.acme.example'});
});

test('a quota that is used up is sent with both its marks', async (t) => {
	// Of its own: quotas are looked at with the first endpoint of a process, and then once a minute.
	const own = await startedIn(t, startService());
	const acme = await organization(own);
	await admin(own).post(`/admin/organizations/${acme.id}/domains`, {hostname: 'quota.acme.example'});
	const receiver = await startReceiver(t);
	await endpoint(acme, {url: receiver.url, events: ['quota.reached'], filter: {tags: ['spring']}});
	const received = await receiver.until(2);
	const reached = {quota: 'domains', used: 1, limit: 1};
	const found = received
		.map(({json}) => json.data)
		.toSorted((one, other) => Number(one['percent']) - Number(other['percent']));
	t.deepEqual(found, [
		{...reached, percent: 80},
		{...reached, percent: 100},
	]);
});

test('two processes send each event once, and an endpoint made on one is known to the other at once', async (t) => {
	const pair = await startedIn(t, startTwoServices({}));
	const {one, other} = pair;
	const {acme, receiver, path} = await subscribed(t, one, 'link.created', 'event.tracked');
	const admins = [admin(one), admin(other)];
	const make = (_: unknown, index: number) =>
		admins[index % 2]?.post(`/admin/organizations/${acme.id}/links`, {path: `/sale/${index}`});
	const made = await Promise.all(Array.from({length: 60}, make));
	t.true(made.every((answer) => answer?.status === 201));
	await receiver.until(60);
	const {body} = await acme.operator.get(`${path}/deliveries`);
	const ids = receiver.all.map(({json}) => json.data['id']);
	t.deepEqual([body.total, new Set(ids).size, ids.length], [60, 60, 60]);
});
