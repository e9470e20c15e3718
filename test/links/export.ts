import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {createFakeClock, serviceOf, startService} from '../helpers/service.ts';

const service = serviceOf(test);

const linesOf = (text: string) =>
	text
		.split('\n')
		.slice(0, -1)
		.map((line) => JSON.parse(line));

test('an export has one line per link as read by the API, oldest first', async (t) => {
	const clock = createFakeClock();
	const timed = await startService({}, clock);
	t.teardown(() => timed.stop());
	const acme = await organization(timed);
	const ids: string[] = [];
	for (const shortCode of ['a', 'b', 'c']) {
		ids.push((await link(acme, {shortCode, title: 'line\nbreak'})).id);
		clock.advance(60);
	}

	const {status, headers, text} = await admin(timed).get(`/admin/organizations/${acme.orgKey}/links/export`);
	t.is(status, 200);
	t.is(headers['content-type'], 'application/x-ndjson');
	t.true(text.endsWith('\n'));
	const lines = linesOf(text);
	t.deepEqual(
		lines.map(({id}) => id),
		ids,
	);
	t.deepEqual(lines[0], (await acme.server.get(`/links/${ids[0]}`)).body);
});

test('every link is exported once, also over many batches with the same time', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	await link(other);
	const rows = Array.from({length: 1203}, (_, index) => `{"path":"/${index}","shortCode":"c${index}"}\n`).join('');
	const operator = admin(service);
	const here = `/admin/organizations/${acme.id}/links`;
	await operator.post(`${here}/import`, rows, {'Content-Type': 'application/x-ndjson'});
	const first = await operator.get(`${here}/export`);
	const lines = linesOf(first.text);
	t.is(lines.length, 1203);
	t.is(new Set(lines.map(({shortCode}) => shortCode)).size, 1203);
	t.true(lines.every(({organizationId}) => organizationId === acme.id));
	t.is((await operator.get(`${here}/export`)).text, first.text);
});

test('an organization without links has an empty export, an unknown one 404', async (t) => {
	const acme = await organization(service);
	const operator = admin(service);
	const empty = await operator.get(`/admin/organizations/${acme.id}/links/export`);
	t.deepEqual([empty.status, empty.text], [200, '']);
	t.is((await operator.get('/admin/organizations/0000/links/export')).status, 404);
});
