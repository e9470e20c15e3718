import test from 'ava';
import {forgetAudit} from '../../../src/accounts/audit/forget-audit.ts';
import {retention} from '../../../src/platform/config/policies.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {createFakeClock, serviceOf, startService, type TestService} from '../../helpers/service.ts';

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

const HOUR = 3600;
const DAY = 24 * HOUR;

const start = async (t: {teardown(end: () => unknown): void}) => {
	const clock = createFakeClock();
	const service = await startService({LINK_DOMAIN: 'localhost'}, clock);
	t.teardown(() => service.stop());
	return {clock, service, acme: await organization(service)};
};

type Found = {
	action: string;
	entityType: string;
	entityId: string;
	at: string;
	requestId: string;
	actor: {type: string};
	details: Record<string, unknown>;
};
const recordsOf = async (service: TestService, {id}: TestOrganization): Promise<Found[]> =>
	(await admin(service).get(`/admin/organizations/${id}/audit-log?limit=100`)).body.data;
const updatesOf = async (service: TestService, acme: TestOrganization, type = 'Link'): Promise<Found[]> =>
	(await recordsOf(service, acme)).filter(({action, entityType}) => action === 'UPDATE' && entityType === type);

test('changes of a link by one key in an hour share a record, which names every field and how often', async (t) => {
	const {clock, service, acme} = await start(t);
	const {id} = await link(acme, {title: 'A', shortCode: 'one'});
	const since = clock.now().toISOString();
	for (const body of [{title: 'B'}, {path: '/new'}, {title: 'C', tags: ['x']}, {title: 'D'}]) {
		t.is(
			(await acme.server.patch(`/links/${id}`, body, {'X-Request-Id': `request-${clock.now().getTime()}`})).status,
			200,
		);
		clock.advance(10);
	}

	const [record, ...others] = await updatesOf(service, acme);
	t.deepEqual(others, []);
	t.like(record, {
		entityId: id,
		at: '2026-03-10T12:00:30.000Z',
		requestId: `request-${Date.parse('2026-03-10T12:00:30Z')}`,
	});
	t.deepEqual(record?.details['repeated'], {count: 4, since});
	const changes = record?.details['changes'] as Record<string, {from: unknown; to: unknown}>;
	t.deepEqual(Object.keys(changes).toSorted(), ['path', 'tags', 'title']);
	t.deepEqual(changes['title'], {from: 'A', to: 'D'});
	t.deepEqual(changes['path']?.to, '/new');
});

test('another hour, link or actor has a separate record, and so has each create and delete', async (t) => {
	const {clock, service, acme} = await start(t);
	const [one, other] = [await link(acme), await link(acme)];
	const change = (id: string) => acme.server.patch(`/links/${id}`, {title: clock.now().toISOString() + Math.random()});
	await change(one.id);
	await change(one.id);
	await change(other.id);
	await admin(service).patch(`/admin/organizations/${acme.id}/links/${one.id}`, {title: 'by the operator'});
	t.is((await updatesOf(service, acme)).length, 3);
	clock.advance(HOUR);
	await change(one.id);
	const updates = await updatesOf(service, acme);
	t.is(updates.length, 4);
	t.is(updates[0]?.details['repeated'], undefined);
	await acme.server.delete(`/links/${one.id}`);
	await acme.server.delete(`/links/${other.id}`);
	const records = (await recordsOf(service, acme)).filter(({entityType}) => entityType === 'Link');
	t.is(records.filter(({action}) => action === 'DELETE').length, 2);
	t.is(records.filter(({action}) => action === 'CREATE').length, 2);
});

test('changes at once and within one import are all counted', async (t) => {
	const {service, acme} = await start(t);
	const {id} = await link(acme, {shortCode: 'one'});
	const titles = Array.from({length: 12}, (_, index) => `title ${index}`);
	const statuses = await Promise.all(
		titles.map(async (title) => (await acme.server.patch(`/links/${id}`, {title})).status),
	);
	t.deepEqual([...new Set(statuses)], [200]);
	const rows = titles.map((title) => JSON.stringify({shortCode: 'one', path: `/${title.replace(' ', '-')}`}));
	const imported = await admin(service).post(
		`/admin/organizations/${acme.id}/links/import?onConflict=update`,
		rows.join('\n'),
		{
			'Content-Type': 'application/x-ndjson',
		},
	);
	t.is(imported.status, 200);
	const [byImport, byKey, ...others] = (await updatesOf(service, acme)).toSorted((a, b) =>
		a.actor.type.localeCompare(b.actor.type),
	);
	t.deepEqual(others, []);
	t.like(byImport?.details, {repeated: {count: 12}, changes: {path: {to: '/title-11'}}});
	t.like(byKey?.details, {repeated: {count: 12}, changes: {title: {from: null}}});
});

test('each change of a template, a channel or the app configuration leaves its own record', async (t) => {
	const {clock, service, acme} = await start(t);
	const operator = admin(service);
	const base = `/admin/organizations/${acme.id}`;
	const {body: template} = await operator.post(`${base}/templates`, {name: 'one', params: {from: '1', to: '2'}});
	const {body: channel} = await operator.post(`${base}/channels`, {name: 'radio'});
	for (const name of ['a', 'b', 'c']) {
		clock.advance(1);
		t.is((await operator.patch(`${base}/templates/${template.id}`, {params: {from: name, to: name}})).status, 200);
		t.is((await operator.patch(`${base}/channels/${channel.id}`, {name: `radio ${name}`})).status, 200);
		t.is((await operator.put(`${base}/app-config`, {fallbackUrl: `https://example.com/${name}`})).status, 200);
	}

	const detailsOf = async (type: string) => (await updatesOf(service, acme, type)).map(({details}) => details);
	const repeated = {count: 3};
	const [ofTemplate, ...moreTemplates] = await detailsOf('Template');
	t.deepEqual(moreTemplates, []);
	t.like(ofTemplate, {repeated, changes: {params: {from: {from: '1', to: '2'}, to: {from: 'c', to: 'c'}}}});
	const [ofChannel, ...moreChannels] = await detailsOf('Channel');
	t.deepEqual(moreChannels, []);
	t.like(ofChannel, {repeated, from: 'radio', to: 'radio c'});
	const configs = await detailsOf('AppConfig');
	t.is(configs.length, 1);
	t.is(configs[0]?.['fallbackUrl'], 'https://example.com/c');
});

test('a record is forgotten when it is as old as the policy says, and not before', async (t) => {
	const {clock, service, acme} = await start(t);
	await link(acme);
	clock.advance(retention().auditDays * DAY - 1);
	t.is(await forgetAudit(service.services.db, clock.now()), 0);
	const {length} = await recordsOf(service, acme);
	t.true(length > 0);
	await admin(service).patch(`/admin/organizations/${acme.id}`, {contactEmail: 'mona@acme.test'});
	clock.advance(1);
	await forgetAudit(service.services.db, clock.now());
	const left = await recordsOf(service, acme);
	t.deepEqual(
		left.map(({action}) => action),
		['UPDATE'],
	);
});
