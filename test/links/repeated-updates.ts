import test from 'ava';
import {forgetAudit} from '../../src/audit/forget-audit.ts';
import {retention} from '../../src/config/policies.ts';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {createFakeClock, startService, type TestService} from '../helpers/service.ts';

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
