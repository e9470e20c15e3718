import test from 'ava';
import {approvedDomain, link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {atOnce, fieldsOf, recordsOf} from '../_answers.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.example.com'});

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const optional = [
	...['params', 'title', 'tags', 'channel', 'utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'],
	...['fallbackUrl', 'expiry', 'templateId', 'externalId'],
];

test('a create with only a path answers 201 and the whole link, omitted fields being null', async (t) => {
	const acme = await organization(service);
	const {status, body} = await acme.server.post('/links', {path: '/sale'});
	t.is(status, 201);
	t.regex(body.shortCode, /^[A-Za-z0-9]{7}$/);
	t.regex(body.domainId, /^[0-9a-f-]{36}$/);
	t.deepEqual(body, {
		id: body.id,
		organizationId: acme.id,
		domainId: body.domainId,
		shortCode: body.shortCode,
		url: `https://go.example.com/${acme.orgKey}/${body.shortCode}`,
		path: '/sale',
		...Object.fromEntries(optional.map((field) => [field, null])),
		og: {title: null, description: null, imageUrl: null},
		isActive: true,
		deferredDeepLinking: true,
		matchWindowHours: 168,
		createdAt: '2026-03-10T12:00:00.000Z',
		updatedAt: '2026-03-10T12:00:00.000Z',
	});
});

test('a template provides path, window and deferral that the link omits; without one a path is required', async (t) => {
	const acme = await organization(service);
	const defaults = {matchWindowHours: 24, deferredDeepLinking: false};
	const full = await acme.operator.post('/templates', {name: 'full', path: '/from-template', ...defaults});
	const bare = await acme.operator.post('/templates', {name: 'bare'});
	const created = await acme.server.post('/links', {templateId: full.body.id});
	t.is(created.status, 201);
	t.like(created.body, {path: null, templateId: full.body.id, ...defaults});
	const one = `/links/${created.body.id}`;
	for (const {status, body} of [
		await acme.server.post('/links', {templateId: bare.body.id}),
		await acme.server.patch(one, {templateId: null}),
	]) {
		t.is(status, 400);
		t.is(body.message, 'Validation failed');
		t.deepEqual(body.details, [{message: 'path is required', field: 'path'}]);
	}

	t.is((await acme.server.patch(one, {templateId: null, path: '/y'})).status, 200);
});

test("another organization's domain, template and channel are not found, on create and on update", async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const template = await other.operator.post('/templates', {name: 'theirs', path: '/x'});
	const domain = await approvedDomain(other, 'go.other-create.com');
	await other.operator.post('/channels', {name: 'theirs'});
	const {id} = await link(acme);
	for (const [field, expected] of [
		[{templateId: template.body.id}, [404, 'Template not found']],
		[{domainId: domain.id}, [404, 'Domain not found']],
		[{domainId: UNKNOWN}, [404, 'Domain not found']],
		[{channel: 'theirs'}, [400, "Unknown channel 'theirs'"]],
	] as const) {
		const created = await acme.server.post('/links', {path: '/a', ...field});
		t.deepEqual([created.status, created.body.message], expected);
		const updated = await acme.server.patch(`/links/${id}`, field);
		t.deepEqual([updated.status, updated.body.message], expected);
	}
});

test('a custom domain is usable once it is verified, and then no fallback may lead to it', async (t) => {
	const acme = await organization(service);
	const {body: domain} = await acme.operator.post('/domains', {hostname: 'go.acme-create.com'});
	const create = (fields: object) => acme.server.post('/links', {path: '/a', ...fields});
	const refusesLoop = async (fields: object) => {
		const loop = await create({...fields, fallbackUrl: 'https://go.acme-create.com/y'});
		t.is(loop.status, 400);
		t.deepEqual(fieldsOf(loop.body), ['fallbackUrl']);
	};
	t.is((await create({domainId: domain.id})).status, 404);
	await acme.operator.post(`/domains/${domain.id}/approve`);
	const created = await create({domainId: domain.id.toUpperCase(), shortCode: 'x'});
	t.is(created.body.url, `https://go.acme-create.com/${acme.orgKey}/x`);
	await refusesLoop({domainId: domain.id});

	t.is((await acme.operator.post(`/domains/${domain.id}/default`)).status, 200);
	const chosen = await create({fallbackUrl: 'https://acme.com/', shortCode: 'z'});
	t.is(chosen.status, 201);
	t.like(chosen.body, {url: `https://go.acme-create.com/${acme.orgKey}/z`, domainId: domain.id});
	await refusesLoop({});
});

test('the same short code or external id twice in parallel makes one link, and one in each organization', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	for (const name of [{shortCode: 'once'}, {externalId: 'crm'}]) {
		const statuses = await atOnce(6, () => acme.server.post('/links', {path: '/a', ...name}));
		t.deepEqual(statuses, [201, 409, 409, 409, 409, 409]);
	}

	// A refused create was not counted.
	t.deepEqual(await service.services.db('link_counts').where({organization_id: acme.id}).pluck('links'), [2]);
	t.is((await acme.server.get('/links')).body.total, 2);
	t.like(await link(other, {shortCode: 'once', externalId: 'crm'}), {organizationId: other.id});
});

test('parallel creates fill the quota to its last link and never exceed it', async (t) => {
	const acme = await organization(service, {plan: 'STARTER'});
	const links = `/admin/organizations/${acme.id}/links`;
	const operator = admin(service);
	const create = () => operator.post(links, {path: '/a'});
	t.deepEqual(await atOnce(60, create), [...Array(50).fill(201), ...Array(10).fill(402)]);
	const {body: list} = await operator.get(links);
	t.is(list.total, 50);
	t.like((await create()).body, {code: 'QUOTA_EXCEEDED', quota: 'links', message: "You've reached your links limit."});

	t.is((await operator.delete(`${links}/${list.data[0].id}`)).status, 200);
	t.deepEqual(await atOnce(3, create), [201, 402, 402]);
});

test('checks come in order: validation, plan, app configuration, quota, references, conflict', async (t) => {
	const acme = await organization(service, {plan: null, appConfig: null});
	const post = async (body: object) => {
		const {status, body: answer} = await acme.server.post('/links', body);
		return [status, answer.code ?? answer.message];
	};
	const foreign = {path: '/a', domainId: UNKNOWN, shortCode: 'taken'};
	t.deepEqual(await post({}), [400, 'Validation failed']);
	t.deepEqual(await post(foreign), [402, 'PLAN_NOT_SELECTED']);
	await acme.operator.put('/plan', {plan: 'GROWTH'});
	t.deepEqual(await post(foreign), [428, 'APP_CONFIG_REQUIRED']);
	await acme.operator.put('/app-config', {ios: null, android: []});
	const {id} = await link(acme, {shortCode: 'taken'});
	const {db, clock} = service.services;
	const month = `${clock.now().toISOString().slice(0, 7)}-01`;
	await db('click_counts').insert({organization_id: acme.id, month, clicks: 250_000});
	t.deepEqual(await post(foreign), [402, 'QUOTA_EXCEEDED']);
	await db('click_counts').where({organization_id: acme.id}).update({clicks: 249_999});
	t.deepEqual(await post(foreign), [404, 'Domain not found']);
	t.deepEqual(await post({path: '/a', shortCode: 'taken'}), [409, "Short code 'taken' is already in use"]);

	// A refused one leaves no audit record.
	const [record, ...others] = await recordsOf(acme, 'Link');
	t.deepEqual(others, []);
	t.like(record, {action: 'CREATE', entityId: id, actor: {type: 'API_KEY'}, details: {shortCode: 'taken'}});
});
