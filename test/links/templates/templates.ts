import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {type Answer, admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {actionsOn, fieldsOf, recordsOf} from '../_answers.ts';
import {sharedFields} from '../_fields.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.oplink.test', PUBLIC_URL: 'https://api.oplink.test'});

const setup = async () => {
	const org = await organization(service);
	return {org, base: `/admin/organizations/${org.id}/templates`, operator: admin(service)};
};

const full = {path: '/sale', ...sharedFields};
const unset = {
	...Object.fromEntries(Object.keys(full).map((field) => [field, null])),
	og: {title: null, description: null, imageUrl: null},
};

test('a template holds every field that it was given, and null for all others but its name', async (t) => {
	const {base, operator} = await setup();
	for (const given of [{name: 'Spring sale', ...full}, {name: 'bare'}]) {
		const {status, body} = await operator.post(base, given);
		t.is(status, 201);
		const {id, createdAt, updatedAt, ...fields} = body;
		t.deepEqual(fields, {...unset, ...given});
		t.is(createdAt, service.clock.now().toISOString());
		t.is(updatedAt, createdAt);
		t.deepEqual((await operator.get(`${base}/${id}`)).body, body);
	}
});

test('PATCH changes only the given fields, also within og, and null clears', async (t) => {
	const {org, base, operator} = await setup();
	const {body: template} = await operator.post(base, {name: 'Spring sale', ...full});
	const one = await operator.patch(`${base}/${template.id}`, {og: {title: 'Last days'}, utmTerm: null});
	t.is(one.status, 200);
	t.deepEqual(one.body, {...template, og: {...full.og, title: 'Last days'}, utmTerm: null});

	const cleared = Object.fromEntries(Object.keys(full).map((field) => [field, null]));
	const all = await operator.patch(`${base}/${template.id}`, cleared);
	t.is(all.status, 200);
	t.deepEqual(all.body, {...template, ...unset});
	t.deepEqual((await operator.patch(`${base}/${template.id}`, {})).body, all.body);
	t.is((await operator.patch(`${base}/${template.id}`, {name: null})).status, 400);
	const [update, ...others] = (await recordsOf(org, 'Template')).filter(({action}) => action === 'UPDATE');
	t.deepEqual(others, []);
	// Neither the update without changes nor the refused one is counted.
	t.like(update, {entityId: template.id, details: {repeated: {count: 2}}});
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

	const {body: tv} = await org.operator.post('/channels', {name: 'tv'});
	const {body: template} = await operator.post(base, {name: 'spot', channel: 'tv'});
	await org.operator.delete(`/channels/${tv.id}`);
	t.is((await operator.patch(`${base}/${template.id}`, {channel: 'tv', path: '/spot'})).status, 200);
	t.is((await operator.patch(`${base}/${template.id}`, {channel: 'radio'})).status, 400);
});

test('every invalid field is named, on create and on update', async (t) => {
	const {base, operator} = await setup();
	const {body: template} = await operator.post(base, {name: 'valid'});
	// The bounds of the other fields are those of links.
	const invalid = {
		name: ' ',
		title: 'Only links have one',
		path: '',
		fallbackUrl: 'https://go.oplink.test/AB12/x',
		og: {title: 'x'.repeat(256), imageUrl: 'javascript:alert(1)', colour: 1},
		params: {a: 1},
		tags: ['x'.repeat(51)],
		utmSource: 'x'.repeat(256),
		matchWindowHours: 1.5,
		deferredDeepLinking: 'true',
	};
	const fields = [
		...['deferredDeepLinking', 'fallbackUrl', 'matchWindowHours', 'name', 'og.colour', 'og.imageUrl', 'og.title'],
		...['params.a', 'path', 'tags.0', 'title', 'utmSource'],
	];
	for (const {status, body} of [
		await operator.post(base, invalid),
		await operator.patch(`${base}/${template.id}`, invalid),
	]) {
		t.is(status, 400);
		t.is(body.message, 'Validation failed');
		t.deepEqual(fieldsOf(body), fields);
	}
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
	t.deepEqual(await actionsOn(org, 'Template'), ['CREATE', 'DELETE']);
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

test.serial('templates are listed newest first, page by page', async (t) => {
	const {base, operator} = await setup();
	for (const name of ['first', 'second', 'third']) {
		await operator.post(base, {name});
		service.clock.advance(1);
	}

	const names = ({body}: Answer) => body.data.map(({name}: {name: string}) => name);
	const page = await operator.get(`${base}?limit=2`);
	t.like(page.body, {total: 3, page: 1, limit: 2});
	t.deepEqual(names(page), ['third', 'second']);
	t.deepEqual(names(await operator.get(`${base}?limit=2&page=2`)), ['first']);
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
