import test from 'ava';
import {approvedDomain, link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {fieldsOf, recordsOf} from '../_answers.ts';
import {type ImportedRow, importInto, statuses} from './_import.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.example.com'});

const total = async ({id}: TestOrganization): Promise<number> =>
	(await admin(service).get(`/admin/organizations/${id}/links`)).body.total;

const auditedLinks = async ({id}: TestOrganization, action: string): Promise<number> =>
	(await service.services.db('audit_log').where({organization_id: id, entity_type: 'Link', action})).length;

test('each row is answered by its line number, its link is like any other, and a second import of it changes nothing', async (t) => {
	const acme = await organization(service);
	const first = {path: '/a', shortCode: 'first', title: 'First', tags: ['x'], channel: 'email', params: {c: '1'}};
	const second = {path: '/b', externalId: 'crm-2', expiry: '2030-01-01T00:00:00Z', fallbackUrl: 'https://example.org'};
	const rows = [first, second, {path: '/c'}, {path: '/c', title: 'T'}];
	const answers = await importInto(acme, rows);
	t.deepEqual(
		answers.map(({line, status}) => [line, status]),
		[1, 2, 3, 4].map((line) => [line, 'created']),
	);
	const [one, two] = await Promise.all(answers.map(async ({id}) => (await acme.server.get(`/links/${id}`)).body));
	t.like(one, {...first, url: `https://go.example.com/${acme.orgKey}/first`});
	t.like(two, {...second, expiry: '2030-01-01T00:00:00.000Z', fallbackUrl: 'https://example.org/'});
	t.deepEqual([answers[0]?.url, answers[1]?.url], [one.url, two.url]);
	t.regex(String(answers[2]?.url), /\/[A-Za-z0-9]{12}$/);

	for (const query of ['', '?onConflict=update']) {
		const skipped = answers.map((row) => ({...row, status: 'skipped' as const}));
		t.deepEqual(await importInto(acme, rows, query), skipped);
	}

	t.deepEqual(await service.services.db('link_counts').where({organization_id: acme.id}).pluck('links'), [4]);
	const records = await recordsOf(acme, 'Link');
	t.is(records.length, 4);
	t.like(records[0], {action: 'CREATE', actor: {type: 'ADMIN_BEARER'}});
});

test('a failing row has the error of a single create, and does not affect others', async (t) => {
	const acme = await organization(service);
	const lines = [
		['{"path":"/ok","shortCode":"ok"}', undefined],
		['no json', 400],
		['[]', 400],
		['{"path":"/a","colour":1,"title":5}', 400],
		['', 'no answer'],
		['{"path":"/a","channel":"unknown"}', 400],
		['{"path":"/a","domainId":"00000000-0000-4000-8000-000000000000"}', 404],
		['{"path":"/a","fallbackUrl":"https://go.example.com/x"}', 400],
		['{"path":"/a","title":"a\\u0000b"}', 400],
		['{"title":"no path"}', 400],
		['{"path":"/last","shortCode":"last"}', undefined],
	] as const;
	const answers = await importInto(acme, lines.map(([text]) => text).join('\r\n'));
	t.deepEqual(
		answers.map(({line, error}) => [line, error?.statusCode]),
		lines.map(([, expected], index) => [index + 1, expected]).filter(([, expected]) => expected !== 'no answer'),
	);
	t.true(answers.every(({status, error}) => status === (error === undefined ? 'created' : 'failed')));
	t.deepEqual(fieldsOf(answers[3]?.error as Parameters<typeof fieldsOf>[0]), ['colour', 'title']);
	t.is(answers[4]?.error?.message, "Unknown channel 'unknown'");
	t.is(await total(acme), 2);
});

test('onConflict decides over a taken short code or external id', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme, {path: '/old', shortCode: 'code', externalId: 'crm', title: 'Old'});
	const byCode = {path: '/new', shortCode: 'code', title: 'New'};
	const byExternalId = {path: '/new', externalId: 'crm', title: 'New'};
	for (const row of [byCode, byExternalId]) {
		t.deepEqual(await importInto(acme, [row]), [
			{line: 1, status: 'skipped', id, url: `https://go.example.com/${acme.orgKey}/code`},
		]);
		const [failed] = await importInto(acme, [row], '?onConflict=fail');
		t.like(failed, {status: 'failed', error: {statusCode: 409}});
	}

	t.is((await acme.server.get(`/links/${id}`)).body.title, 'Old');
	t.deepEqual(statuses(await importInto(acme, [byCode, byExternalId], '?onConflict=update')), ['updated', 'skipped']);
	t.like((await acme.server.get(`/links/${id}`)).body, {...byCode, ...byExternalId});
	const update = (await recordsOf(acme, 'Link')).find(({action}) => action === 'UPDATE');
	t.like(update, {entityId: id, details: {changes: {title: {from: 'Old', to: 'New'}}}});
});

test('rows of one file meet each other in their order', async (t) => {
	const acme = await organization(service);
	const rows = [
		{path: '/a', shortCode: 'a', externalId: 'one'},
		{path: '/a2', shortCode: 'a'},
		{path: '/b', shortCode: 'b', externalId: 'one'},
		{path: '/c', shortCode: 'a', externalId: 'two'},
		{path: '/d', shortCode: 'a', externalId: 'one'},
	];
	const answers = await importInto(acme, rows, '?onConflict=update');
	// The third renames the first link, so that the fourth finds its old code free; the fifth would need two links.
	t.deepEqual(statuses(answers), ['created', 'updated', 'updated', 'created', 'failed']);
	const links = (await acme.server.get('/links')).body.data as Array<Record<string, string>>;
	t.deepEqual(links.map(({shortCode, externalId, path}) => [shortCode, externalId, path]).sort(), [
		['a', 'two', '/c'],
		['b', 'one', '/b'],
	]);
	const again = await importInto(acme, [rows[0], rows[0]], '?dryRun=true&onConflict=fail');
	t.deepEqual(statuses(again), ['failed', 'failed']);
});

test('plan, app configuration and quotas bind row by row', async (t) => {
	const bare = await organization(service, {plan: null, appConfig: null});
	t.like((await importInto(bare, [{path: '/a'}]))[0]?.error, {statusCode: 402, code: 'PLAN_NOT_SELECTED'});
	await bare.operator.put('/plan', {plan: 'STARTER'});
	t.like((await importInto(bare, [{path: '/a'}]))[0]?.error, {statusCode: 428, code: 'APP_CONFIG_REQUIRED'});

	const acme = await organization(service, {plan: 'STARTER'});
	const rows = Array.from({length: 53}, (_, index) => ({path: `/${index}`, shortCode: `c${index}`}));
	const withBad = [...rows.slice(0, 10), {path: '/bad', channel: 'unknown'}, ...rows.slice(10), rows[0]];
	const dry = await importInto(acme, withBad, '?dryRun=true');
	t.is(await total(acme), 0);
	const answers = await importInto(acme, withBad);
	t.deepEqual(statuses(dry), statuses(answers));
	t.is(answers.filter(({status}) => status === 'created').length, 50);
	const found = answers.slice(51, 54).map(({error}) => error?.quota);
	t.deepEqual(found, ['links', 'links', 'links']);
	t.is(answers.at(-1)?.status, 'skipped');
	t.is(await total(acme), 50);

	const again = await importInto(acme, rows);
	t.is(again.filter(({status}) => status === 'skipped').length, 50);
	t.is(again.filter(({error}) => error?.code === 'QUOTA_EXCEEDED').length, 3);
	const {db, clock} = service.services;
	const month = `${clock.now().toISOString().slice(0, 7)}-01`;
	await db('click_counts').insert({organization_id: acme.id, month, clicks: 1000});
	const [same, changed] = await importInto(acme, [rows[0], {...rows[1], title: 'T'}], '?onConflict=update');
	t.is(same?.status, 'skipped');
	t.is(changed?.error?.quota, 'clicks');
});

test('imports and creates in parallel never exceed the quota, and the count stays right', async (t) => {
	const acme = await organization(service, {plan: 'STARTER'});
	const rows = (name: string) => Array.from({length: 30}, (_, index) => ({path: '/a', shortCode: `${name}${index}`}));
	const [imports, creates] = await Promise.all([
		Promise.all(['a', 'b', 'a'].map((name) => importInto(acme, rows(name)))),
		Promise.all(Array.from({length: 10}, () => acme.operator.post('/links', {path: '/a'}))),
	]);
	const answers = [...statuses(imports.flat()), ...creates.map(({status}) => status)];
	t.is(answers.filter((status) => status === 'created' || status === 201).length, 50);
	t.is((await acme.operator.get('/links')).body.total, 50);
	t.deepEqual(await service.services.db('link_counts').where({organization_id: acme.id}).pluck('links'), [50]);
});

test('a dry run answers the same and writes nothing', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme, {path: '/old', shortCode: 'there'});
	const rows = [
		{path: '/a', shortCode: 'new'},
		{path: '/b', shortCode: 'new'},
		{path: '/b', shortCode: 'new'},
		{path: '/c', externalId: 'crm'},
		{path: '/new', shortCode: 'there'},
		{path: '/new', shortCode: 'there'},
		{path: '/d', channel: 'unknown'},
		...Array.from({length: 600}, (_, index) => ({path: `/${index}`, shortCode: `bulk${index % 400}`})),
	];
	const before = (await acme.server.get(`/links/${id}`)).body;
	const dry = await importInto(acme, rows, '?dryRun=true&onConflict=update');
	t.is(await total(acme), 1);
	t.deepEqual((await acme.server.get(`/links/${id}`)).body, before);
	t.is(await auditedLinks(acme, 'CREATE'), 1);
	t.deepEqual(dry[0], {line: 1, status: 'created', url: `https://go.example.com/${acme.orgKey}/new`});
	t.deepEqual(dry[3], {line: 4, status: 'created'});
	t.is(dry[4]?.id, id);
	const real = await importInto(acme, rows, '?onConflict=update');
	const outcomes = (rows: ImportedRow[]) => rows.map(({line, status, error}) => ({line, status, error}));
	t.deepEqual(outcomes(dry), outcomes(real));
	t.deepEqual(statuses(real).slice(0, 7), ['created', 'updated', 'skipped', 'created', 'updated', 'skipped', 'failed']);
	t.is(await auditedLinks(acme, 'CREATE'), 1 + 2 + 400);
	t.is(await auditedLinks(acme, 'UPDATE'), 2 + 200);
});

test('an exported line is a row: skipped where it came from, created elsewhere on the default domain', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const domain = await approvedDomain(acme, 'go.acme-import.com');
	const windowed = {name: 'windowed', path: '/t', matchWindowHours: 24};
	const {body: template} = await acme.operator.post('/templates', windowed);
	const platforms = {destinations: {ios: 'https://i.example/'}, minimumVersion: {android: 210}};
	const fields = {title: 'Custom', og: {title: 'T'}, isActive: false, ...platforms};
	await link(acme, {shortCode: 'custom', domainId: domain.id, ...fields});
	await link(acme, {path: undefined, shortCode: 'templated', templateId: template.id});
	const exported = await acme.operator.get('/links/export');
	for (const onConflict of ['skip', 'update']) {
		const same = await importInto(acme, exported.text, `?onConflict=${onConflict}`);
		t.deepEqual(statuses(same), ['skipped', 'skipped']);
	}

	const line = exported.text.split('\n').find((one) => one.includes('"custom"')) ?? '';
	const [moved] = await importInto(other, line);
	t.is(moved?.url, `https://go.example.com/${other.orgKey}/custom`);
	t.like((await other.server.get(`/links/${moved?.id}`)).body, {...fields, organizationId: other.id});
	const [refused] = await importInto(other, [{path: '/a', domainId: domain.id}]);
	t.is(refused?.error?.statusCode, 404);
});
