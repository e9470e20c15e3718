import {randomUUID} from 'node:crypto';
import test from 'ava';
import {type Link, type LinkDomain, OplinkApiError} from '../../src/client/oplink.ts';
import {organization} from '../helpers/builders.ts';
import {serviceOf} from '../helpers/service.ts';
import {losingTheFirstAnswer, oplinkOf} from './_oplink-of.ts';

const service = serviceOf(test);

/** Those that every link has; two others are absent where they are not set. */
const linkFields = [
	...(['id', 'organizationId', 'domainId', 'shortCode', 'url', 'path', 'params', 'title', 'tags', 'channel'] as const),
	...(['utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent', 'fallbackUrl', 'og', 'expiry'] as const),
	...(['templateId', 'externalId', 'isActive', 'deferredDeepLinking', 'matchWindowHours'] as const),
	...(['createdAt', 'updatedAt'] as const),
] satisfies Array<keyof Link>;
type Forgotten = Exclude<keyof Link, (typeof linkFields)[number] | 'destinations' | 'minimumVersion'>;
/** Compiles only if the type has no other fields. */
const forgotten: Record<Forgotten, never> = {};
const domainFields: Record<keyof LinkDomain, true> = {id: true, hostname: true, status: true, isDefault: true};

const keysOf = (value: object) => Object.keys(value).sort();

test('a link is created, read, listed, changed and deleted', async (t) => {
	const org = await organization(service);
	const {links} = oplinkOf(service, org).oplink;
	const created = await links.create({
		path: '/sale',
		params: {code: 'SPRING'},
		tags: ['spring'],
		expiry: new Date('2027-01-01T00:00:00.000Z'),
		og: {title: 'Spring sale'},
	});
	t.deepEqual(keysOf(created), [...linkFields, ...keysOf(forgotten)].sort());
	t.like(created, {path: '/sale', params: {code: 'SPRING'}, expiry: '2027-01-01T00:00:00.000Z', isActive: true});
	t.deepEqual(created.og, {title: 'Spring sale', description: null, imageUrl: null});

	const read = await links.get(created.id);
	const {domain, ...rest} = read;
	t.deepEqual(rest, created);
	t.deepEqual(keysOf(domain), keysOf(domainFields));

	await links.create({path: '/other', isActive: false});
	t.deepEqual(await links.list({isActive: true, tag: 'spring', limit: 5}), {data: [read], total: 1, page: 1, limit: 5});
	t.is((await links.list()).total, 2);

	const changed = await links.update(created.id, {title: 'Sale', expiry: null, minimumVersion: {ios: '2.10.0'}});
	const minimumVersion = {ios: '2.10.0'};
	t.deepEqual(changed, {...created, title: 'Sale', expiry: null, minimumVersion, updatedAt: changed.updatedAt});

	t.deepEqual(await links.delete(created.id), {id: created.id, deleted: true});
	await t.throwsAsync(links.get(created.id), {instanceOf: OplinkApiError, message: 'Link not found'});
});

test('a create whose answer was lost, or with the same Idempotency-Key, makes one link, a delete ends with 404', async (t) => {
	const org = await organization(service);
	const {oplink, waits} = oplinkOf(service, org, {fetch: losingTheFirstAnswer()});
	const {id} = await oplink.links.create({path: '/sale'});
	t.deepEqual(waits, [0.5]);
	const options = {idempotencyKey: 'order-17'};
	const own = await oplink.links.create({path: '/own'}, options);
	t.deepEqual(await oplink.links.create({path: '/own'}, options), own);
	const {data} = await oplink.links.list();
	t.deepEqual(data.map((link) => link.id).sort(), [id, own.id].sort());

	const {links} = oplinkOf(service, org, {fetch: losingTheFirstAnswer()}).oplink;
	await t.throwsAsync(links.delete(id), {instanceOf: OplinkApiError, message: 'Link not found'});
	t.is((await links.list()).total, 1);
});

test("a refusal carries the server's details, code and request id, also of a wrong key", async (t) => {
	const org = await organization(service);
	const linksOf = (keys: object) => oplinkOf(service, {...org, ...keys}).oplink.links;
	const refusal = (call: Promise<unknown>) => t.throwsAsync(call, {instanceOf: OplinkApiError});
	const refused = await refusal(linksOf({}).create({path: '/sale', title: 'x'.repeat(256)}));
	t.like(refused, {status: 400, message: 'Validation failed: title must be shorter than or equal to 255 characters'});
	t.deepEqual(refused?.details, [{message: 'title must be shorter than or equal to 255 characters', field: 'title'}]);
	t.regex(String(refused?.requestId), /^[0-9a-f-]{36}$/);

	const bare = await organization(service, {appConfig: null});
	const early = await refusal(linksOf(bare).create({path: '/sale'}));
	t.like(early, {status: 428, code: 'APP_CONFIG_REQUIRED', details: undefined});

	t.like(await refusal(linksOf({serverKey: org.clientKey}).list()), {status: 403});
	t.like(await refusal(linksOf({serverKey: 'opl_api_unknown'}).list()), {status: 401, message: 'Invalid API key'});
});

test('a link resolves to its destination, and the device is registered', async (t) => {
	const org = await organization(service);
	const {oplink} = oplinkOf(service, org);
	const link = await oplink.links.create({path: '/sale', params: {code: 'SPRING'}});
	const expected = {linkId: link.id, path: '/sale', params: {code: 'SPRING'}};
	t.deepEqual(await oplink.resolve(org.orgKey, link.shortCode), expected);
	const deviceId = randomUUID();
	t.deepEqual(await oplink.resolve(org.orgKey, link.shortCode, {deviceId}), expected);
	const device = await service.services.db('devices').where({organization_id: org.id, device_id: deviceId}).first();
	t.truthy(device);

	// A visit is answered whatever its query says.
	t.deepEqual(await oplink.resolve(org.orgKey, link.shortCode, {deviceId: 'short'}), expected);
	t.is((await service.services.db('devices').where({organization_id: org.id})).length, 1);
});

// Its waits move the clock.
test.serial('a burst over the limit waits as the server says, and every link is made once', async (t) => {
	const org = await organization(service, {plan: 'SCALE'});
	// A burst takes its time on a busy machine, where a timeout is another reason to retry.
	const {oplink, waits} = oplinkOf(service, org, {timeoutSeconds: 120});
	const paths = Array.from({length: 130}, (_, index) => `/sale/${index}`);
	const created = await Promise.all(paths.map((path) => oplink.links.create({path})));
	const found = created.map(({path}) => path);
	t.deepEqual(found, paths);
	t.deepEqual([...new Set(waits)], [1]);
	t.is((await oplink.links.list()).total, 130);
});
