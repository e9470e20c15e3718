import {randomUUID} from 'node:crypto';
import test from 'ava';
import {organization, type TestOrganization} from '../../helpers/builders.ts';
import {anonymous, type Headers} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {pathOf} from '../matches/_phones.ts';

const service = serviceOf(test);
const html: Headers = {'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'};

/** An organization with a template for invitations that apps may use. */
const inviting = async (clientCreate: object) => {
	const acme = await organization(service);
	const fields = {name: 'invite', path: '/invite', params: {campaign: 'friends'}, clientCreate};
	const {status, text, body} = await acme.operator.post('/templates', fields);
	if (status !== 201) {
		throw new Error(text);
	}

	return {...acme, template: body as {id: string; clientCreate: object}};
};

const open = {fields: ['params', 'title']};
const deviceId = 'device-of-ada';

/** What Ada's app creates of the template. */
const create = ({client}: TestOrganization, fields: object = {}) =>
	client.post('/sdk/links', {deviceId, template: 'invite', ...fields});

test('an app creates a link of an open template, and the same content of the device is the same link', async (t) => {
	const acme = await inviting(open);
	const fields = {params: {ref: '42', by: 'ada'}, title: 'From Ada'};
	const first = await create(acme, fields);
	t.is(first.status, 201);
	const {id, shortCode, url} = first.body;
	t.deepEqual(first.body, {id, shortCode, url});
	for (const same of [{params: {by: 'ada', ref: '42'}, path: null}, {template: acme.template.id.toUpperCase()}]) {
		const again = await create(acme, {...fields, ...same});
		t.deepEqual([again.status, again.body], [200, first.body]);
	}

	const data = await anonymous(service).get(`${pathOf(url)}/data`);
	t.deepEqual(data.body, {linkId: id, path: '/invite', params: {campaign: 'friends', ref: '42', by: 'ada'}});
	for (const other of [{title: 'From me'}, {params: {ref: '43'}}, {deviceId: 'device-of-bob'}]) {
		const made = await create(acme, {...fields, ...other});
		t.is(made.status, 201);
		t.not(made.body.id, id);
	}

	const audit = await acme.operator.get('/audit-log');
	const record = audit.body.data.find(({entityId}: {entityId: string}) => entityId === id);
	t.like(record, {action: 'CREATE', entityType: 'Link', actor: {type: 'API_KEY', name: acme.clientKey.slice(0, 16)}});
	t.is((await acme.server.get('/links')).body.total, 4);
	t.is((await acme.server.get(`/links/${id}`)).body.title, 'From Ada');
});

test('a link that was deleted is created again, and one that was deactivated stays so', async (t) => {
	const acme = await inviting(open);
	const {body: first} = await create(acme);
	await acme.server.patch(`/links/${first.id}`, {isActive: false});
	t.deepEqual((await create(acme)).body, first);
	t.is((await anonymous(service).get(pathOf(first.url), html)).status, 410);
	await acme.server.delete(`/links/${first.id}`);
	const second = await create(acme);
	t.is(second.status, 201);
	t.not(second.body.id, first.id);
});

test('fields that the template does not open are refused by name, and unknown ones ignored', async (t) => {
	const acme = await inviting({fields: ['title']});
	const closed = (field: string) => ({
		field,
		message: `${field} is not open to apps: the template's clientCreate does not list it`,
	});
	const refused = await create(acme, {title: 'A', params: {a: '1'}, path: '/admin'});
	t.is(refused.status, 400);
	t.deepEqual(refused.body.details, [closed('params'), closed('path')]);
	const foreign = await create(acme, {fallbackUrl: 'https://elsewhere.example', shortCode: 'mine', expiry: null});
	t.is(foreign.status, 400);
	const messages = foreign.body.details.map(({message}: {message: string}) => message);
	t.deepEqual(messages, ['fallbackUrl is not allowed', 'shortCode is not allowed', 'expiry is not allowed']);
	t.is((await create(acme, {title: 'A', pushToken: 'of a newer SDK'})).status, 201);
	t.is((await create(acme, {title: 'x'.repeat(256)})).body.details[0].field, 'title');
	t.is((await create(acme, {deviceId: 'short'})).body.details[0].field, 'deviceId');
	t.is((await acme.server.get('/links')).body.total, 1);
});

test('a path is only below the prefix, however it is written', async (t) => {
	const acme = await inviting({fields: [], pathPrefix: '/invite'});
	const post = (path: string) => create(acme, {deviceId: randomUUID(), path});
	for (const path of ['/invite', '/invite/42', '/invite/a%20b/', '/invite?x=/../y', '/invite/%C3%A9', '/invite/..a']) {
		t.is((await post(path)).status, 201, path);
	}

	const outside = ['/', '/admin', 'invite/42', '/invited', '/Invite/42', '/invite//evil.example'];
	const upwards = ['/invite/../admin', '/invite/./42', '/invite/..', '/invite/..;x=1/admin', '/invite/.\t./admin'];
	const escapedDots = ['/invite/%2e%2E/admin', '/invite/%252e%252e/admin'];
	const slashes = ['/invite/..%2fadmin', '/invite/a%2Fb', '/invite/a%252fb', '/invite/\\..\\admin', '/invite/%5c..'];
	for (const path of [...outside, ...upwards, ...escapedDots, ...slashes, '/invite/%', '/invite/%ff']) {
		const {status, body} = await post(path);
		t.deepEqual([status, body.details], [400, [{field: 'path', message: 'path must be below /invite'}]], path);
	}
});

test('checks come in the order of POST /links: plan, app configuration, quota, template, fields', async (t) => {
	const acme = await organization(service, {plan: null, appConfig: null});
	const post = async (body: object = {}) => {
		const answer = await create(acme, {template: 'nowhere', ...body});
		return [answer.status, answer.body.code ?? answer.body.message];
	};
	t.deepEqual(await post(), [402, 'PLAN_NOT_SELECTED']);
	await acme.operator.put('/plan', {plan: 'GROWTH'});
	t.deepEqual(await post(), [428, 'APP_CONFIG_REQUIRED']);
	await acme.operator.put('/app-config', {fallbackUrl: 'https://www.example.com'});
	const notOpen = [404, 'Template not found, or its clientCreate opens it to no app'];
	t.deepEqual(await post(), notOpen);
	const {body: template} = await acme.operator.post('/templates', {name: 'invite'});
	t.deepEqual(await post({template: 'invite'}), notOpen);
	t.false('clientCreate' in template);
	await acme.operator.patch(`/templates/${template.id}`, {clientCreate: open});
	// The template has no path, and the app may not give one.
	t.deepEqual(await post({template: 'invite'}), [400, 'Validation failed']);
	await acme.operator.patch(`/templates/${template.id}`, {path: '/invite'});
	t.is((await post({template: 'invite'}))[0], 201);
	await acme.operator.patch(`/templates/${template.id}`, {clientCreate: null});
	t.is((await post({template: 'invite'}))[0], 200);
	t.deepEqual(await post({template: 'invite', title: 'A'}), notOpen);
	const foreign = await inviting(open);
	t.deepEqual(await post({template: foreign.template.id}), notOpen);
});

test('parallel requests never pass the quota, and all of one content get the one link', async (t) => {
	const acme = await inviting(open);
	await service.services.db('link_counts').insert({organization_id: acme.id, links: 9_998});
	const same = await Promise.all(Array.from({length: 8}, () => create(acme, {title: 'same'})));
	t.deepEqual(same.map(({status}) => status).sort(), [200, 200, 200, 200, 200, 200, 200, 201]);
	t.is(new Set(same.map(({body}) => body.id)).size, 1);
	const others = await Promise.all(Array.from({length: 6}, (_, index) => create(acme, {title: `other ${index}`})));
	t.deepEqual(others.map(({status}) => status).sort(), [201, 402, 402, 402, 402, 402]);
	t.like(others.find(({status}) => status === 402)?.body, {code: 'QUOTA_EXCEEDED', quota: 'links'});
	t.is((await create(acme, {title: 'same'})).status, 200);
	t.is((await acme.server.get('/links')).body.total, 2);
});

test('a device has 20 requests a minute, and others of the key have theirs', async (t) => {
	const acme = await inviting(open);
	const answers = await Promise.all(Array.from({length: 21}, () => create(acme)));
	const [refused, ...others] = answers.filter(({status}) => status === 429);
	t.deepEqual(others, []);
	t.regex(refused?.body.message, /^Rate limit exceeded\. Retry after \d+ second\(s\)\.$/);
	t.is((await create(acme, {deviceId: 'device-of-bob'})).status, 201);
});

test('clientCreate is validated, and replaced as a whole', async (t) => {
	const acme = await inviting({fields: ['params'], pathPrefix: '/invite/'});
	const change = (clientCreate: object | null) => acme.operator.patch(`/templates/${acme.template.id}`, {clientCreate});
	t.deepEqual(acme.template.clientCreate, {fields: ['params'], pathPrefix: '/invite/'});
	for (const clientCreate of [
		{},
		{fields: ['shortCode']},
		{fields: ['title', 'title']},
		{fields: [], pathPrefix: 'invite'},
		{fields: [], pathPrefix: '/a/../b'},
		{fields: [], pathPrefix: '/a?b'},
		{fields: [], other: 1},
	]) {
		t.is((await change(clientCreate)).status, 400, JSON.stringify(clientCreate));
	}

	const {body} = await change({fields: ['title']});
	t.deepEqual(body.clientCreate, {fields: ['title']});
	t.false('clientCreate' in (await change(null)).body);
});

test('links of a device are exported, and emptied and ended by its erasure', async (t) => {
	const acme = await inviting(open);
	const device = `device-${randomUUID()}`;
	const fields = {deviceId: device, title: 'From Ada', params: {by: 'ada'}};
	const {body: created} = await create(acme, fields);
	const exported = await acme.operator.get(`/devices/${device}/data`);
	t.is(exported.status, 200);
	t.like(exported.body.links[0], {id: created.id, title: 'From Ada', params: {by: 'ada'}});
	const erased = await acme.operator.delete(`/devices/${device}/data`);
	t.deepEqual(erased.body.erased, {devices: 0, events: 0, matchAttempts: 0, clicks: 0, links: 1});
	t.is((await acme.operator.get(`/devices/${device}/data`)).status, 404);
	t.is((await anonymous(service).get(pathOf(created.url), html)).status, 410);
	const {body: left} = await acme.server.get(`/links/${created.id}`);
	t.like(left, {title: null, params: null, isActive: false});
	t.is((await create(acme, fields)).status, 201);
});
