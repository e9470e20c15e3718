import test from 'ava';
import {forgetExpiredMatches} from '../../../src/visits/matches/match-clicks.ts';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf, storedRows, type TestService} from '../../helpers/service.ts';
import {linked, ownService, statsOf} from '../_own.ts';
import {clicked, device, iPhoneApp, network, open, visit} from '../matches/_phones.ts';

const service = serviceOf(test);

const dataOf = ({id}: TestOrganization, kind: 'devices' | 'users', name: string) =>
	`/admin/organizations/${id}/${kind}/${encodeURIComponent(name)}/data`;

/** A tap, a first open that is matched to it, who uses the device, and two events. */
const story = async (acme: TestOrganization, deviceId: string, externalUserId: string, on = service) => {
	const address = network()(7);
	const tap = await clicked(on, acme, address);
	await open(on, address, {...iPhoneApp, clipboardToken: tap.token, deviceId}, acme);
	// What a guess would have answered is added to the attempt after the answer.
	await on.services.background.settle();
	await acme.client.post('/sdk/session', {deviceId, platform: 'iOS', deviceModel: 'iPhone15,2', appVersion: '4.2'});
	await acme.client.post('/sdk/identity', {deviceId, externalUserId, traits: {email: `${externalUserId}@example.com`}});
	const order = {eventId: `order of ${deviceId}`, properties: {city: `City of ${externalUserId}`}};
	await acme.client.post('/sdk/events', {deviceId, eventName: 'purchase', ...order});
	await acme.client.post('/sdk/events', {deviceId, eventName: 'open', eventId: `open of ${deviceId}`});
	return {...tap, address};
};

/** The whole contents of the database, so that a test sees every remainder. */
const everything = async ({services: {db}}: TestService): Promise<string> => {
	const tables = ['devices', 'events', 'match_attempts', 'match_clicks', 'clicks', 'click_contexts', 'audit_log'];
	const selects = tables.map((table) => `SELECT CAST(one AS text) AS text FROM ${table} AS one`);
	const {rows} = await db.raw(selects.join(' UNION ALL '));
	return rows.map(({text}: {text: string}) => text).join('\n');
};

test('an export is one document with the device, its events, its match attempts and the click that it claimed', async (t) => {
	const acme = await organization(service);
	const {link} = await story(acme, 'device-of-ada', 'ada');
	await story(acme, 'device-of-bob', 'bob');
	const {status, headers, body} = await admin(service).get(dataOf(acme, 'devices', 'device-of-ada'));
	t.deepEqual([status, headers['cache-control']], [200, 'no-store']);
	t.is(Object.keys(body).join(), 'exportedAt,organization,subject,devices,events,matchAttempts,clicks');
	const {organization: owner, subject, events, ...exported} = body;
	t.deepEqual(owner, {id: acme.id, orgKey: acme.orgKey, name: acme.name});
	const deviceId = 'device-of-ada';
	t.deepEqual(subject, {deviceId});
	const identity = {externalUserId: 'ada', traits: {email: 'ada@example.com'}};
	t.like(exported, {
		devices: {length: 1, 0: {deviceId, deviceModel: 'iPhone15,2', ...identity, matchedLinkId: link.id}},
		matchAttempts: {length: 1, 0: {deviceId, matched: true, linkId: link.id}},
		clicks: {length: 1, 0: {linkId: link.id, platform: 'ios', matchMethod: 'CLIPBOARD', language: 'en-US'}},
	});
	const properties = events.map((event: {properties: object}) => JSON.stringify(event.properties));
	t.deepEqual(properties.toSorted(), ['{"city":"City of ada"}', '{}']);
});

test('a user is exported with all their devices and no others, whatever characters the id has', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const user = 'ada/77?ü%';
	for (const deviceId of ['user-device-1', 'user-device-2']) {
		await acme.client.post('/sdk/session', {deviceId});
		await acme.client.post('/sdk/identity', {deviceId, externalUserId: user});
	}

	await story(other, 'user-device-1', user);
	const {body} = await admin(service).get(dataOf(acme, 'users', user));
	t.deepEqual(body.subject, {externalUserId: user});
	const devices = body.devices.map(({deviceId}: {deviceId: string}) => deviceId);
	t.deepEqual(devices.toSorted(), ['user-device-1', 'user-device-2']);
	t.deepEqual([body.events, body.matchAttempts, body.clicks], [[], [], []]);
});

test('more than a batch of events is exported, each once', async (t) => {
	const acme = await organization(service);
	await acme.client.post('/sdk/session', {deviceId: 'busy-device'});
	await service.services.db.raw(
		`INSERT INTO events (id, organization_id, device_id, event_name, properties, occurred_at, received_at)
		SELECT gen_random_uuid(), ?, 'busy-device', 'tick', '{}', now(), now() FROM generate_series(1, 1203)`,
		[acme.id],
	);
	const {body} = await admin(service).get(dataOf(acme, 'devices', 'busy-device'));
	t.is(new Set(body.events.map(({id}: {id: string}) => id)).size, 1203);
});

test('erasing removes every trace of the device and changes no other device and no figure', async (t) => {
	const own = await ownService(t);
	const acme = await organization(own);
	await story(acme, 'device-of-bob', 'bob', own);
	const kept = (await admin(own).get(dataOf(acme, 'users', 'bob'))).body;
	const {link, address, cookie} = await story(acme, 'device-of-ada', 'ada', own);
	// The same browser comes again, and its app asks once more, from elsewhere and without a key.
	await visit(own, link, address, {headers: cookie === null ? {} : {Cookie: cookie}});
	own.clock.advance(60);
	await open(own, network()(9), device('device-of-ada'));
	// One half of the events is rolled up, the other half is not.
	await rollUp(own.services.db);
	await acme.client.post('/sdk/events', {deviceId: 'device-of-ada', eventName: 'late'});
	const figures = async () => [
		await statsOf(own, acme),
		await statsOf(own, acme, `linkId=${link.id}`),
		await own.services.db('click_counts').where({organization_id: acme.id}),
	];
	const before = await figures();

	const {status, body} = await admin(own).delete(dataOf(acme, 'devices', 'device-of-ada'));
	t.is(status, 200);
	t.like(body, {deviceId: 'device-of-ada', erased: {devices: 1, events: 3, matchAttempts: 2, clicks: 2}});
	t.deepEqual(await figures(), before);
	await rollUp(own.services.db);
	t.deepEqual(await figures(), before);
	const {body: stays} = await admin(own).get(dataOf(acme, 'users', 'bob'));
	t.deepEqual({...stays, exportedAt: kept.exportedAt}, kept);
	const left = await everything(own);
	for (const text of ['device-of-ada', 'ada@example.com', 'City of ada', 'order of device-of-ada']) {
		t.false(left.includes(text), text);
	}

	const audit = await admin(own).get(`/admin/organizations/${acme.id}/audit-log`);
	const record = audit.body.data.find(({action}: {action: string}) => action === 'ERASE');
	t.like(record, {entityType: 'Device', entityId: null, details: body.erased});
});

test('the click that set the cookie is found and erased by the match of a later one', async (t) => {
	const {acme, ...shared} = await linked(service);
	const {cookie} = await visit(service, shared, network()(1));
	service.clock.advance(660);
	const {token} = await visit(service, shared, network()(1), {headers: {Cookie: String(cookie)}});
	await open(service, network()(1), {...iPhoneApp, clipboardToken: token, deviceId: 'device-of-eve'});
	const path = dataOf(acme, 'devices', 'device-of-eve');
	t.is((await admin(service).get(path)).body.clicks.length, 2);
	t.is((await admin(service).delete(path)).body.erased.clicks, 2);
	const rows = await storedRows(service, 'match_clicks', {link_id: shared.id});
	t.like(rows, {length: 2, 0: {visitor: null}, 1: {visitor: null}});
});

test('a click is found and erased also after the hash of its device is gone', async (t) => {
	const own = await ownService(t);
	const acme = await organization(own);
	await story(acme, 'device-of-ada', 'ada', own);
	own.clock.advance(48 * 3600);
	await forgetExpiredMatches(own.services.db, own.clock.now());
	const path = dataOf(acme, 'users', 'ada');
	const {body} = await admin(own).get(path);
	t.like(body.clicks, {length: 1, 0: {deviceHash: null, language: 'en-US'}});
	t.is((await admin(own).delete(path)).body.erased.clicks, 1);
	const [click] = await storedRows(own, 'clicks', {organization_id: acme.id});
	t.like(click, {language: null, timezone: null, device_model: null, browser: null, platform: 'ios'});
});

test('a second erasure and an export of an unknown subject are 404 and change nothing', async (t) => {
	const acme = await organization(service);
	await story(acme, 'device-twice', 'twice');
	const path = dataOf(acme, 'users', 'twice');
	t.is((await admin(service).delete(path)).status, 200);
	const ofUser = {status: 404, body: {message: 'Nothing is stored about this user'}};
	t.like(await admin(service).delete(path), ofUser);
	t.like(await admin(service).get(path), ofUser);
	const byDevice = await admin(service).get(dataOf(acme, 'devices', 'device-twice'));
	t.like(byDevice, {status: 404, body: {message: 'Nothing is stored about this device'}});
	const audit = await admin(service).get(`/admin/organizations/${acme.id}/audit-log`);
	t.is(audit.body.data.filter(({action}: {action: string}) => action === 'ERASE').length, 1);
});

test('events that come in while their device is erased are erased or refused, never left over', async (t) => {
	const acme = await organization(service);
	const deviceId = 'device-in-a-race';
	for (let round = 0; round < 5; round += 1) {
		await acme.client.post('/sdk/session', {deviceId});
		const event = () => acme.client.post('/sdk/events', {deviceId, eventName: 'race'});
		const [, erasure] = await Promise.all([
			Promise.all(Array.from({length: 6}, event)),
			admin(service).delete(dataOf(acme, 'devices', deviceId)),
			Promise.all(Array.from({length: 6}, event)),
		]);
		t.is(erasure.status, 200);
		t.is((await admin(service).get(dataOf(acme, 'devices', deviceId))).status, 404);
	}
});
