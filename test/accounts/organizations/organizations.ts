import {randomUUID} from 'node:crypto';
import test, {type ExecutionContext} from 'ava';
import {closeDb, createDb} from '../../../src/platform/db/db.ts';
import {type GradedGuess, gradeAttempts} from '../../../src/visits/matches/guess-grades.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {untilAwaited} from '../../helpers/database.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

const create = async (body: object = {}) =>
	(await admin(service).post('/admin/organizations', {name: `Acme ${randomUUID()}`, ...body})).body;

test('an organization is created active, without a plan and with a unique orgKey', async (t) => {
	const fields = {name: 'Globex', contactEmail: 'ops@globex.test'};
	const {status, body} = await admin(service).post('/admin/organizations', fields);
	t.is(status, 201);
	const {id, orgKey, ...rest} = body;
	t.regex(orgKey, /^[A-Za-z0-9]{4}$/);
	t.deepEqual(rest, {...fields, status: 'ACTIVE', plan: null, createdAt: service.clock.now().toISOString()});
	t.is((await admin(service).get(`/admin/organizations/${id}`)).body.orgKey, orgKey);
});

test('an organization is found by its UUID and by its orgKey', async (t) => {
	const {id, orgKey} = await create();
	for (const [reference, expected] of [
		[id, {status: 200, body: {id}}],
		[orgKey, {status: 200, body: {id}}],
		[randomUUID(), {status: 404}],
		['not-a-reference', {status: 400}],
	]) {
		t.like(await admin(service).get(`/admin/organizations/${reference}`), expected, reference);
	}
});

test.serial('the list is newest first, paged, and searched by name', async (t) => {
	const {id: first} = await create({name: 'First Hooli'});
	await create();
	service.clock.advance(1);
	const {id: second} = await create({name: 'Second Hooli'});
	const page = async (query: string) => {
		const {data, ...rest} = (await admin(service).get(`/admin/organizations?q=hooli&${query}`)).body;
		return {ids: data.map(({id}: {id: string}) => id), ...rest};
	};
	t.deepEqual(await page(''), {ids: [second, first], total: 2, page: 1, limit: 20});
	t.deepEqual(await page('page=2&limit=1'), {ids: [first], total: 2, page: 2, limit: 1});
});

test('?owns= finds the organization of an id, a host name or a key, for operators of the whole server', async (t) => {
	const [acme, other] = await Promise.all([organization(service), organization(service)]);
	const operator = admin(service);
	const below = (path: string) => `/admin/organizations/${acme.id}/${path}`;
	const hostname = `${randomUUID()}.acme.example`;
	const endpoint = {url: 'https://hooks.example.com/x', events: ['*']};
	const made = [
		await operator.post(below('webhook-endpoints'), endpoint),
		await operator.post(below('templates'), {name: 'spring'}),
		await operator.post(below('channels'), {name: 'spring'}),
		await operator.post(below('domains'), {hostname}),
	];
	const {sdkKey} = (await operator.get(below('api-keys'))).body;
	const found = async (name: string) => {
		const {status, body} = await operator.get(`/admin/organizations?owns=${encodeURIComponent(name)}`);
		return [status, ...(body.data ?? []).map(({id}: {id: string}) => id)];
	};
	for (const name of [...made.map(({body}) => body.id), hostname.toUpperCase(), sdkKey.id, sdkKey.prefix]) {
		t.deepEqual(await found(name), [200, acme.id], name);
	}

	for (const name of [randomUUID(), acme.id, 'spring', '%', 'nobody.example', '']) {
		t.deepEqual(await found(name), name === '' ? [400] : [200], name);
	}

	t.deepEqual(await found('\0'), [400]);
	const {token} = (await operator.post('/admin/tokens', {name: 'of other', scopes: ['admin'], organization: other.id}))
		.body;
	const bound = await admin({url: service.url, adminToken: token}).get(`/admin/organizations?owns=${sdkKey.id}`);
	t.is(bound.status, 403);
});

test('a list of no possible page is 400', async (t) => {
	const pages = ['page=0', 'page=x', 'page=1.5'];
	const limits = ['limit=0', 'limit=101', 'limit=', 'limit=1e1', 'limit=%2010', 'limit=0x10'];
	for (const query of [...pages, ...limits]) {
		const answer = await admin(service).get(`/admin/organizations?${query}`);
		t.like(answer, {status: 400, body: {message: 'Validation failed'}}, query);
	}
});

test('name and contact change and nothing else; an empty change changes nothing', async (t) => {
	const {id} = await create({contactEmail: 'a@acme.test'});
	const patch = (body: object) => admin(service).patch(`/admin/organizations/${id}`, body);
	const fields = {name: `Renamed ${randomUUID()}`, contactEmail: null};
	const changed = await patch(fields);
	t.like(changed, {status: 200, body: fields});
	t.deepEqual((await patch({})).body, changed.body);
	for (const body of [{name: ''}, {name: null}, {contactEmail: 'nobody'}, {plan: 'SCALE'}, {status: 'ACTIVE'}]) {
		t.is((await patch(body)).status, 400, JSON.stringify(body));
	}
});

test('suspension is seen by keys and links at once, and activation undoes it', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	const path = new URL(url).pathname;
	const suspended = await acme.operator.post('/suspend');
	t.is(suspended.body.status, 'SUSPENDED');
	t.like(await acme.server.get('/links'), {status: 401, body: {message: 'Organization is suspended'}});
	t.is((await anonymous(service).get(path)).status, 410);
	t.is((await acme.operator.post('/activate')).body.status, 'ACTIVE');
	t.is((await acme.server.get('/links')).status, 200);
	t.is((await anonymous(service).get(path)).status, 200);
});

test('a plan is set without regard to case and stored uppercase, with a subscription that nothing renews', async (t) => {
	const {id} = await create();
	const put = (body: object) => admin(service).put(`/admin/organizations/${id}/plan`, body);
	t.like(await put({plan: 'growth'}), {status: 200, body: {plan: 'GROWTH'}});
	const [subscription] = await service.services.db('subscriptions').where({organization_id: id});
	t.like(subscription, {gateway: 'MANUAL', status: 'ACTIVE', scheduled_plan: null});
	t.is((await put({plan: 'PLATINUM'})).status, 400);
	t.is((await put({})).status, 400);
});

test('a stored plan in lower case counts, an unknown one counts as none', async (t) => {
	const acme = await organization(service);
	await service.services.db('organizations').where({id: acme.id}).update({plan: 'growth'});
	t.is((await acme.server.post('/links', {path: '/a'})).status, 201);
	await service.services.db('organizations').where({id: acme.id}).update({plan: 'PLATINUM'});
	t.like(await acme.server.post('/links', {path: '/b'}), {status: 402, body: {code: 'PLAN_NOT_SELECTED'}});
});

test('an organization with an active subscription is not deleted; without one all of it goes', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	await anonymous(service).get(new URL(url).pathname);
	t.is((await admin(service).delete(`/admin/organizations/${acme.id}`)).status, 409);
	await acme.operator.put('/plan', {plan: null});
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

/** A transaction on a session of its own: tests that each hold one of the service's four would wait for each other. */
const transaction = (t: ExecutionContext) => {
	const db = createDb(service.databaseUrl, {poolSize: 1});
	t.teardown(() => closeDb(db));
	return db.transaction();
};

/** Deletes an organization as the removal does, once something that is written waits for it. The deletion waits for nobody. */
const deleteAwaited = async <T>(t: ExecutionContext, id: string, write: () => Promise<T>): Promise<T> => {
	// Clicks of visits before would wait for it, too.
	await service.services.clickJournal.flushed();
	const deletion = await transaction(t);
	await deletion('organizations').where({id}).forUpdate().select('id');
	const written = write();
	await untilAwaited(deletion);
	// Long enough for a statement that waits for nobody.
	await deletion.raw("SET LOCAL lock_timeout = '200ms'");
	const remove = async () => {
		await deletion('links').where({organization_id: id}).delete();
		await deletion('organizations').where({id}).delete();
		await deletion.commit();
	};
	await t.notThrowsAsync(remove());
	return written;
};

test('a deletion waits for no device that waits for it', async (t) => {
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
		const {status} = await deleteAwaited(t, acme.id, () => request(acme, sale));
		statuses.push(status);
	}

	t.deepEqual(statuses, [404, 404, 200]);
});

test('many events of an organization in deletion hold no connections of others', async (t) => {
	const {eventWriter} = service.services;
	const [acme, other] = [await organization(service), await organization(service)];
	await acme.client.post('/sdk/session', {deviceId: 'device-known'});
	const now = service.clock.now();
	const event = {organizationId: acme.id, deviceId: 'device-known', eventName: 'purchase', properties: {}};
	const when = {eventId: null, linkId: null, occurredAt: now, receivedAt: now};
	const deletion = await transaction(t);
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
				gradeAttempts(db, [{...graded, id: attempt.id, organizationId: id, silentGuess} as unknown as GradedGuess]);
		},
	];
	for (const prepare of writes) {
		const {id} = await create();
		const write = await prepare(id);
		await t.notThrowsAsync(deleteAwaited(t, id, write));
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

/** What a creation does that draws this orgKey, which cannot be had drawn. @returns no row where the next one is tried. */
const drawOrgKey = async (orgKey: string): Promise<unknown[]> => {
	const now = service.clock.now();
	return service.services
		.db('organizations')
		.insert({id: randomUUID(), org_key: orgKey, name: `Acme ${randomUUID()}`, created_at: now, updated_at: now})
		.onConflict('org_key')
		.ignore()
		.returning('id');
};

test('an orgKey that is drawn while its organization is being deleted is not given', async (t) => {
	for (const end of ['commit', 'rollback'] as const) {
		const {id, orgKey} = await create();
		const deletion = await transaction(t);
		await deletion('organizations').where({id}).delete();
		const drawing = drawOrgKey(orgKey);
		await untilAwaited(deletion);
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
