import {randomUUID} from 'node:crypto';
import test from 'ava';
import {type Graded, gradeAttempts} from '../../../src/visits/match/guess-grades.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {untilAwaited} from '../../helpers/database.ts';
import {serviceOf, startService} from '../../helpers/service.ts';

const service = serviceOf(test);

const create = async (body: object = {}) =>
	(await admin(service).post('/admin/organizations', {name: `Acme ${randomUUID()}`, ...body})).body;

test('an organization is created active, without a plan and with a unique orgKey', async (t) => {
	const {status, body} = await admin(service).post('/admin/organizations', {
		name: 'Globex',
		contactEmail: 'ops@globex.test',
	});
	t.is(status, 201);
	t.regex(body.orgKey, /^[A-Za-z0-9]{4}$/);
	t.deepEqual(body, {
		id: body.id,
		orgKey: body.orgKey,
		name: 'Globex',
		status: 'ACTIVE',
		plan: null,
		contactEmail: 'ops@globex.test',
		createdAt: service.clock.now().toISOString(),
	});
});

test('a name in use is 409 without regard to case', async (t) => {
	await create({name: 'Initech'});
	const {status, body} = await admin(service).post('/admin/organizations', {name: 'INITECH'});
	t.is(status, 409);
	t.is(body.message, "An organization named 'INITECH' already exists");
});

test('an organization is found by its UUID and by its orgKey, case-sensitive', async (t) => {
	const {id, orgKey} = await create();
	for (const reference of [id, orgKey]) {
		const {status, body} = await admin(service).get(`/admin/organizations/${reference}`);
		t.is(status, 200);
		t.is(body.id, id);
	}

	t.is((await admin(service).get(`/admin/organizations/${randomUUID()}`)).status, 404);
	t.is((await admin(service).get('/admin/organizations/not-a-reference')).status, 400);
});

test('the list is newest first, paged, and searched by name', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const make = async (name: string) => (await admin(own).post('/admin/organizations', {name})).body;
	const first = await make('First Hooli');
	await make('Globex');
	own.clock.advance(1);
	const second = await make('Second Hooli');
	const page = async (query: string) => (await admin(own).get(`/admin/organizations?q=hooli&${query}`)).body;
	const all = await page('');
	t.deepEqual(
		all.data.map(({id}: {id: string}) => id),
		[second.id, first.id],
	);
	t.deepEqual([all.total, all.page, all.limit], [2, 1, 20]);
	const last = await page('page=2&limit=1');
	t.deepEqual(
		last.data.map(({id}: {id: string}) => id),
		[first.id],
	);
});

for (const query of [
	'page=0',
	'limit=101',
	'limit=0',
	'page=x',
	'page=1.5',
	'limit=',
	'limit=1e1',
	'limit=%2010',
	'limit=0x10',
]) {
	test(`a list with ${query} is 400`, async (t) => {
		const {status, body} = await admin(service).get(`/admin/organizations?${query}`);
		t.is(status, 400);
		t.is(body.message, 'Validation failed');
	});
}

test('name and contact change; an empty change changes nothing', async (t) => {
	const {id} = await create({contactEmail: 'a@acme.test'});
	const name = `Renamed ${randomUUID()}`;
	const changed = await admin(service).patch(`/admin/organizations/${id}`, {name, contactEmail: null});
	t.is(changed.status, 200);
	t.is(changed.body.name, name);
	t.is(changed.body.contactEmail, null);
	t.deepEqual((await admin(service).patch(`/admin/organizations/${id}`, {})).body, changed.body);
	t.is((await admin(service).patch(`/admin/organizations/${id}`, {name: null})).status, 400);
});

test('suspension is seen by keys and links at once, and activation undoes it', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	const path = new URL(url).pathname;
	const suspended = await admin(service).post(`/admin/organizations/${acme.id}/suspend`);
	t.is(suspended.body.status, 'SUSPENDED');
	const key = await acme.server.get('/links');
	t.is(key.status, 401);
	t.is(key.body.message, 'Organization is suspended');
	t.is((await anonymous(service).get(path)).status, 410);
	t.is((await admin(service).post(`/admin/organizations/${acme.id}/activate`)).body.status, 'ACTIVE');
	t.is((await acme.server.get('/links')).status, 200);
	t.is((await anonymous(service).get(path)).status, 200);
});

test('a plan is set without regard to case and stored uppercase, with a subscription that nothing renews', async (t) => {
	const {id} = await create();
	const {status, body} = await admin(service).put(`/admin/organizations/${id}/plan`, {plan: 'growth'});
	t.is(status, 200);
	t.is(body.plan, 'GROWTH');
	const [subscription] = await service.services.db('subscriptions').where({organization_id: id});
	t.is(subscription.gateway, 'MANUAL');
	t.is(subscription.status, 'ACTIVE');
	t.is(subscription.scheduled_plan, null);
	t.is((await admin(service).put(`/admin/organizations/${id}/plan`, {plan: 'PLATINUM'})).status, 400);
	t.is((await admin(service).put(`/admin/organizations/${id}/plan`, {})).status, 400);
});

test('STARTER and no plan cancel the subscription that the operator had set', async (t) => {
	for (const plan of ['STARTER', null]) {
		const {id} = await create({plan: 'SCALE'});
		const {body} = await admin(service).put(`/admin/organizations/${id}/plan`, {plan});
		t.is(body.plan, plan);
		const [subscription] = await service.services.db('subscriptions').where({organization_id: id});
		t.is(subscription.status, 'CANCELED');
	}
});

test('a stored plan in lower case counts, an unknown one counts as none', async (t) => {
	const acme = await organization(service);
	await service.services.db('organizations').where({id: acme.id}).update({plan: 'growth'});
	t.is((await acme.server.post('/links', {path: '/a'})).status, 201);
	await service.services.db('organizations').where({id: acme.id}).update({plan: 'PLATINUM'});
	const refused = await acme.server.post('/links', {path: '/b'});
	t.is(refused.status, 402);
	t.is(refused.body.code, 'PLAN_NOT_SELECTED');
});

test('an organization with an active subscription is not deleted; without one all of it goes', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	await anonymous(service).get(new URL(url).pathname);
	const refused = await admin(service).delete(`/admin/organizations/${acme.id}`);
	t.is(refused.status, 409);
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: null});
	const {status, body} = await admin(service).delete(`/admin/organizations/${acme.id}`);
	t.is(status, 200);
	t.deepEqual(body, {id: acme.id, deleted: true});
	t.is((await anonymous(service).get(new URL(url).pathname)).status, 404);
	t.is((await acme.server.get('/links')).status, 401);
	t.is((await admin(service).get(`/admin/organizations/${acme.id}`)).status, 404);
	for (const table of ['links', 'clicks', 'api_keys', 'link_counts', 'click_counts', 'channels', 'match_clicks']) {
		t.deepEqual(await service.services.db(table).where({organization_id: acme.id}), [], table);
	}
});

test('a deletion waits for no device that waits for it', async (t) => {
	const {db} = service.services;
	const visit = ({url}: {url: string}, deviceId: string) =>
		anonymous(service).get(`${new URL(url).pathname}/data?deviceId=${deviceId}`);
	const requests = [
		(acme: TestOrganization) => acme.client.post('/sdk/events', {deviceId: 'device-known', eventName: 'purchase'}),
		(acme: TestOrganization) => acme.client.post('/sdk/session', {deviceId: 'device-new'}),
		(_: TestOrganization, sale: {url: string}) => visit(sale, 'device-new'),
	];
	const statuses: number[] = [];
	for (const request of requests) {
		const acme = await organization(service);
		const sale = await link(acme);
		await acme.client.post('/sdk/session', {deviceId: 'device-known'});
		await visit(sale, 'device-seen');
		const deletion = await db.transaction();
		// As the removal does. It waits for nobody, so that it needs no time for that.
		await deletion('organizations').where({id: acme.id}).forUpdate().select('id');
		const answer = request(acme, sale);
		await untilAwaited(deletion);
		await deletion.raw("SET LOCAL lock_timeout = '200ms'");
		await deletion('links').where({organization_id: acme.id}).delete();
		await t.notThrowsAsync(
			deletion('organizations')
				.where({id: acme.id})
				.delete()
				.then(() => deletion.commit()),
		);
		statuses.push((await answer).status);
	}

	t.deepEqual(statuses, [404, 404, 200]);
});

test('many events of an organization in deletion hold no connections of others', async (t) => {
	const {db, eventWriter} = service.services;
	const [acme, other] = [await organization(service), await organization(service)];
	await acme.client.post('/sdk/session', {deviceId: 'device-known'});
	const now = service.clock.now();
	const event = {organizationId: acme.id, deviceId: 'device-known', eventName: 'purchase', properties: {}};
	const when = {eventId: null, linkId: null, occurredAt: now, receivedAt: now};
	const deletion = await db.transaction();
	await deletion('organizations').where({id: acme.id}).forUpdate().select('id');
	const answers = Promise.allSettled(
		Array.from({length: 30}, () => eventWriter.store({...event, ...when, id: randomUUID()})),
	);
	await untilAwaited(deletion);
	const {status} = await other.server.get('/links');
	await deletion('organizations').where({id: acme.id}).delete();
	await deletion.commit();
	t.is(status, 200);
	for (const answer of await answers) {
		t.like(answer, {status: 'rejected', reason: {status: 404}});
	}
});

test('a deletion waits for no count that waits for it', async (t) => {
	const {db, refusals} = service.services;
	const writes: Array<(id: string) => Promise<() => Promise<unknown>>> = [
		async (id) => {
			refusals.note(id, 'known');
			await refusals.settled();
			return () => {
				refusals.note(id, 'known');
				refusals.note(id, 'new');
				return refusals.settled();
			};
		},
		async (id) => {
			const attempt = {id: randomUUID(), organization_id: id, at: new Date(), matched: true, method: 'TOKEN_EXACT'};
			await db('match_attempts').insert({...attempt, signals: '{}', candidates: '[]'});
			const graded = {deviceId: null, at: attempt.at, signals: {}, candidates: [], nobody: null, isCorrect: true};
			const silentGuess = {confidence: 'high'};
			return () =>
				gradeAttempts(db, [{...graded, id: attempt.id, organizationId: id, silentGuess} as unknown as Graded]);
		},
	];
	for (const prepare of writes) {
		const {id} = await create();
		const write = await prepare(id);
		const deletion = await db.transaction();
		await deletion('organizations').where({id}).forUpdate().select('id');
		const written = write();
		await untilAwaited(deletion);
		await deletion.raw("SET LOCAL lock_timeout = '200ms'");
		await t.notThrowsAsync(
			deletion('organizations')
				.where({id})
				.delete()
				.then(() => deletion.commit()),
		);
		await t.notThrowsAsync(written);
	}
});

test('every change is audited with action, actor and request', async (t) => {
	const {id} = await create();
	await admin(service).put(`/admin/organizations/${id}/plan`, {plan: 'SOLO'}, {'X-Request-Id': 'set-plan-1'});
	await admin(service).post(`/admin/organizations/${id}/suspend`);
	await admin(service).post(`/admin/organizations/${id}/suspend`);
	const {body} = await admin(service).get(`/admin/organizations/${id}/audit-log`);
	t.deepEqual(body.data.map(({action}: {action: string}) => action).toSorted(), ['CREATE', 'SET_PLAN', 'SUSPEND']);
	const record = body.data.find(({action}: {action: string}) => action === 'SET_PLAN');
	t.deepEqual(record, {
		id: record.id,
		at: service.clock.now().toISOString(),
		action: 'SET_PLAN',
		entityType: 'Organization',
		entityId: id,
		actor: {type: 'ADMIN_BEARER', id: null, name: 'Admin token'},
		organizationId: id,
		requestId: 'set-plan-1',
		details: {plan: 'SOLO'},
	});
});

test('without the admin token, and with a wrong one, every admin route is 401', async (t) => {
	for (const [headers, message] of [
		[{}, 'Missing Authorization header'],
		[{Authorization: 'Basic abc'}, 'Invalid Authorization format'],
		[{Authorization: 'Bearer'}, 'Invalid Authorization format'],
		[{Authorization: `Bearer ${'x'.repeat(48)}`}, 'Invalid admin token'],
	] as const) {
		const {status, body} = await anonymous(service).get('/admin/organizations', headers);
		t.is(status, 401);
		t.is(body.message, message);
	}
});

/** What a creation does that draws this orgKey, which cannot be had drawn. @returns no row where the next one is tried. */
const drawOrgKey = async (orgKey: string): Promise<unknown[]> =>
	service.services
		.db('organizations')
		.insert({
			id: randomUUID(),
			org_key: orgKey,
			name: `Acme ${randomUUID()}`,
			created_at: service.clock.now(),
			updated_at: service.clock.now(),
		})
		.onConflict('org_key')
		.ignore()
		.returning('id');

test('an orgKey that is drawn while its organization is being deleted is not given', async (t) => {
	const {db} = service.services;
	for (const end of ['commit', 'rollback'] as const) {
		const {id, orgKey} = await create();
		const deletion = await db.transaction();
		await deletion('organizations').where({id}).delete();
		const drawing = drawOrgKey(orgKey);
		const isWaiting = async () =>
			(
				await db.raw(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
					AND query LIKE 'insert into "organizations"%'`)
			).rowCount > 0;
		while (!(await isWaiting())) {
			// Until it meets the deletion.
		}

		await deletion[end]();
		t.deepEqual(await drawing, []);
	}
});

test('the orgKey of a deleted organization is never given again', async (t) => {
	const {id, orgKey} = await create();
	t.is((await admin(service).delete(`/admin/organizations/${id}`)).status, 200);
	t.deepEqual(await drawOrgKey(orgKey), []);
	t.is((await admin(service).get(`/admin/organizations/${orgKey}`)).status, 404);
});
