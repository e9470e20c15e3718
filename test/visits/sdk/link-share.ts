import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, send} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'oplink-plans-'));
const PLANS_FILE = path.join(folder, 'plans.json');
const plans = JSON.parse(readFileSync(path.join(packageRoot, 'config', 'plans.json'), 'utf8'));
const withLinks = (links: number | null, share: object = {}) => {
	const {appLinkShare: _, ...rest} = plans.GROWTH;
	return {...rest, quotas: {...rest.quotas, links}, ...share};
};
const ours = {
	HALF: withLinks(5),
	CLOSED: withLinks(5, {appLinkShare: 0}),
	WHOLE: withLinks(3, {appLinkShare: 1}),
	UNLIMITED: withLinks(null, {appLinkShare: 0}),
};
writeFileSync(PLANS_FILE, JSON.stringify({...plans, ...ours}));
test.after.always(() => rmSync(folder, {recursive: true}));

const service = serviceOf(test, {PLANS_FILE});

const inviting = async (plan: string) => {
	const acme = await organization(service, {plan});
	const template = {name: 'invite', path: '/invite', clientCreate: {fields: ['title']}};
	await acme.operator.post('/templates', template);
	return acme;
};

let devices = 0;
const nextDevice = () => {
	devices += 1;
	return `share-device-${devices}`;
};
const create = ({client}: TestOrganization, deviceId = nextDevice()) =>
	client.post('/sdk/links', {deviceId, template: 'invite'});
const usageOf = async ({operator}: TestOrganization) => {
	const {links, appLinks} = (await operator.get('/usage')).body;
	return {links, appLinks};
};

test('links of apps take at most their share, and leave the rest to the organization', async (t) => {
	const acme = await inviting('HALF');
	const answers = await Promise.all(Array.from({length: 8}, () => create(acme)));
	t.deepEqual(answers.map(({status}) => status).toSorted(), [201, 201, 402, 402, 402, 402, 402, 402]);
	t.like(answers.find(({status}) => status === 402)?.body, {
		message: "You've reached your appLinks limit.",
		code: 'QUOTA_EXCEEDED',
		quota: 'appLinks',
	});
	t.deepEqual(await usageOf(acme), {links: {used: 2, limit: 5}, appLinks: {used: 2, limit: 2}});
	const own = await Promise.all(['/a', '/b', '/c', '/d'].map((at) => acme.server.post('/links', {path: at})));
	t.deepEqual(own.map(({status}) => status).toSorted(), [201, 201, 201, 402]);
	t.like(own.find(({status}) => status === 402)?.body, {quota: 'links'});
	t.deepEqual(await usageOf(acme), {links: {used: 5, limit: 5}, appLinks: {used: 2, limit: 2}});
	t.like((await create(acme)).body, {quota: 'links'});
});

test('creates of apps and of the organization at once hold both limits exactly', async (t) => {
	const acme = await inviting('HALF');
	const both = () => [create(acme), acme.server.post('/links', {path: '/own'})];
	const answers = await Promise.all(Array.from({length: 6}, both).flat());
	t.is(answers.filter(({status}) => status === 201).length, 5);
	const {links, appLinks} = await usageOf(acme);
	t.deepEqual(links, {used: 5, limit: 5});
	const made = await service.services.db('app_links').where({organization_id: acme.id});
	t.is(appLinks.used, made.length);
	t.true(appLinks.used <= 2);
});

test('a link that its device has already is answered beyond the share', async (t) => {
	const acme = await inviting('HALF');
	const device = nextDevice();
	const {body: first} = await create(acme, device);
	t.is((await create(acme)).status, 201);
	t.is((await create(acme)).status, 402);
	const {status, body} = await create(acme, device);
	t.deepEqual([status, body], [200, first]);
});

test('a refused create takes nothing of the share', async (t) => {
	const acme = await inviting('HALF');
	const closed = {deviceId: nextDevice(), template: 'nowhere'};
	t.is((await acme.client.post('/sdk/links', closed)).status, 404);
	t.is((await acme.client.post('/sdk/links', {...closed, template: 'invite', path: '/b'})).status, 400);
	t.deepEqual((await usageOf(acme)).appLinks, {used: 0, limit: 2});
});

test('a deleted link of an app frees its share, and a link of the organization does not', async (t) => {
	const acme = await inviting('HALF');
	const own = await link(acme);
	const [first] = [await create(acme), await create(acme)];
	await acme.server.delete(`/links/${own.id}`);
	t.is((await create(acme)).status, 402);
	await acme.server.delete(`/links/${first.body.id}`);
	t.deepEqual(await usageOf(acme), {links: {used: 1, limit: 5}, appLinks: {used: 1, limit: 2}});
	t.is((await create(acme)).status, 201);
});

test('a link of an erased device stays in the share until it is deleted', async (t) => {
	const acme = await inviting('HALF');
	const device = nextDevice();
	const {body: made} = await create(acme, device);
	t.is((await create(acme)).status, 201);
	t.is((await acme.operator.delete(`/devices/${device}/data`)).status, 200);
	const ofDevice = {organization_id: acme.id, device_id: device};
	t.deepEqual(await service.services.db('app_links').where(ofDevice), []);
	t.is((await create(acme, device)).status, 402);
	await acme.server.delete(`/links/${made.id}`);
	t.deepEqual((await usageOf(acme)).appLinks, {used: 1, limit: 2});
	t.is((await create(acme, device)).status, 201);
});

test('a changed plan has its own share, and what is over it stays', async (t) => {
	const acme = await inviting('WHOLE');
	for (const quota of [undefined, undefined, undefined, 'links']) {
		const {status, body} = await create(acme);
		t.deepEqual([status, body.quota], [quota === undefined ? 201 : 402, quota]);
	}

	const choose = (plan: string) => acme.operator.put('/plan', {plan});
	await choose('CLOSED');
	t.deepEqual(await usageOf(acme), {links: {used: 3, limit: 5}, appLinks: {used: 3, limit: 0}});
	t.like((await create(acme)).body, {statusCode: 402, quota: 'appLinks'});
	await choose('UNLIMITED');
	t.is((await create(acme)).status, 201);
	t.deepEqual(await usageOf(acme), {links: {used: 4, limit: null}, appLinks: {used: 4, limit: null}});
});

test('deleting an organization with links of apps removes their count', async (t) => {
	const acme = await inviting('HALF');
	t.is((await create(acme)).status, 201);
	await acme.operator.put('/plan', {plan: null});
	t.is((await admin(service).delete(`/admin/organizations/${acme.id}`)).status, 200);
	t.deepEqual(await service.services.db('link_counts').where({organization_id: acme.id}), []);
});

test('doctor and /metrics name whose apps were refused links', async (t) => {
	const acme = await inviting('CLOSED');
	await Promise.all([create(acme), create(acme)]);
	const {body} = await admin(service).get('/admin/doctor');
	const found = body.findings.filter(({message}: {message: string}) => message.startsWith(acme.orgKey));
	t.deepEqual(found, [
		{
			area: 'Limits',
			check: 'limits.refused',
			status: 'warn',
			message: `${acme.orgKey}: the quota appLinks refused 2 requests in the last day`,
			next: 'Delete links that apps made, or set appLinkShare of CLOSED in PLANS_FILE; make a new CLIENT key if it is misused',
		},
	]);
	const {text} = await send(service.url, 'GET', '/metrics');
	t.true(text.includes(`oplink_refused_requests_last_day{organization="${acme.orgKey}",limit="appLinks"} 2\n`));
});
