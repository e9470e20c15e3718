import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf, startService} from '../../helpers/service.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.oplink.test', PUBLIC_URL: 'https://api.oplink.test'});

const setup = async () => {
	const org = await organization(service);
	return {org, base: `/admin/organizations/${org.id}/templates`, operator: admin(service)};
};

const full = {
	name: 'Spring sale',
	path: '/sale',
	params: {campaign: 'spring'},
	og: {title: 'Sale', description: 'Half the price', imageUrl: 'https://img.example.com/a.png'},
	fallbackUrl: 'https://www.example.com/sale',
	channel: 'email',
	tags: ['sale', 'spring'],
	utmSource: 'a',
	utmMedium: 'b',
	utmCampaign: 'c',
	utmTerm: 'd',
	utmContent: 'e',
	deferredDeepLinking: false,
	matchWindowHours: 24,
};
const unset = {
	path: null,
	params: null,
	og: {title: null, description: null, imageUrl: null},
	fallbackUrl: null,
	channel: null,
	tags: null,
	utmSource: null,
	utmMedium: null,
	utmCampaign: null,
	utmTerm: null,
	utmContent: null,
	deferredDeepLinking: null,
	matchWindowHours: null,
};

test('a template holds every field that it was given', async (t) => {
	const {base, operator} = await setup();
	const created = await operator.post(base, full);
	t.is(created.status, 201);
	const {id, createdAt, updatedAt, ...fields} = created.body;
	t.deepEqual(fields, full);
	t.is(createdAt, '2026-03-10T12:00:00.000Z');
	t.is(updatedAt, createdAt);
	t.deepEqual((await operator.get(`${base}/${id}`)).body, created.body);
});

test('a template requires only a name, and has null for the rest', async (t) => {
	const {base, operator} = await setup();
	const {status, body} = await operator.post(base, {name: 'bare'});
	t.is(status, 201);
	t.like(body, {name: 'bare', ...unset});
});

test('PATCH changes only the given fields, also within og, and null clears', async (t) => {
	const {base, operator} = await setup();
	const {body: template} = await operator.post(base, full);
	const one = await operator.patch(`${base}/${template.id}`, {og: {title: 'Last days'}, utmTerm: null});
	t.is(one.status, 200);
	t.deepEqual(one.body, {...template, og: {...full.og, title: 'Last days'}, utmTerm: null});

	const cleared = Object.fromEntries(Object.keys(unset).map((field) => [field, null]));
	const all = await operator.patch(`${base}/${template.id}`, cleared);
	t.is(all.status, 200);
	t.deepEqual(all.body, {...template, ...unset});
	t.deepEqual((await operator.patch(`${base}/${template.id}`, {})).body, all.body);
	t.is((await operator.patch(`${base}/${template.id}`, {name: null})).status, 400);
});

test('a name is used once in an organization, also by a change, and freely in another', async (t) => {
	const {base, operator} = await setup();
	const other = await setup();
	await operator.post(base, {name: 'one'});
	const {body: two} = await operator.post(base, {name: 'two'});
	const again = await operator.post(base, {name: 'one'});
	t.is(again.status, 409);
	t.is(again.body.message, "A template named 'one' already exists");
	t.is((await operator.patch(`${base}/${two.id}`, {name: 'one'})).status, 409);
	t.is((await operator.post(other.base, {name: 'one'})).status, 201);
});

test('an unknown channel is 400, and a label that its channel has lost may stay', async (t) => {
	const {org, base, operator} = await setup();
	const unknown = await operator.post(base, {name: 'x', channel: 'smoke signals'});
	t.is(unknown.status, 400);
	t.is(unknown.body.message, "Unknown channel 'smoke signals'");

	const channels = `/admin/organizations/${org.id}/channels`;
	const {body: tv} = await operator.post(channels, {name: 'tv'});
	const {body: template} = await operator.post(base, {name: 'spot', channel: 'tv'});
	await operator.delete(`${channels}/${tv.id}`);
	t.is((await operator.patch(`${base}/${template.id}`, {channel: 'tv', path: '/spot'})).status, 200);
	t.is((await operator.patch(`${base}/${template.id}`, {channel: 'radio'})).status, 400);
});

const refused = test.macro({
	exec: async (t, fields: object, ...bad: string[]) => {
		const {base, operator} = await setup();
		const {status, body} = await operator.post(base, {name: 'refused', ...fields});
		t.is(status, 400);
		t.is(body.message, 'Validation failed');
		t.deepEqual(body.details.map(({field}: {field: string}) => field).toSorted(), bad.toSorted());
	},
	title: (_, fields) => `a template with ${JSON.stringify(fields).slice(0, 60)} is refused with 400`,
});
test(refused, {name: ' '}, 'name');
test(refused, {title: 'Only links have one'}, 'title');
test(refused, {path: ''}, 'path');
test(refused, {path: 'x'.repeat(2049)}, 'path');
test(refused, {params: {a: 1}}, 'params.a');
test(refused, {params: Object.fromEntries(Array.from({length: 51}, (_, index) => [`p${index}`, 'v']))}, 'params');
test(refused, {params: {a: 'x'.repeat(8192)}}, 'params');
test(refused, {tags: Array.from({length: 21}, (_, index) => `t${index}`)}, 'tags');
test(refused, {tags: ['x'.repeat(51)]}, 'tags.0');
test(refused, {utmSource: 'x'.repeat(256)}, 'utmSource');
test(refused, {matchWindowHours: 0}, 'matchWindowHours');
test(refused, {matchWindowHours: 721}, 'matchWindowHours');
test(refused, {matchWindowHours: 1.5}, 'matchWindowHours');
test(refused, {deferredDeepLinking: 'true'}, 'deferredDeepLinking');
test(
	refused,
	{og: {title: 'x'.repeat(256), imageUrl: 'data:text/html,x', colour: 1}},
	'og.title',
	'og.imageUrl',
	'og.colour',
);
test(refused, {fallbackUrl: 'javascript:alert(1)'}, 'fallbackUrl');
test(refused, {fallbackUrl: 'https:evil.example'}, 'fallbackUrl');
test(refused, {fallbackUrl: 'https://user@www.example.com/'}, 'fallbackUrl');
test(refused, {fallbackUrl: 'http://2130706433/'}, 'fallbackUrl');
test(
	refused,
	{fallbackUrl: 'https://go.oplink.test/AB12/x', og: {imageUrl: 'https://GO.oplink.test'}},
	'fallbackUrl',
	'og.imageUrl',
);

test('a URL is stored in normalized form', async (t) => {
	const {base, operator} = await setup();
	const {body} = await operator.post(base, {name: 'url', fallbackUrl: 'HTTPS://WWW.Example.com/a b"><script>'});
	t.is(body.fallbackUrl, 'https://www.example.com/a%20b%22%3E%3Cscript%3E');
});

test('a template in use is not deleted until its links release it', async (t) => {
	const {org, base, operator} = await setup();
	const {body: template} = await operator.post(base, {name: 'used', path: '/sale'});
	const {id} = await link(org, {path: '/own', templateId: template.id});
	const answer = await operator.delete(`${base}/${template.id}`);
	t.is(answer.status, 409);
	t.is((await operator.get(`${base}/${template.id}`)).status, 200);
	t.is((await org.server.patch(`/links/${id}`, {templateId: null})).status, 200);
	const deleted = await operator.delete(`${base}/${template.id}`);
	t.is(deleted.status, 200);
	t.deepEqual(deleted.body, {id: template.id, deleted: true});
	t.is((await operator.get(`${base}/${template.id}`)).status, 404);
});

test('the path of a template stays while a link depends on it', async (t) => {
	const {org, base, operator} = await setup();
	const {body: template} = await operator.post(base, {name: 'path', path: '/sale'});
	const created = await org.server.post('/links', {templateId: template.id});
	t.is(created.status, 201);
	t.is((await operator.patch(`${base}/${template.id}`, {path: null})).status, 409);
	t.is((await operator.get(`${base}/${template.id}`)).body.path, '/sale');
	t.is((await operator.patch(`${base}/${template.id}`, {path: '/other'})).status, 200);
	t.is((await org.server.patch(`/links/${created.body.id}`, {path: '/own'})).status, 200);
	t.is((await operator.patch(`${base}/${template.id}`, {path: null})).status, 200);
});

test('templates are listed newest first, page by page', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const {id} = await organization(own);
	const operator = admin(own);
	const base = `/admin/organizations/${id}/templates`;
	for (const name of ['first', 'second', 'third']) {
		await operator.post(base, {name});
		own.clock.advance(1);
	}

	const {body} = await operator.get(`${base}?limit=2`);
	t.like(body, {total: 3, page: 1, limit: 2});
	t.deepEqual(
		body.data.map(({name}: {name: string}) => name),
		['third', 'second'],
	);
	const next = await operator.get(`${base}?limit=2&page=2`);
	t.deepEqual(
		next.body.data.map(({name}: {name: string}) => name),
		['first'],
	);
	t.is((await operator.get(`${base}?limit=101`)).status, 400);
});

test('another organization does not see a template', async (t) => {
	const {base, operator} = await setup();
	const {body: template} = await operator.post(base, {name: 'mine'});
	const other = await setup();
	t.is((await operator.get(`${other.base}/${template.id}`)).status, 404);
	t.is((await operator.patch(`${other.base}/${template.id}`, {name: 'theirs'})).status, 404);
	t.is((await operator.delete(`${other.base}/${template.id}`)).status, 404);
	t.is((await operator.get(base)).body.total, 1);
});

test('writes are audited, refused ones are not', async (t) => {
	const {org, base, operator} = await setup();
	const {body: template} = await operator.post(base, {name: 'audited'});
	await operator.patch(`${base}/${template.id}`, {path: '/x'});
	await operator.patch(`${base}/${template.id}`, {});
	await operator.patch(`${base}/${template.id}`, {channel: 'unknown'});
	await operator.delete(`${base}/${template.id}`);
	const {body} = await operator.get(`/admin/organizations/${org.id}/audit-log?limit=100`);
	const records = body.data.filter(({entityId}: {entityId: string}) => entityId === template.id);
	t.deepEqual(records.map(({action}: {action: string}) => action).sort(), ['CREATE', 'DELETE', 'UPDATE']);
});
