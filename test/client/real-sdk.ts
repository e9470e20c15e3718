import {randomUUID} from 'node:crypto';
import test from 'ava';
import {type LinkData, type MatchFound, OplinkApiError} from '../../src/client/oplink.ts';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {serviceOf} from '../helpers/service.ts';
import {losingTheFirstAnswer, oplinkOf} from './_oplink-of.ts';

const service = serviceOf(test);

const iPhone =
	'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

/** Visits a link's page with a phone. @returns the token that the page copies. */
const visit = async ({orgKey}: TestOrganization, {shortCode}: {shortCode: string}): Promise<string> => {
	const page = await anonymous(service).get(`/${orgKey}/${shortCode}`, {'User-Agent': iPhone});
	const token = /opl_[A-Za-z0-9]{32}/.exec(page.text)?.[0];
	if (token === undefined) {
		throw new Error(`the page has no token: ${page.status}`);
	}

	return token;
};

const eventsOf = ({id}: TestOrganization) => service.services.db('events').where({organization_id: id});

test('a session distinguishes a new device from a known one, which is tied to a user and untied', async (t) => {
	const {oplink} = oplinkOf(service, await organization(service));
	const deviceId = randomUUID();
	const first = await oplink.session({deviceId, platform: 'iOS', osVersion: '18.5', appVersion: '1.2'});
	t.deepEqual(first, {deviceId, sessionId: String(first?.sessionId), isNewDevice: true});
	t.like(await oplink.session({deviceId}), {deviceId, isNewDevice: false});
	t.deepEqual(await oplink.identify(deviceId, 'user-1', {plan: 'pro'}), {deviceId, externalUserId: 'user-1'});
	t.deepEqual(await oplink.clearIdentity(deviceId), {deviceId, externalUserId: null});
});

test('an event is counted once, also after a lost answer', async (t) => {
	const org = await organization(service);
	const {id} = await link(org);
	const deviceId = randomUUID();
	await oplinkOf(service, org).oplink.session({deviceId});
	const {oplink, waits} = oplinkOf(service, org, {fetch: losingTheFirstAnswer()});
	const occurredAt = new Date('2026-03-10T11:00:00.000Z');
	t.deepEqual(await oplink.track(deviceId, 'signup', {step: 2}, {occurredAt, linkId: id}), {accepted: true});
	t.deepEqual(waits, [0.5]);
	const [event, ...others] = await eventsOf(org);
	t.like(event, {event_name: 'signup', properties: {step: 2}, link_id: id, occurred_at: occurredAt});
	t.deepEqual(others, []);
	t.deepEqual(await oplink.track(deviceId, 'signup'), {accepted: true});
	t.is((await eventsOf(org)).length, 2);
});

test('a device without a session, and properties that are too large, are refused at once', async (t) => {
	const {oplink, waits} = oplinkOf(service, await organization(service));
	const deviceId = randomUUID();
	for (const call of [
		() => oplink.identify(deviceId, 'user-1'),
		() => oplink.clearIdentity(deviceId),
		() => oplink.track(deviceId, 'signup'),
	]) {
		const unknown = await t.throwsAsync(call(), {instanceOf: OplinkApiError});
		t.is(unknown?.status, 404);
		t.true(unknown?.message.startsWith(`Unknown deviceId ${deviceId}`));
	}

	await oplink.session({deviceId});
	const tooLarge = oplink.track(deviceId, 'signup', {text: 'x'.repeat(10_240)});
	const large = await t.throwsAsync(tooLarge, {instanceOf: OplinkApiError});
	t.is(large?.status, 400);
	t.true(large?.message.startsWith('Validation failed: properties '), large?.message);
	t.is(large?.details?.[0]?.field, 'properties');
	t.deepEqual(waits, []);
});

test('start hands the link that led to the install to the listeners, once', async (t) => {
	const org = await organization(service);
	const created = await link(org, {path: '/sale', params: {code: 'SPRING'}});
	const clipboardToken = await visit(org, created);
	const {oplink} = oplinkOf(service, org, {log: (message, error) => t.log(message, error)});
	const received: Array<[LinkData, MatchFound]> = [];
	oplink.onLink((...given) => void received.push(given));
	const device = {deviceId: randomUUID(), platform: 'iOS', osVersion: '18.5', clipboardToken} as const;
	await oplink.start(device);
	await oplink.start(device);
	const data = {linkId: created.id, path: '/sale', params: {code: 'SPRING'}};
	t.deepEqual(received, [[data, {matched: true, matchMethod: 'CLIPBOARD', matchConfidence: 'exact', ...data}]]);
});

test('a match whose answer was lost is found by its retry', async (t) => {
	const org = await organization(service);
	const created = await link(org, {path: '/sale'});
	const clipboardToken = await visit(org, created);
	const {oplink} = oplinkOf(service, org, {fetch: losingTheFirstAnswer()});
	const deviceId = randomUUID();
	t.like(await oplink.match({clipboardToken, deviceId}), {matched: true, linkId: created.id, path: '/sale'});
});

// Its waits move the clock.
test.serial(
	'without a match there is only that, with a key and without, and beyond the limit after a wait',
	async (t) => {
		const org = await organization(service);
		for (const clientKey of [org.clientKey, undefined]) {
			const {oplink, waits} = oplinkOf(service, org, {clientKey});
			for (let count = 0; count < 31; count += 1) {
				t.deepEqual(await oplink.match({deviceId: randomUUID()}), {matched: false, matchMethod: 'NONE'});
			}

			t.is(waits.length, 1);
			t.true(Number(waits[0]) >= 1 && Number(waits[0]) <= 60);
		}
	},
);

test('an app creates a link; where the request fails the query form of a link serves', async (t) => {
	const org = await organization(service);
	const template = {name: 'invite', path: '/invite', clientCreate: {fields: ['params']}};
	await org.operator.post('/templates', template);
	const {url} = await link(org, {path: '/invite', shortCode: 'invite'});
	const errors: unknown[] = [];
	const log = (_message: string, error: unknown) => errors.push(error);
	const body = {deviceId: randomUUID(), template: 'invite', params: {ref: '42', 'à la carte': 'a&b=c+d'}};
	const {oplink} = oplinkOf(service, org, {log});
	const made = await oplink.createLink(body, {link: url});
	t.true(made.stored);
	t.deepEqual(await oplink.createLink(body, {link: url}), made);
	t.deepEqual(errors, []);

	const offline = oplinkOf(service, org, {log, fetch: () => Promise.reject(new TypeError('offline'))});
	const fallback = await offline.oplink.createLink(body, {link: `${url}?ref=1&utm_source=app#top`});
	t.deepEqual(fallback, {url: `${url}?utm_source=app&ref=42&%C3%A0%20la%20carte=a%26b%3Dc%2Bd`, stored: false});
	t.deepEqual(offline.waits, [0.5, 1]);
	t.is(errors.length, 1);
	const data = await anonymous(service).get(`${new URL(fallback.url).pathname}/data${new URL(fallback.url).search}`);
	t.deepEqual(data.body.params, {ref: '42', 'à la carte': 'a&b=c+d', utm_source: 'app'});
	const {params, ...closed} = body;
	const refused = await oplink.createLink({...closed, title: 'not open', params}, {link: url});
	t.false(refused.stored);
	await t.throwsAsync(oplink.createLink({...closed, title: 'not open'}), {instanceOf: OplinkApiError});
});
