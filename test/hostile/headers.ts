import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous, send} from '../helpers/callers.ts';
import {startService, type TestService} from '../helpers/service.ts';

let service: TestService;
let behindNobody: TestService;
test.serial.before(async () => {
	[service, behindNobody] = await Promise.all([startService(), startService({TRUSTED_PROXIES: '192.0.2.1'})]);
});
test.after.always(() => Promise.all([service?.stop(), behindNobody?.stop()]));

test('short URLs are those of the configuration, whatever host a caller writes', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	for (const headers of [{Host: 'localhost'}, {'X-Forwarded-Host': 'localhost'}, {'X-Forwarded-Proto': 'javascript'}]) {
		const {body} = await acme.server.post('/links', {path: '/sale'}, headers);
		t.is(new URL(body.url).origin, new URL(url).origin);
	}

	const {status} = await acme.server.post('/links', {path: '/sale'}, {Host: 'evil.example'});
	t.is(status, 201);
});

test('an untrusted peer can choose neither its address nor its host', async (t) => {
	const ask = (count: number) =>
		Promise.all(
			Array.from({length: count}, (_, index) =>
				send(behindNobody.url, 'POST', '/match', {'X-Forwarded-For': `198.51.100.${index}`, 'Content-Length': '0'}),
			),
		);
	const answers = await ask(31);
	t.deepEqual(answers.map(({status}) => status).toSorted(), [...Array.from({length: 30}, () => 200), 429]);
	const {status} = await send(behindNobody.url, 'GET', '/metrics', {'X-Forwarded-For': '127.0.0.1'});
	t.is(status, 404);
});

test('a request has the method that it has', async (t) => {
	const acme = await organization(service);
	const override = {'X-HTTP-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE', 'X-Method-Override': 'DELETE'};
	const path = `/admin/organizations/${acme.id}`;
	t.is((await admin(service).get(`${path}?_method=DELETE`, override)).status, 200);
	t.is((await admin(service).get(path)).status, 200);
	for (const method of ['TRACE', 'PROPFIND', 'QUERY']) {
		const {status, text} = await send(service.url, method, path, {Authorization: `Bearer ${service.adminToken}`});
		t.is(status, 404);
		t.notRegex(text, new RegExp(service.adminToken));
	}
});

test('a request id that could end a header line is replaced', async (t) => {
	for (const id of ['a b', 'é', 'a'.repeat(129), '']) {
		const {headers} = await anonymous(service).get('/health/live', {'X-Request-Id': id});
		t.regex(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
	}
});

test('no link answers with a redirect, wherever its query points', async (t) => {
	const acme = await organization(service);
	const {shortCode} = await link(acme, {fallbackUrl: 'https://acme.test/sale'});
	const query =
		'url=https://evil.example&next=//evil.example&fallbackUrl=javascript:alert(1)&redirect=https:evil.example';
	for (const agent of [
		'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)',
		'Mozilla/5.0 (Windows NT 10.0)',
		'curl/8',
	]) {
		const {status, headers, text} = await anonymous(service).get(`/${acme.orgKey}/${shortCode}?${query}`, {
			'User-Agent': agent,
		});
		t.is(status, 200);
		t.is(headers['location'], undefined);
		t.is(headers['refresh'], undefined);
		t.notRegex(text, /evil\.example|javascript:/);
	}
});

test('errors are JSON that no browser takes for a page', async (t) => {
	const {headers, text} = await anonymous(service).get('/portal/%3Cscript%3Ealert(1)%3C/script%3E');
	t.is(headers['content-type'], 'application/json; charset=utf-8');
	t.is(headers['x-content-type-options'], 'nosniff');
	t.notRegex(text, /<script/);
});
