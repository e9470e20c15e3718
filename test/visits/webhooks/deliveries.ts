import test from 'ava';
import {Webhook as StandardWebhook} from 'standardwebhooks';
import {Webhook as SvixWebhook} from 'svix';
import {runCli} from '../../cli/_run-cli.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {clicked, iPhoneApp, network, open, visit} from '../matches/_phones.ts';
import {deliveriesOf, endpoint, type Received, startReceiver, subscribed, untilTrue} from './_receiver.ts';

const service = serviceOf(test);

test('a new link is sent as the API answers it, and both libraries verify the signature', async (t) => {
	const {acme, receiver, secret} = await subscribed(t, service, 'link.created');
	const made = await link(acme, {path: '/sale', title: 'Red shoes', tags: ['spring']});
	const [{json, headers, body} = t.fail()] = await receiver.until(1);
	t.deepEqual(json, {type: 'link.created', timestamp: String(made['createdAt']), data: made});
	t.regex(headers['webhook-id'] ?? '', /^[0-9a-f-]{36}$/);
	t.regex(headers['webhook-signature'] ?? '', /^v1,[A-Za-z0-9+/]{43}=$/);
	// The service's clock stands in March; the libraries refuse what is older than five minutes.
	const now = Date.now;
	Date.now = () => service.clock.now().getTime();
	try {
		t.notThrows(() => new StandardWebhook(secret).verify(body, headers));
		t.notThrows(() => new SvixWebhook(secret).verify(body, headers));
		t.throws(() => new SvixWebhook(secret).verify(`${body} `, headers));
	} finally {
		Date.now = now;
	}
});

test('a changed and a deleted link are sent, and an update that changes nothing is not', async (t) => {
	const {acme, receiver} = await subscribed(t, service, 'link.updated', 'link.deleted');
	const {id, shortCode} = await link(acme, {externalId: 'ext-1', title: 'One'});
	await acme.server.patch(`/links/${id}`, {title: 'One'});
	const {body: changed} = await acme.server.patch(`/links/${id}`, {title: 'Two'});
	await acme.server.delete(`/links/${id}`);
	const received = await receiver.until(2);
	t.deepEqual(Object.fromEntries(received.map(({json: {type, data}}) => [type, data])), {
		'link.updated': changed,
		'link.deleted': {id, shortCode, externalId: 'ext-1'},
	});
});

test('filters by tag and channel hold, and another organization gets nothing', async (t) => {
	const [acme, other] = await Promise.all([organization(service), organization(service)]);
	const [spring, all, foreign] = await Promise.all([startReceiver(t), startReceiver(t), startReceiver(t)]);
	await endpoint(acme, {url: spring.url, events: ['*'], filter: {tags: ['spring'], channels: ['email']}});
	await endpoint(acme, {url: all.url, events: ['*']});
	await endpoint(other, {url: foreign.url, events: ['*']});
	await link(acme, {tags: ['spring'], channel: 'sms'});
	await link(acme, {tags: ['summer'], channel: 'email'});
	const wanted = await link(acme, {tags: ['summer', 'spring'], channel: 'email'});
	await all.until(3);
	const [received] = await spring.until(1);
	t.is(received?.json.data.id, wanted.id);
	t.deepEqual([spring.all.length, foreign.all.length], [1, 0]);
});

test('a link that has its tags and its channel from its template passes filters, also when it is deleted', async (t) => {
	const {acme, receiver: all} = await subscribed(t, service, '*');
	const receiver = await startReceiver(t);
	const filter = {tags: ['t1'], channels: ['email']};
	await endpoint(acme, {url: receiver.url, events: ['*'], filter});
	const labels = {tags: ['t1'], channel: 'email'};
	const {body: template} = await acme.operator.post('/templates', {name: 'Mail', ...labels});
	const own = await link(acme, {templateId: template.id, tags: ['t2']});
	const made = await link(acme, {templateId: template.id});
	const host = network();
	await visit(service, own, host(1));
	const {token} = await visit(service, made, host(2));
	await open(service, host(2), {...iPhoneApp, deviceId: 'labelled', clipboardToken: token}, acme);
	await acme.client.post('/sdk/events', {deviceId: 'labelled', eventName: 'purchase'});
	const types = ['link.created', 'click.recorded', 'match.found', 'event.tracked'];
	await receiver.until(types.length);
	await acme.server.delete(`/links/${own.id}`);
	await acme.server.delete(`/links/${made.id}`);
	const deleted = ({json}: Received) => json.type === 'link.deleted';
	await all.until(2, deleted);
	await receiver.until(1, deleted);
	t.deepEqual(receiver.all.map(({json}) => json.type).toSorted(), [...types, 'link.deleted'].toSorted());
	t.false(receiver.all.some(({body}) => body.includes(own.id)));
});

test.serial(
	'what is refused is tried again with the same id by the schedule, and all attempts are listed',
	async (t) => {
		const {acme, receiver, path} = await subscribed(t, service, 'link.created');
		receiver.respond((response) => response.writeHead(500).end('out of order'));
		await link(acme);
		await receiver.until(1);
		const delivery = async () => (await deliveriesOf(acme, path))[0];
		await untilTrue(async () => (await delivery()).tries.length === 1);
		service.clock.advance(4.9);
		receiver.respond((response) => response.writeHead(302, {Location: 'http://127.0.0.1:1/'}).end());
		service.clock.advance(1);
		await receiver.until(2);
		receiver.respond((response) => response.writeHead(201).end('thanks'));
		await untilTrue(async () => (await delivery()).tries.length === 2);
		service.clock.advance(331);
		const received = await receiver.until(3);
		t.is(new Set(received.map(({headers}) => headers['webhook-id'])).size, 1);
		await untilTrue(async () => (await delivery()).status === 'DELIVERED');
		const tries = [
			{status: 500, answer: 'out of order', error: null},
			{status: 302, answer: '', error: null},
			{status: 201, answer: 'thanks', error: null},
		];
		t.like(await delivery(), {
			type: 'link.created',
			status: 'DELIVERED',
			nextTryAt: null,
			tries: {...tries, length: 3},
		});
	},
);

test.serial('429 with Retry-After is heeded, 410 disables at once, and the other endpoint is notified', async (t) => {
	const acme = await organization(service);
	const [gone, busy] = await Promise.all([startReceiver(t), startReceiver(t)]);
	const {id} = await endpoint(acme, {url: gone.url, events: ['link.created']});
	const {id: busyId} = await endpoint(acme, {url: busy.url, events: ['*']});
	gone.respond((response) => response.writeHead(410).end());
	busy.respond((response, {json: {type}}) =>
		(type === 'link.created' ? response.writeHead(429, {'Retry-After': '900'}) : response.writeHead(200)).end(),
	);
	await link(acme);
	const [disabled] = await busy.until(1, ({json}) => json.type === 'endpoint.disabled');
	t.deepEqual(disabled?.json.data, {id, url: gone.url, reason: 'It answered 410 Gone'});
	const shown = await acme.operator.get(`/webhook-endpoints/${id}`);
	t.like(shown, {body: {enabled: false, disabledReason: 'It answered 410 Gone'}});
	const deliveries = await deliveriesOf(acme, `/webhook-endpoints/${busyId}`);
	const refused = deliveries.find(({type}: {type: string}) => type === 'link.created');
	t.is(Date.parse(refused.nextTryAt) - service.clock.now().getTime(), 900_000);
	const {body: audit} = await acme.operator.get('/audit-log');
	t.true(audit.data.some(({action, entityId}: Record<string, string>) => action === 'DISABLE' && entityId === id));
	const {body: diagnosis} = await admin(service).get('/admin/doctor');
	const finding = diagnosis.findings.find(({check}: {check: string}) => check === 'webhooks.disabled');
	t.true(finding?.message.includes(gone.url));
	const {text} = await admin(service).get('/metrics');
	t.regex(text, /oplink_webhook_endpoints_disabled_total 1/);
});

test.serial('an endpoint that answered nothing well for five days is disabled', async (t) => {
	const {acme, receiver, path} = await subscribed(t, service, 'link.created');
	receiver.respond((response) => response.writeHead(500).end());
	await link(acme);
	await receiver.until(1);
	const shown = () => acme.operator.get(path);
	const tries = async () => (await deliveriesOf(acme, path)).at(-1).tries.length;
	await untilTrue(async () => (await tries()) === 1);
	service.clock.advance(4 * 86_400);
	await receiver.until(2);
	await untilTrue(async () => (await tries()) === 2);
	t.true((await shown()).body.enabled);
	service.clock.advance(86_401);
	await untilTrue(async () => !(await shown()).body.enabled);
	t.is((await shown()).body.disabledReason, 'It answered no delivery with 2xx for 5 days');
});

test.serial('after a rotation both secrets sign for 24 hours, then the new one alone', async (t) => {
	const {acme, receiver, secret, path} = await subscribed(t, service, 'link.created');
	const {body: rotated} = await acme.operator.post(`${path}/rotate`, {});
	t.regex(rotated.secret, /^whsec_/);
	t.not(rotated.secret, secret);
	await link(acme);
	const [first] = await receiver.until(1);
	const signed = (by: string, received: Received | undefined) => {
		const {headers = {}, body = ''} = received ?? {};
		const at = new Date(Number(headers['webhook-timestamp']) * 1000);
		return new SvixWebhook(by).sign(headers['webhook-id'] ?? '', at, body);
	};
	const both = (received: Received | undefined) => `${signed(rotated.secret, received)} ${signed(secret, received)}`;
	t.is(first?.headers['webhook-signature'], both(first));
	t.true((await acme.operator.post(`${path}/test`, {})).body.ok);
	const isTest = ({json}: Received) => json.type === 'endpoint.test';
	const [tested] = await receiver.until(1, isTest);
	t.is(tested?.headers['webhook-signature'], both(tested));
	service.clock.advance(24 * 3600 + 1);
	await link(acme);
	const [, second] = await receiver.until(2, ({json}) => json.type === 'link.created');
	t.is(second?.headers['webhook-signature'], signed(rotated.secret, second));
	await acme.operator.post(`${path}/test`, {});
	const [, alone] = await receiver.until(2, isTest);
	t.is(alone?.headers['webhook-signature'], signed(rotated.secret, alone));
});

test('test sends endpoint.test and answers what came back; replay sends a delivery again with its id', async (t) => {
	const {acme, receiver, path} = await subscribed(t, service, 'link.created');
	receiver.respond((response) => response.writeHead(200).end('thanks'));
	const answered = {ok: true, status: 200, answer: 'thanks', error: null};
	t.like(await acme.operator.post(`${path}/test`, {}), {status: 200, body: answered});
	t.is(receiver.all[0]?.json.type, 'endpoint.test');
	receiver.respond((response) => response.writeHead(503).end());
	t.like((await acme.operator.post(`${path}/test`, {})).body, {ok: false, status: 503});
	receiver.respond((response) => response.writeHead(204).end());
	await link(acme);
	const [sent] = await receiver.until(1, ({json}) => json.type === 'link.created');
	const delivery = sent?.headers['webhook-id'] ?? '';
	const list = () => acme.operator.get(`${path}/deliveries?status=DELIVERED`);
	await untilTrue(async () => (await list()).body.data.some(({id: own}: {id: string}) => own === delivery));
	t.deepEqual((await acme.operator.post(`${path}/deliveries/${delivery}/replay`, {})).body, {replayed: 1});
	const [, again] = await receiver.until(2, ({json}) => json.type === 'link.created');
	t.deepEqual([again?.headers['webhook-id'], again?.body], [delivery, sent?.body]);
	const since = new Date(service.clock.now().getTime() - 1000).toISOString();
	t.deepEqual((await acme.operator.post(`${path}/replay`, {since})).body, {replayed: 1});
	await receiver.until(3, ({json}) => json.type === 'link.created');
	const other = await organization(service);
	t.is((await acme.operator.post(`${path}/deliveries/00000000-0000-4000-8000-000000000000/replay`, {})).status, 404);
	t.is((await other.operator.get(`${path}/deliveries`)).status, 404);
	t.is((await other.operator.post(`${path}/test`, {})).status, 404);
});

test('of eleven endpoints that are made at once ten are there', async (t) => {
	const acme = await organization(service);
	const make = (_: unknown, index: number) =>
		acme.operator.post('/webhook-endpoints', {url: `http://127.0.0.1:9/${index}`, events: ['*']});
	const answers = await Promise.all(Array.from({length: 11}, make));
	t.deepEqual(answers.map(({status}) => status).toSorted(), [...Array(10).fill(201), 409]);
	t.is((await acme.operator.get('/webhook-endpoints')).body.total, 10);
});

test('what deliveries hold of a person is exported and erased with them, and a waiting one is not sent', async (t) => {
	const {acme, receiver, path} = await subscribed(t, service, '*');
	const host = network();
	const tapped = await clicked(service, acme, host(1));
	const deviceId = 'device of "Ann"';
	t.true((await open(service, host(1), {...iPhoneApp, deviceId, clipboardToken: tapped.token}, acme)).body.matched);
	await acme.client.post('/sdk/session', {deviceId});
	await acme.client.post('/sdk/session', {deviceId: 'another-device'});
	await receiver.until(1, ({json}) => json.type === 'match.found');
	await receiver.until(1, ({json}) => json.type === 'click.recorded');
	receiver.respond((response, {body}) => response.writeHead(500).end(body));
	await acme.client.post('/sdk/events', {deviceId, eventName: 'purchase'});
	await acme.client.post('/sdk/events', {deviceId: 'another-device', eventName: 'purchase'});
	const deliveries = () => deliveriesOf(acme, path);
	const isTried = ({type, tries}: {type: string; tries: unknown[]}) => type === 'event.tracked' && tries.length === 1;
	await untilTrue(async () => (await deliveries()).filter(isTried).length === 2);
	const {body: exported} = await acme.operator.get(`/devices/${encodeURIComponent(deviceId)}/data`);
	t.is(exported.deliveries.length, 3);
	t.true(exported.deliveries.every(({body}: {body: string}) => body.includes('Ann') || body.includes('click')));
	const {body: erased} = await acme.operator.delete(`/devices/${encodeURIComponent(deviceId)}/data`);
	t.is(erased.erased.deliveries, exported.deliveries.length);
	const {rows} = await service.services.db.raw(
		`SELECT body, answer, status FROM endpoint_deliveries JOIN (SELECT delivery_id, answer FROM delivery_tries) AS tries ON delivery_id = id
		WHERE organization_id = ?`,
		[acme.id],
	);
	t.false(JSON.stringify(rows).includes('Ann'));
	const events = (await deliveries()).filter(({type}: {type: string}) => type === 'event.tracked');
	t.deepEqual(events.map(({status}: {status: string}) => status).toSorted(), ['FAILED', 'PENDING']);
});

test('the commands add, show, test, rotate, list, replay and delete an endpoint, and the secret is shown twice only', async (t) => {
	const acme = await organization(service);
	const receiver = await startReceiver(t);
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const cli = (...argv: string[]) => runCli(['endpoints', ...argv, '--org', acme.orgKey], {env});
	const json = async (...argv: string[]) => JSON.parse((await cli(...argv, '--json')).stdout);
	t.regex((await cli('list')).stderr, /^None yet\. Next: oplink endpoints add/);
	const added = await cli('add', receiver.url, '--event', 'link.created', '--tag', 'spring', '--description', 'CRM');
	t.is(added.exitCode, 0);
	t.regex(added.stdout, /^secret +whsec_/m);
	t.regex(added.stderr, /shown once/);
	const [{id}] = (await json('list')).data;
	t.false((await cli('show', id)).stdout.includes('whsec_'));
	const moved = `${receiver.url}/v2`;
	const updated = await json('update', id, '--event', '*', '--address', moved);
	t.deepEqual([updated.events, updated.url], [['*'], moved]);
	t.is((await cli('update', id)).exitCode, 2);
	t.is((await cli('test', id)).exitCode, 0);
	receiver.respond((response) => response.writeHead(500).end());
	t.is((await cli('test', id)).exitCode, 1);
	t.regex((await cli('rotate', id, '--yes')).stdout, /whsec_/);
	const deliveries = await cli('deliveries', id);
	t.regex(deliveries.stdout, /endpoint\.test +DELIVERED +204/);
	t.is((await cli('replay', id)).exitCode, 2);
	const [{id: delivery}] = (await json('deliveries', id)).data;
	t.is((await json('replay', id, '--delivery', delivery)).replayed, 1);
	t.is((await json('replay', id, '--since', '2020-01-01T00:00:00Z')).replayed, 0);
	t.is((await cli('delete', id, '--yes')).exitCode, 0);
	t.is((await cli('show', id)).exitCode, 4);
});
