import test from 'ava';
import {applyRetention} from '../../../src/operations/jobs/retention.ts';
import {retention} from '../../../src/platform/config/policies.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {actionsOn, recordsOf} from '../_answers.ts';
import {sharedFields} from '../_fields.ts';
import {importInto} from './_import.ts';

const service = serviceOf(test);

const updatesOf = async (acme: TestOrganization, type = 'Link') =>
	(await recordsOf(acme, type)).filter(({action}) => action === 'UPDATE');

// Those that move the clock are serial.

test.serial('a record is forgotten when it is as old as the policy says, and not before', async (t) => {
	const {clock, services} = service;
	const acme = await organization(service);
	clock.advance(retention().auditDays * 86_400 - 1);
	const forget = () => applyRetention(services.db, clock.now(), 'forget_audit');
	t.deepEqual(await forget(), [0]);
	await admin(service).patch(`/admin/organizations/${acme.id}`, {contactEmail: 'mona@acme.test'});
	clock.advance(1);
	const [forgotten = 0] = await forget();
	t.true(forgotten > 0);
	t.deepEqual(await services.db('audit_log').where({organization_id: acme.id}).pluck('action'), ['UPDATE']);
});

test.serial('an update changes the fields that it names and no others, and without differences nothing', async (t) => {
	const acme = await organization(service);
	const og = {title: 'T', description: 'D', imageUrl: 'https://example.org/i.png'};
	const before = await link(acme, {title: 'Old', tags: ['a'], params: {a: '1', b: '2'}, og});
	service.clock.advance(60);
	for (const same of [undefined, {}, {title: 'Old', params: {b: '2', a: '1'}}]) {
		t.deepEqual((await acme.server.patch(`/links/${before.id}`, same)).body, before);
	}

	t.deepEqual(await updatesOf(acme), []);
	const changes = {title: 'New', og: {title: null, description: 'E'}};
	const {status, body} = await acme.server.patch(`/links/${before.id}`, changes);
	t.is(status, 200);
	const updatedAt = service.clock.now().toISOString();
	t.deepEqual(body, {...before, title: 'New', og: {...og, ...changes.og}, updatedAt});
});

test.serial('changes of a link by one key in an hour share a record of every field and how often', async (t) => {
	const {clock} = service;
	const acme = await organization(service);
	const {id} = await link(acme, {title: 'A', shortCode: 'one'});
	const since = clock.now().toISOString();
	let last = {};
	for (const [index, body] of [
		{title: 'B'},
		{path: '/new'},
		{title: 'C', isActive: true, tags: ['x']},
		{title: 'D'},
	].entries()) {
		clock.advance(index === 0 ? 0 : 10);
		last = {at: clock.now().toISOString(), requestId: `request-${index}`};
		t.is((await acme.server.patch(`/links/${id}`, body, {'X-Request-Id': `request-${index}`})).status, 200);
	}

	const [record, ...others] = await updatesOf(acme);
	t.deepEqual(others, []);
	t.like(record, {entityId: id, ...last, details: {shortCode: 'one'}});
	t.deepEqual(record?.details['repeated'], {count: 4, since});
	t.deepEqual(record?.details['changes'], {
		title: {from: 'A', to: 'D'},
		path: {from: '/sale', to: '/new'},
		tags: {from: null, to: ['x']},
	});
});

test.serial('another hour, link or actor has a separate record, and so has each create and delete', async (t) => {
	const {clock} = service;
	const acme = await organization(service);
	const [one, other] = [await link(acme), await link(acme)];
	const change = (id: string) => acme.server.patch(`/links/${id}`, {title: clock.now().toISOString() + Math.random()});
	await change(one.id);
	await change(one.id);
	await change(other.id);
	await acme.operator.patch(`/links/${one.id}`, {title: 'by the operator'});
	t.is((await updatesOf(acme)).length, 3);
	clock.advance(3600);
	await change(one.id);
	const updates = await updatesOf(acme);
	t.is(updates.length, 4);
	t.is(updates[0]?.details['repeated'], undefined);
	await acme.server.delete(`/links/${one.id}`);
	await acme.server.delete(`/links/${other.id}`);
	const [creates, deletes] = [Array(2).fill('CREATE'), Array(2).fill('DELETE')];
	t.deepEqual(await actionsOn(acme, 'Link'), [...creates, ...deletes, ...Array(4).fill('UPDATE')]);
});

test('changes at once and within one import are all counted', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme, {shortCode: 'one'});
	const titles = Array.from({length: 12}, (_, index) => `title ${index}`);
	const answers = await Promise.all(titles.map((title) => acme.server.patch(`/links/${id}`, {title})));
	t.true(answers.every(({status}) => status === 200));
	const rows = titles.map((_, index) => ({shortCode: 'one', path: `/title-${index}`}));
	t.is((await importInto(acme, rows, '?onConflict=update')).length, 12);
	const [byImport, byKey, ...others] = (await updatesOf(acme)).toSorted((a, b) =>
		a.actor.type.localeCompare(b.actor.type),
	);
	t.deepEqual(others, []);
	t.like(byImport?.details, {repeated: {count: 12}, changes: {path: {to: '/title-11'}}});
	t.like(byKey?.details, {repeated: {count: 12}, changes: {title: {from: null}}});
});

test('changes of a template, a channel or the app configuration share a record as well', async (t) => {
	const acme = await organization(service);
	const {body: template} = await acme.operator.post('/templates', {name: 'one', params: {from: '1', to: '2'}});
	const {body: channel} = await acme.operator.post('/channels', {name: 'radio'});
	for (const name of ['a', 'b', 'c']) {
		t.is((await acme.operator.patch(`/templates/${template.id}`, {params: {from: name, to: name}})).status, 200);
		t.is((await acme.operator.patch(`/channels/${channel.id}`, {name: `radio ${name}`})).status, 200);
		t.is((await acme.operator.put('/app-config', {fallbackUrl: `https://example.com/${name}`})).status, 200);
	}

	for (const [type, details] of [
		['Template', {repeated: {count: 3}, changes: {params: {from: {from: '1', to: '2'}, to: {from: 'c', to: 'c'}}}}],
		['Channel', {repeated: {count: 3}, from: 'radio', to: 'radio c'}],
		['AppConfig', {fallbackUrl: 'https://example.com/c'}],
	] as const) {
		const [record, ...others] = await updatesOf(acme, type);
		t.deepEqual(others, [], type);
		t.like(record?.details, details);
	}
});

test('every field comes back as it was given, URLs and times in their normal form, and null clears it', async (t) => {
	const acme = await organization(service);
	const bare = await link(acme, {path: '/item/7', shortCode: 'bare'});
	const {body: template} = await acme.operator.post('/templates', {name: 'one'});
	const fields = {
		...sharedFields,
		title: 'Summer',
		fallbackUrl: 'HTTPS://WWW.example.com/a b',
		expiry: '2030-01-01T02:00:00+02:00',
		templateId: template.id,
		externalId: 'crm-1',
		isActive: false,
		domainId: bare['domainId'],
	};
	const full = await link(acme, {path: '/item/7', shortCode: 'Summer_sale-1', ...fields});
	const normal = {fallbackUrl: sharedFields.fallbackUrl, expiry: '2030-01-01T00:00:00.000Z'};
	t.like(full, {path: '/item/7', shortCode: 'Summer_sale-1', ...fields, ...normal});
	const nulls = Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
	const {status, body} = await acme.server.patch(`/links/${full.id}`, nulls);
	t.is(status, 200);
	t.deepEqual(body, {...bare, id: full.id, shortCode: full.shortCode, url: full.url});
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
	await acme.operator.put('/plan', {plan: null});
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
