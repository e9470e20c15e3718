import {once} from 'node:events';
import {type ClientRequest, request as httpRequest, type IncomingMessage} from 'node:http';
import {createInterface} from 'node:readline';
import test from 'ava';
import {organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {asNdjson, importInto, statuses} from './_import.ts';

const service = serviceOf(test);

test('a row of 20,000 levels and one over 256 KiB fail alone, and a last line needs no newline', async (t) => {
	const acme = await organization(service);
	const deep = `{"path":"/deep","params":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
	const long = JSON.stringify({path: '/long', title: 'x'.repeat(3 * 256 * 1024)});
	const answers = await importInto(acme, `{"path":"/a"}\n${deep}\n{"path":"/b"}\n${long}\n{"path":"/c"}`);
	t.deepEqual(statuses(answers), ['created', 'failed', 'created', 'failed', 'created']);
	t.like(answers[1]?.error, {statusCode: 400, message: 'Validation failed'});
	t.is(answers[3]?.error?.statusCode, 413);
});

test('refusals of the whole request come before the answer begins', async (t) => {
	const acme = await organization(service);
	const operator = admin(service);
	const path = `/admin/organizations/${acme.id}/links/import`;
	t.is((await operator.post(`${path}?onConflict=merge&dryRun=maybe`, '', asNdjson)).body.details.length, 2);
	t.is((await operator.post(path, 'a=b', {'Content-Type': 'application/x-www-form-urlencoded'})).status, 415);
	t.is((await operator.post(path, 'x', {...asNdjson, 'Content-Encoding': 'gzip'})).status, 415);
	t.is((await operator.post('/admin/organizations/0000/links/import', '{}', asNdjson)).status, 404);
	t.is((await acme.server.post(path, '{}', asNdjson)).status, 401);
	const empty = await operator.post(path, '', asNdjson);
	t.deepEqual([empty.status, empty.text], [200, '']);
	t.is(empty.headers['content-type'], 'application/x-ndjson');
});

const openImport = async ({id}: TestOrganization, query = ''): Promise<[ClientRequest, IncomingMessage]> => {
	const request = httpRequest(`${service.url}/admin/organizations/${id}/links/import${query}`, {
		method: 'POST',
		headers: {Authorization: `Bearer ${service.adminToken}`, ...asNdjson},
	});
	request.flushHeaders();
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	return [request, response];
};

test('headers come before any row, and each row is answered while the next is not yet sent', async (t) => {
	const acme = await organization(service);
	for (const query of ['', '?dryRun=true']) {
		const [request, response] = await openImport(acme, query);
		t.is(response.statusCode, 200);
		const answers = createInterface(response)[Symbol.asyncIterator]();
		for (let line = 1; line <= 3; line += 1) {
			request.write(`{"path":"/${line}","shortCode":"live${line}"}\n`);
			const {value} = await answers.next();
			t.like(JSON.parse(String(value)), {line, status: query === '' ? 'created' : 'skipped'});
		}

		request.end();
		t.true((await answers.next()).done);
	}
});

test('a caller that hangs up leaves whole rows behind and nothing locked', async (t) => {
	const acme = await organization(service);
	const [request, response] = await openImport(acme);
	response.on('error', () => {});
	request.on('error', () => {});
	request.write('{"path":"/a","shortCode":"whole"}\n{"path":"/b","shortCode":"ha');
	await once(response, 'data');
	request.destroy();
	await new Promise((resolve) => response.once('close', resolve));
	t.is((await acme.server.post('/links', {path: '/c', shortCode: 'after'})).status, 201);
	const codes = (await acme.server.get('/links')).body.data.map(({shortCode}: {shortCode: string}) => shortCode);
	t.deepEqual(codes.sort(), ['after', 'whole']);
});

test('a fault of ours breaks the answer off instead of ending it', async (t) => {
	const acme = await organization(service);
	const [request, response] = await openImport(acme);
	request.on('error', () => {});
	await service.services.db('organizations').where({id: acme.id}).delete();
	request.write('{"path":"/a"}\n');
	const error: NodeJS.ErrnoException = await t.throwsAsync(response.toArray());
	t.is(error.code, 'ECONNRESET');
});
