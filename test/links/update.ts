import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {createFakeClock, serviceOf, startService} from '../helpers/service.ts';

const service = serviceOf(test);

test('an update changes the fields that it names and no others, and answers the bare link', async (t) => {
	const clock = createFakeClock();
	const timed = await startService({}, clock);
	t.teardown(() => timed.stop());
	const acme = await organization(timed);
	const before = await link(acme, {title: 'Old', tags: ['a'], og: {title: 'T', description: 'D'}});
	clock.advance(60);
	const {status, body} = await acme.server.patch(`/links/${before.id}`, {title: 'New', og: {description: 'E'}});
	t.is(status, 200);
	t.deepEqual(body, {
		...before,
		title: 'New',
		og: {title: 'T', description: 'E', imageUrl: null},
		updatedAt: '2026-03-10T12:01:00.000Z',
	});
});

test('an empty update and one without differences change nothing and leave no record', async (t) => {
	const clock = createFakeClock();
	const timed = await startService({}, clock);
	t.teardown(() => timed.stop());
	const acme = await organization(timed);
	const before = await link(acme, {title: 'Old', params: {a: '1', b: '2'}});
	clock.advance(60);
	t.deepEqual((await acme.server.patch(`/links/${before.id}`, {})).body, before);
	t.deepEqual((await acme.server.patch(`/links/${before.id}`)).body, before);
	const same = {title: 'Old', params: {b: '2', a: '1'}};
	t.deepEqual((await acme.server.patch(`/links/${before.id}`, same)).body, before);
	const {body} = await admin(timed).get(`/admin/organizations/${acme.id}/audit-log`);
	t.false(
		body.data.some(({action, entityType}: Record<string, string>) => entityType === 'Link' && action === 'UPDATE'),
	);
});

test('null clears every optional field', async (t) => {
	const acme = await organization(service);
	const bare = await link(acme, {shortCode: 'bare'});
	const {body: template} = await admin(service).post(`/admin/organizations/${acme.id}/templates`, {name: 'one'});
	const full = await link(acme, {
		shortCode: 'full',
		params: {a: '1'},
		title: 'T',
		tags: ['a'],
		channel: 'email',
		utmSource: 's',
		utmMedium: 'm',
		utmCampaign: 'c',
		utmTerm: 't',
		utmContent: 'k',
		fallbackUrl: 'https://example.org/',
		og: {title: 'T', description: 'D', imageUrl: 'https://example.org/i.png'},
		expiry: '2030-01-01T00:00:00Z',
		templateId: template.id,
		externalId: 'x',
		isActive: false,
		deferredDeepLinking: false,
		matchWindowHours: 1,
	});
	const clearable = [
		...['params', 'title', 'tags', 'channel', 'utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'],
		...['fallbackUrl', 'og', 'expiry', 'templateId', 'externalId', 'isActive', 'deferredDeepLinking'],
		...['matchWindowHours', 'domainId'],
	];
	const nulls = Object.fromEntries(clearable.map((field) => [field, null]));
	const {status, body} = await acme.server.patch(`/links/${full.id}`, nulls);
	t.is(status, 200);
	t.deepEqual(body, {...bare, id: full.id, shortCode: 'full', url: full.url});
});

test('one field of og can be cleared', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme, {og: {title: 'T', description: 'D'}});
	const {body} = await acme.server.patch(`/links/${id}`, {og: {title: null}});
	t.deepEqual(body.og, {title: null, description: 'D', imageUrl: null});
});

test('path and short code cannot be cleared', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const {status, body} = await acme.server.patch(`/links/${id}`, {path: null, shortCode: null, colour: 1});
	t.is(status, 400);
	t.deepEqual(body.details.map(({field}: {field: string}) => field).sort(), ['colour', 'path', 'shortCode']);
});

test('a link without its own path must keep a template with one', async (t) => {
	const acme = await organization(service);
	const templates = `/admin/organizations/${acme.id}/templates`;
	const {body: template} = await admin(service).post(templates, {name: 'full', path: '/x'});
	const {id} = await link(acme, {path: undefined, templateId: template.id});
	const {status, body} = await acme.server.patch(`/links/${id}`, {templateId: null});
	t.is(status, 400);
	t.deepEqual(body.details, [{message: 'path is required', field: 'path'}]);
	t.is((await acme.server.patch(`/links/${id}`, {templateId: null, path: '/y'})).status, 200);
});

test('a taken short code or external id is 409, and a new one changes the URL', async (t) => {
	const acme = await organization(service);
	await link(acme, {shortCode: 'taken', externalId: 'taken'});
	const {id} = await link(acme, {shortCode: 'mine'});
	const code = await acme.server.patch(`/links/${id}`, {shortCode: 'taken'});
	t.is(code.status, 409);
	t.is(code.body.message, "Short code 'taken' is already in use");
	const externalId = await acme.server.patch(`/links/${id}`, {externalId: 'taken'});
	t.is(externalId.status, 409);
	t.is(externalId.body.message, "External id 'taken' is already in use");
	const renamed = await acme.server.patch(`/links/${id}`, {shortCode: 'free'});
	t.true(renamed.body.url.endsWith(`/${acme.orgKey}/free`));
});

test('foreign references are refused as on create', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const unknown = '00000000-0000-4000-8000-000000000000';
	const answers = await Promise.all(
		[{domainId: unknown}, {templateId: unknown}, {channel: 'unknown'}].map((changes) =>
			acme.server.patch(`/links/${id}`, changes),
		),
	);
	t.deepEqual(
		answers.map(({status}) => status),
		[404, 404, 400],
	);
});

test('without a plan, or over the click quota, a change is 402; deleting is not', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const {db, clock} = service.services;
	const month = `${clock.now().toISOString().slice(0, 7)}-01`;
	await db('click_counts').insert([
		{organization_id: acme.id, month, clicks: 250_000},
		{organization_id: acme.id, month: '2026-02-01', clicks: 900_000},
	]);
	t.like((await acme.server.patch(`/links/${id}`, {title: 'x'})).body, {statusCode: 402, quota: 'clicks'});
	await db('click_counts').where({organization_id: acme.id, month}).delete();
	t.is((await acme.server.patch(`/links/${id}`, {title: 'x'})).status, 200);
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: null});
	t.like((await acme.server.patch(`/links/${id}`, {title: 'y'})).body, {statusCode: 402, code: 'PLAN_NOT_SELECTED'});
	t.is((await acme.server.delete(`/links/${id}`)).status, 200);
});

test('parallel updates of different fields are all kept', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const fields = ['title', 'utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent', 'externalId', 'shortCode'];
	const answers = await Promise.all(fields.map((field) => acme.server.patch(`/links/${id}`, {[field]: field})));
	t.true(answers.every(({status}) => status === 200));
	const {body} = await acme.server.get(`/links/${id}`);
	t.like(body, Object.fromEntries(fields.map((field) => [field, field])));
});

test('an update is audited with its changes', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme, {shortCode: 'one', title: 'Old'});
	await acme.server.patch(`/links/${id}`, {title: 'New', isActive: false, path: '/sale'});
	const {body} = await admin(service).get(`/admin/organizations/${acme.id}/audit-log`);
	const record = body.data.find((one: Record<string, string>) => one.entityType === 'Link' && one.action === 'UPDATE');
	t.like(record, {
		entityId: id,
		details: {shortCode: 'one', changes: {title: {from: 'Old', to: 'New'}, isActive: {from: true, to: false}}},
	});
	t.deepEqual(Object.keys(record.details.changes).sort(), ['isActive', 'title']);
});
