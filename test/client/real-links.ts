import {randomUUID} from 'node:crypto';
import test from 'ava';
import {type Link, type LinkDomain, OplinkApiError} from '../../src/client/oplink.ts';
import {organization} from '../helpers/builders.ts';
import {serviceOf, startService} from '../helpers/service.ts';
import {losingTheFirstAnswer, oplinkOf} from './_oplink-of.ts';

const service = serviceOf(test);

/** Complete by its type, so that added and removed fields are noticed; the two others are absent where they are not set. */
const linkFields: Record<keyof Omit<Link, 'destinations' | 'minimumVersion'>, true> = {
	id: true,
	organizationId: true,
	domainId: true,
	shortCode: true,
	url: true,
	path: true,
	params: true,
	title: true,
	tags: true,
	channel: true,
	utmSource: true,
	utmMedium: true,
	utmCampaign: true,
	utmTerm: true,
	utmContent: true,
	fallbackUrl: true,
	og: true,
	expiry: true,
	templateId: true,
	externalId: true,
	isActive: true,
	deferredDeepLinking: true,
	matchWindowHours: true,
	createdAt: true,
	updatedAt: true,
};
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
	t.deepEqual(keysOf(created), keysOf(linkFields));
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

test('a create whose answer was lost makes one link', async (t) => {
	const org = await organization(service);
	const {oplink, waits} = oplinkOf(service, org, {fetch: losingTheFirstAnswer()});
	const {id} = await oplink.links.create({path: '/sale'});
	t.deepEqual(waits, [0.5]);
	const {data} = await oplink.links.list();
	t.deepEqual(
		data.map((link) => link.id),
		[id],
	);
});

test("a caller's own Idempotency-Key gives the same link in two calls", async (t) => {
	const org = await organization(service);
	const {links} = oplinkOf(service, org).oplink;
	const options = {idempotencyKey: 'order-17'};
	t.deepEqual(await links.create({path: '/sale'}, options), await links.create({path: '/sale'}, options));
	t.is((await links.list()).total, 1);
});

test('a delete whose answer was lost ends with the 404 of its retry', async (t) => {
	const org = await organization(service);
	const {id} = await oplinkOf(service, org).oplink.links.create({path: '/sale'});
	const {oplink} = oplinkOf(service, org, {fetch: losingTheFirstAnswer()});
	await t.throwsAsync(oplink.links.delete(id), {instanceOf: OplinkApiError, message: 'Link not found'});
	t.is((await oplink.links.list()).total, 0);
});

test("a refusal carries the server's details, code and request id", async (t) => {
	const org = await organization(service);
	const {links} = oplinkOf(service, org).oplink;
	const refused = await t.throwsAsync(links.create({path: '/sale', title: 'x'.repeat(256)}), {
		instanceOf: OplinkApiError,
	});
	t.is(refused?.status, 400);
	t.is(refused?.message, 'Validation failed');
	t.deepEqual(refused?.details, [{message: 'title must be shorter than or equal to 255 characters', field: 'title'}]);
	t.regex(String(refused?.requestId), /^[0-9a-f-]{36}$/);

	const bare = await organization(service, {appConfig: null});
	const early = await t.throwsAsync(oplinkOf(service, bare).oplink.links.create({path: '/sale'}), {
		instanceOf: OplinkApiError,
	});
	t.is(early?.status, 428);
	t.is(early?.code, 'APP_CONFIG_REQUIRED');
	t.is(early?.details, undefined);
});

test('a CLIENT key instead of the SERVER key is refused, and so is a missing key', async (t) => {
	const org = await organization(service);
	const mixedUp = oplinkOf(service, {...org, serverKey: org.clientKey}).oplink;
	t.like(await t.throwsAsync(mixedUp.links.list(), {instanceOf: OplinkApiError}), {status: 403});
	const without = oplinkOf(service, org, {serverKey: undefined}).oplink;
	const message = 'Missing Authorization header';
	t.like(await t.throwsAsync(without.links.list(), {instanceOf: OplinkApiError}), {status: 401, message});
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

test('a link that is unknown, deactivated or asked for by a bad orgKey is an API error, at once', async (t) => {
	const org = await organization(service);
	const {oplink, waits} = oplinkOf(service, org);
	const {shortCode} = await oplink.links.create({path: '/sale', isActive: false});
	const statusOf = async (orgKey: string, code: string) =>
		(await t.throwsAsync(oplink.resolve(orgKey, code), {instanceOf: OplinkApiError}))?.status;
	t.is(await statusOf(org.orgKey, 'nothing'), 404);
	t.is(await statusOf(org.orgKey, shortCode), 410);
	t.is(await statusOf('abc', shortCode), 400);
	t.deepEqual(waits, []);
});

test('a burst over the limit waits as the server says, and every link is made once', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const org = await organization(own, {plan: 'SCALE'});
	// A burst takes its time on a busy machine, where a timeout is another reason to retry.
	const {oplink, waits} = oplinkOf(own, org, {timeoutSeconds: 120});
	const paths = Array.from({length: 130}, (_, index) => `/sale/${index}`);
	const created = await Promise.all(paths.map((path) => oplink.links.create({path})));
	t.deepEqual(
		created.map(({path}) => path),
		paths,
	);
	t.deepEqual([...new Set(waits)], [1]);
	t.is((await oplink.links.list()).total, 130);
});
