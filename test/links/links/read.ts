import test from 'ava';
import {approvedDomain, link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.example.com'});

test('a link is read as it was created, with its domain and whether that is the default', async (t) => {
	const acme = await organization(service);
	const before = await link(acme, {params: {b: '2', a: '1'}, title: 'Sale'});
	const domain = await approvedDomain(acme, 'go.acme-read.com');
	const read = async ({id}: {id: string}) => (await acme.server.get(`/links/${id}`)).body;
	const shared = {id: before['domainId'], hostname: 'go.example.com', status: 'VERIFIED'};
	t.deepEqual(await read(before), {...before, domain: {...shared, isDefault: true}});
	await acme.operator.post(`/domains/${domain.id}/default`);
	const after = await link(acme);
	t.is(after.url, `https://go.acme-read.com/${acme.orgKey}/${after.shortCode}`);
	const own = {id: domain.id, hostname: 'go.acme-read.com', status: 'VERIFIED', isDefault: true};
	t.deepEqual(await read(after), {...after, domainId: domain.id, domain: own});
	const {status, body} = await acme.operator.get(`/links/${before.id}`);
	t.is(status, 200);
	t.deepEqual(body, {...before, domain: {...shared, isDefault: false}});
});

test('an unknown id is 404, an invalid one 400', async (t) => {
	const acme = await organization(service);
	for (const suffix of ['', '/qr.svg', '/qr.png']) {
		const unknown = await acme.server.get(`/links/00000000-0000-4000-8000-000000000000${suffix}`);
		t.is(unknown.status, 404);
		t.is(unknown.body.message, 'Link not found');
		for (const id of ['7', '(00000000-0000-4000-8000-000000000000)', '[00000000-0000-4000-8000-000000000000]']) {
			const malformed = await acme.server.get(`/links/${id}${suffix}`);
			t.is(malformed.status, 400, id);
			t.deepEqual(malformed.body.details, [{message: 'id must be a UUID', field: 'id'}]);
		}
	}
});

test("another organization's link is 404 for every operation, and stays as it was", async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const theirs = await link(other, {title: 'theirs'});
	const operator = admin(service);
	for (const [caller, base] of [
		[acme.server, '/links'],
		[operator, `/admin/organizations/${acme.id}/links`],
	] as const) {
		const one = `${base}/${theirs.id}`;
		const reads = ['', '/qr.svg', '/qr.png'].map((suffix) => caller.get(`${one}${suffix}`));
		for (const answer of [...reads, caller.patch(one, {title: 'mine'}), caller.delete(one)]) {
			const {status, body} = await answer;
			t.deepEqual([status, body.message], [404, 'Link not found']);
		}
	}

	t.is((await other.server.get(`/links/${theirs.id}`)).body.title, 'theirs');
});
