import test from 'ava';
import {createOnce} from '../../../src/links/links/idempotent-create.ts';
import type {LinkJson} from '../../../src/links/links/link.ts';
import {inTransaction} from '../../../src/platform/db/db.ts';
import {organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {createFakeClock, serviceOf, startService} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';

const service = serviceOf(test);

const key = (value: string) => ({'Idempotency-Key': value});

test('the same key gives the first answer again, to the byte; another body with it is 409, an invalid key 400', async (t) => {
	const acme = await organization(service);
	const first = await acme.server.post('/links', {path: '/a', params: {b: '1', a: '2'}}, key('k1'));
	t.is(first.status, 201);
	const again = await acme.server.post('/links', {params: {a: '2', b: '1'}, path: '/a'}, key('k1'));
	t.is(again.status, 201);
	t.is(again.text, first.text);
	const other = await acme.server.post('/links', {path: '/b'}, key('k1'));
	t.is(other.status, 409);
	t.regex(other.body.message, /Idempotency-Key/);
	// Validation comes before the replay.
	t.is((await acme.server.post('/links', {path: '/b', colour: 1}, key('k1'))).status, 400);
	t.is((await acme.server.get('/links')).body.total, 1);
	t.is((await acme.server.post('/links', {path: '/b'}, key('x'.repeat(255)))).status, 201);
	for (const bad of ['', 'x'.repeat(256)]) {
		const {status, body} = await acme.server.post('/links', {path: '/a'}, key(bad));
		t.is(status, 400);
		t.is(body.details[0].field, 'Idempotency-Key');
	}
});

test('a burst under one key creates one link; repeats get the first answer, or 409 while it is pending', async (t) => {
	const acme = await organization(service);
	const answers = await Promise.all(
		Array.from({length: 12}, () => acme.server.post('/links', {path: '/a'}, key('burst'))),
	);
	const created = answers.filter(({status}) => status === 201);
	t.true(created.length >= 1);
	t.is(new Set(created.map(({text}) => text)).size, 1);
	t.true(answers.every(({status}) => status === 201 || status === 409));
	t.is((await acme.server.get('/links')).body.total, 1);
});

test('a key is free again after a refusal, and for another organization always', async (t) => {
	const [acme, other] = [await organization(service, {plan: null}), await organization(service)];
	t.is((await acme.server.post('/links', {path: '/a'}, key('k'))).status, 402);
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: 'GROWTH'});
	const created = await acme.server.post('/links', {path: '/b'}, key('k'));
	t.is(created.status, 201);
	t.not((await other.server.post('/links', {path: '/b'}, key('k'))).body.id, created.body.id);
});

test('the answer is stored for 24 hours, precedes plan and quota, and is forgotten with the next keyed create', async (t) => {
	const clock = createFakeClock();
	const timed = await startedIn(t, startService({}, clock));
	const acme = await organization(timed);
	const plan = (name: string | null) => admin(timed).put(`/admin/organizations/${acme.id}/plan`, {plan: name});
	const post = async (name: string) => {
		const {status, body} = await acme.server.post('/links', {path: '/a'}, key(name));
		return {status, id: body.id};
	};
	await post('old');
	const first = await post('day');
	clock.advance(24 * 3600 - 1);
	await plan(null);
	t.deepEqual(await post('day'), first);
	await plan('GROWTH');
	clock.advance(1);
	const later = await post('day');
	t.is(later.status, 201);
	t.not(later.id, first.id);
	t.deepEqual(await post('day'), later);
	t.deepEqual(await timed.services.db('idempotency_keys').pluck('key'), ['day']);
});

test('creates of two organizations at once that repeat old keys do not wait for each other', async (t) => {
	const [one, other] = [await organization(service), await organization(service)];
	const {db} = service.services;
	// Keys of days ago, for a service with the machine's clock as well.
	const now = createFakeClock().now();
	const used = (organizationId: string, key: string, days: number) => ({
		organization_id: organizationId,
		key,
		request_hash: Buffer.alloc(32),
		response: '{}',
		created_at: new Date(now.getTime() - days * 86_400_000),
	});
	// More than one create deletes, so that each deletes the key of the other.
	const others = (count: number, days: number) =>
		Array.from({length: count}, (_, index) => used(one.id, `${days} ${index}`, days));
	for (let round = 0; round < 10; round += 1) {
		await db('idempotency_keys')
			.insert([used(one.id, 'again', 5), ...others(9, 4), used(other.id, 'again', 3), ...others(9, 2)])
			.onConflict(['organization_id', 'key'])
			.merge();
		const waiting: Array<() => void> = [];
		const together = () =>
			new Promise<LinkJson>((resolve) => {
				waiting.push(() => resolve({} as LinkJson));
				if (waiting.length === 2) {
					for (const go of waiting) {
						go();
					}
				}
			});
		const repeat = (organizationId: string) =>
			inTransaction(db, (trx) => createOnce(trx, {organizationId, key: 'again', request: {path: '/a'}, now}, together));
		await t.notThrowsAsync(Promise.all([repeat(other.id), repeat(one.id)]));
	}
});
