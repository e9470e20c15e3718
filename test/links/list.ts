import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {createFakeClock, serviceOf, startService} from '../helpers/service.ts';

const service = serviceOf(test);

const codes = ({body}: {body: {data: Array<{shortCode: string}>}}) => body.data.map(({shortCode}) => shortCode);

test('a list is a page, the newest first, each link with its domain', async (t) => {
	const clock = createFakeClock();
	const timed = await startService({}, clock);
	t.teardown(() => timed.stop());
	const acme = await organization(timed);
	for (const shortCode of ['a', 'b', 'c']) {
		await link(acme, {shortCode});
		clock.advance(60);
	}

	const first = await acme.server.get('/links?limit=2');
	t.like(first.body, {total: 3, page: 1, limit: 2});
	t.deepEqual(codes(first), ['c', 'b']);
	t.deepEqual(codes(await acme.server.get('/links?limit=2&page=2')), ['a']);
	t.deepEqual(codes(await acme.server.get('/links?page=9')), []);
	const [{domainId, domain}] = first.body.data;
	t.deepEqual(domain, {
		id: domainId,
		hostname: timed.services.addresses.linkDomain,
		status: 'VERIFIED',
		isDefault: true,
	});
});

test('a bad query is 400 and names each parameter', async (t) => {
	const acme = await organization(service);
	const {status, body} = await acme.server.get('/links?limit=101&page=0&isActive=yes');
	t.is(status, 400);
	t.deepEqual(body.details.map(({field}: {field: string}) => field).sort(), ['isActive', 'limit', 'page']);
});

test('filters leave only the links that are meant', async (t) => {
	const acme = await organization(service);
	await link(acme, {shortCode: 'plain'});
	await link(acme, {shortCode: 'off', isActive: false});
	await link(acme, {shortCode: 'tagged', tags: ['spring', 'sale']});
	await link(acme, {shortCode: 'mail', channel: 'email'});
	await link(acme, {shortCode: 'named', externalId: 'crm-7'});
	const filtered = async (query: string) => codes(await acme.server.get(`/links?${query}`));
	t.deepEqual(await filtered('isActive=false'), ['off']);
	t.is((await filtered('isActive=true')).length, 4);
	t.deepEqual(await filtered('tag=sale'), ['tagged']);
	t.deepEqual(await filtered('tag=sal'), []);
	t.deepEqual(await filtered('channel=email'), ['mail']);
	t.deepEqual(await filtered('externalId=crm-7'), ['named']);
	t.deepEqual(await filtered('externalId=crm-7&isActive=false'), []);
});

test('q searches title, path and short code without case, % and _ being literal', async (t) => {
	const acme = await organization(service);
	await link(acme, {shortCode: 'per_cent', title: '50% off'});
	await link(acme, {shortCode: 'other', title: '500 off', path: '/perXcent'});
	const found = async (q: string) => codes(await acme.server.get(`/links?q=${encodeURIComponent(q)}`)).sort();
	t.deepEqual(await found('0% O'), ['per_cent']);
	t.deepEqual(await found('R_C'), ['per_cent']);
	t.deepEqual(await found('PERX'), ['other']);
	t.deepEqual(await found('off'), ['other', 'per_cent']);
	t.deepEqual(await found('\\'), []);
});

test("an organization's list has no link of another one, under either credential", async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	await link(other, {shortCode: 'theirs'});
	await link(acme, {shortCode: 'ours'});
	t.deepEqual(codes(await acme.server.get('/links')), ['ours']);
	t.deepEqual(codes(await admin(service).get(`/admin/organizations/${acme.orgKey}/links`)), ['ours']);
});
