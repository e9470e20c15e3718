import test from 'ava';
import {type ClaimedDelivery, claimDeliveries, Slots} from '../../../src/visits/webhooks/claim-deliveries.ts';
import {insertDeliveries, recordAttempts} from '../../../src/visits/webhooks/delivery-store.ts';

import {webhookPolicy} from '../../../src/visits/webhooks/webhook-policy.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {endpoint, subscribed, untilTrue} from './_receiver.ts';

const service = serviceOf(test);

/** Days ahead of the service's clock, so that its own sender leaves them alone; each test before those of the last. */
const daysAhead = (days: number): Date => new Date(service.clock.now().getTime() + days * 86_400_000);

/** An endpoint, which has answered quickly so far, with so many deliveries that are due at a time. */
const backlog = async (acme: TestOrganization, count: number, at: Date): Promise<string> => {
	const {id} = await endpoint(acme, {url: 'http://127.0.0.1:9/', events: ['link.deleted']});
	const one = {endpointId: id, organizationId: acme.id, type: 'link.deleted', at, body: '{}'};
	await insertDeliveries(service.services.db, Array(count).fill(one), at);
	await service.services.db('webhook_endpoints').where({id}).update({quick: true});
	return id;
};

/** A process of its own, whose attempts never end. */
const sender = (at: Date) => {
	const slots = new Slots();
	const {all} = webhookPolicy().slots;
	return async (): Promise<ClaimedDelivery[]> => {
		const claimed: ClaimedDelivery[] = [];
		for (;;) {
			const free = all - slots.taken;
			const more = free === 0 ? [] : await claimDeliveries(service.services.db, at, {inFlight: slots.inFlight(), free});
			for (const slot of more) {
				slots.take(slot);
			}

			claimed.push(...more);
			if (more.length === 0) {
				return claimed;
			}
		}
	};
};

const countBy = (claimed: ClaimedDelivery[], key: 'endpointId' | 'organizationId'): Map<string, number> =>
	claimed.reduce((counts, one) => counts.set(one[key], (counts.get(one[key]) ?? 0) + 1), new Map<string, number>());

test.serial('an organization has 64 slots and an endpoint 32, and each endpoint of three has some', async (t) => {
	const at = daysAhead(30);
	const acme = await organization(service);
	const endpoints = [await backlog(acme, 100, at), await backlog(acme, 100, at), await backlog(acme, 100, at)];
	const claimed = await sender(at)();
	const counts = countBy(claimed, 'endpointId');
	t.true(claimed.length > 48 && claimed.length <= 64);
	t.true(endpoints.every((id) => (counts.get(id) ?? 0) >= 8 && (counts.get(id) ?? 0) <= 32));
});

test.serial('beside ten organizations whose endpoints never answer another one is claimed at once', async (t) => {
	const at = daysAhead(20);
	for (let index = 0; index < 10; index += 1) {
		const hostile = await organization(service);
		await Promise.all(Array.from({length: 4}, () => backlog(hostile, 40, at)));
	}

	const claim = sender(at);
	const claimed = await claim();
	t.true(claimed.length > 400 && claimed.length < 512);
	t.true([...countBy(claimed, 'organizationId').values()].every((count) => count <= 64));
	t.deepEqual(await claim(), []);
	const victim = await backlog(await organization(service), 5, at);
	const endpointIds = (await claim()).map(({endpointId}) => endpointId);
	t.deepEqual(endpointIds, Array(5).fill(victim));
});

test.serial(
	'an endpoint has 4 slots before its first attempt and after one that took over 2 s, and 32 after quick ones',
	async (t) => {
		const at = daysAhead(10);
		const {db} = service.services;
		const id = await backlog(await organization(service), 200, at);
		await db('webhook_endpoints').where({id}).update({quick: false});
		const tried = {at, status: 200, error: null, answer: '', retryAfter: null};
		const record = (claimed: ClaimedDelivery[], durationMs: number) =>
			recordAttempts(
				db,
				claimed.map((one) => ({...one, status: 'DELIVERED', nextTryAt: at, tried: {...tried, durationMs}})),
			);
		for (const [slots, durationMs] of [
			[4, 2000],
			[32, 14_000],
			[4, 2001],
			[4, 2000],
			[32, 2000],
		] as const) {
			const claimed = await sender(at)();
			t.is(claimed.length, slots);
			await record(claimed, durationMs);
		}
	},
);

test.serial('webhooks, replays and tests of a suspended organization wait until it is active again', async (t) => {
	const {acme, receiver, path} = await subscribed(t, service, 'link.created');
	await link(acme);
	const [sent] = await receiver.until(1);
	t.is((await acme.operator.post('/suspend', {})).status, 200);
	t.is((await acme.operator.post('/links', {path: '/sale'})).status, 201);
	const replayed = await acme.operator.post(`${path}/deliveries/${sent?.headers['webhook-id']}/replay`, {});
	t.deepEqual(replayed.body, {replayed: 1});
	const {body: tested} = await acme.operator.post(`${path}/test`, {});
	t.like(tested, {ok: false, status: null});
	t.regex(tested.error, /^the organization is suspended; the test is sent once it is active again$/);
	// What another organization makes later is sent.
	const other = await subscribed(t, service, 'link.created');
	await link(other.acme);
	await other.receiver.until(1);
	t.is(receiver.all.length, 1);
	t.is((await acme.operator.post('/activate', {})).status, 200);
	const [, ...late] = await receiver.until(4);
	t.deepEqual(late.map(({json}) => json.type).toSorted(), ['endpoint.test', 'link.created', 'link.created']);
	t.is(late.find(({json}) => json.type === 'endpoint.test')?.headers['webhook-id'], tested.deliveryId);
	t.true(late.some(({headers}) => headers['webhook-id'] === sent?.headers['webhook-id']));
});

test.serial(
	'an attempt that outlives its lease gives its slot back, which a metric and doctor show until it ends',
	async (t) => {
		const {acme, receiver} = await subscribed(t, service, 'link.created');
		const held: Array<() => void> = [];
		receiver.respond((response) => held.push(() => response.writeHead(204).end()));
		await link(acme);
		await receiver.until(1);
		const metric = async () =>
			/^oplink_webhook_attempts_overdue (\d+)$/m.exec((await admin(service).get('/metrics')).text)?.[1];
		const finding = async () =>
			(await admin(service).get('/admin/doctor')).body.findings.find(
				({check}: {check: string}) => check === 'webhooks.overdue',
			);
		t.deepEqual([await metric(), await finding()], ['0', undefined]);
		service.clock.advance(61);
		// The delivery is sent again, because its lease has ended, too.
		const [first, again] = await receiver.until(2);
		t.is(first?.headers['webhook-id'], again?.headers['webhook-id']);
		await untilTrue(async () => (await metric()) === '1');
		t.like(await finding(), {
			status: 'warn',
			message: 'attempts to send a webhook that have not ended for a minute: 1; others took their slots',
		});
		for (const answer of held) {
			answer();
		}

		await untilTrue(async () => (await metric()) === '0');

		t.is(await finding(), undefined);
	},
);
