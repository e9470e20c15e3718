import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous, send} from '../helpers/callers.ts';
import {serviceOf, startService} from '../helpers/service.ts';

const service = serviceOf(test);

const open = async (): Promise<Socket> => {
	const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
	await once(socket, 'connect');
	return socket;
};

/** All bytes that the server sends until it closes the connection. */
const say = async (bytes: string): Promise<string> => {
	const socket = await open();
	let heard = '';
	socket.setEncoding('latin1').on('data', (part: string) => {
		heard += part;
	});
	socket.on('error', () => {});
	socket.write(bytes, 'latin1');
	return new Promise((resolve) => socket.once('close', () => resolve(heard)));
};

const statuses = (heard: string): string[] =>
	[...heard.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = '']) => status);

const post = (lines: readonly string[], body: string) =>
	[`POST /match HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...lines, '', body].join('\r\n');

test('a caller that disconnects in the middle of a body affects nobody else', async (t) => {
	for (let count = 0; count < 20; count += 1) {
		const socket = await open();
		socket.write(post(['Content-Length: 1000'], '{"platform":'));
		socket.destroy();
	}

	t.is((await anonymous(service).post('/match', {})).status, 200);
	t.is((await anonymous(service).get('/health/live')).status, 200);
});

test('a body longer than it was said to be makes no second answer', async (t) => {
	const smuggled = 'GET /admin/organizations HTTP/1.1\r\nHost: localhost\r\n\r\n';
	const heard = await say(post(['Content-Length: 2', 'Connection: close'], `{}${smuggled}`));
	// The parser decides whether the answer or the fault comes first; there is only one of them.
	t.is(statuses(heard).length, 1);
	t.notRegex(heard, /Authorization/);
});

test('two lengths, an odd coding, a header that is folded or has no name, are refused, and the connection ends', async (t) => {
	for (const [body, ...lines] of [
		['0\r\n\r\nGET /x HTTP/1.1\r\n\r\n', 'Content-Length: 4', 'Transfer-Encoding: chunked'],
		['{}', 'Content-Length: 2', 'Content-Length: 3'],
		['{}', 'Content-Length: +2'],
		['{}', 'Content-Length: 2,2'],
		['{}', 'Transfer-Encoding: xchunked'],
		['{}', 'Transfer-Encoding: chunked, identity'],
		['{}', 'X-Folded: a', ' b', 'Content-Length: 2'],
		['{}', ': nameless', 'Content-Length: 2'],
		['{}', 'X-Null: a\0b', 'Content-Length: 2'],
	] as const) {
		t.deepEqual(statuses(await say(post(lines, body))), ['400'], lines.join());
	}
});

test('bytes behind a refused body on the same connection are not parsed as a request', async (t) => {
	const large = 'x'.repeat(300 * 1024);
	const next = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';
	const heard = await say(post([`Content-Length: ${large.length}`], `${large}${next}`));
	t.deepEqual(statuses(heard), ['413']);
	t.regex(heard, /^Connection: close/im);
});

test('a list or a text that is too large is one fault, whatever is wrong within it', async (t) => {
	const {server, id} = await organization(service);
	const long = Array.from({length: 60_000}, () => 7);
	const fallbackUrl = `https://${'é.'.repeat(60_000)}`;
	const answers = {
		'tags must contain at most 20 items': await server.post('/links', {path: '/a', tags: long}),
		'fallbackUrl must be shorter than or equal to 2048 characters': await server.post('/links', {
			path: '/a',
			fallbackUrl,
		}),
		'android must contain at most 20 items': await admin(service).put(`/admin/organizations/${id}/app-config`, {
			android: long,
		}),
	};
	for (const [message, {status, body}] of Object.entries(answers)) {
		t.deepEqual([status, body.details], [400, [{message, field: message.split(' ', 1)[0]}]]);
	}
});

test('of more than a hundred faults an answer lists ninety-nine, and says that there are more', async (t) => {
	const {server} = await organization(service);
	const fields = (count: number) => Object.fromEntries(Array.from({length: count}, (_, index) => [`k${index}`, index]));
	const {status, body} = await server.post('/links', {path: '/a', ...fields(10_000)});
	t.is(status, 400);
	t.is(body.details.length, 100);
	t.deepEqual(body.details[0], {message: 'k0 is not allowed', field: 'k0'});
	t.deepEqual(body.details[99], {message: 'Too many invalid fields; the rest are not listed'});
	const hundred = await server.post('/links', {path: '/a', ...fields(100)});
	t.is(hundred.body.details.length, 100);
	t.is(hundred.body.details[99].field, 'k99');
});

test('short URLs are those of the configuration, whatever host a caller writes', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	for (const headers of [{Host: 'localhost'}, {'X-Forwarded-Host': 'localhost'}, {'X-Forwarded-Proto': 'javascript'}]) {
		const {body} = await acme.server.post('/links', {path: '/sale'}, headers);
		t.is(new URL(body.url).origin, new URL(url).origin);
	}

	t.is((await acme.server.post('/links', {path: '/sale'}, {Host: 'evil.example'})).status, 201);
});

test('an untrusted peer can choose neither its address nor its host', async (t) => {
	const {url, stop} = await startService({TRUSTED_PROXIES: '192.0.2.1'});
	t.teardown(stop);
	const ask = (_: unknown, index: number) =>
		send(url, 'POST', '/match', {'X-Forwarded-For': `198.51.100.${index}`, 'Content-Length': '0'});
	const answers = await Promise.all(Array.from({length: 31}, ask));
	t.deepEqual(answers.map(({status}) => status).toSorted(), [...Array.from({length: 30}, () => 200), 429]);
	t.is((await send(url, 'GET', '/metrics', {'X-Forwarded-For': '127.0.0.1'})).status, 404);
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

test('an empty request id is replaced', async (t) => {
	const {headers} = await anonymous(service).get('/health/live', {'X-Request-Id': ''});
	t.regex(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
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
		const answer = await anonymous(service).get(`/${acme.orgKey}/${shortCode}?${query}`, {'User-Agent': agent});
		t.like(answer, {status: 200, headers: {location: undefined, refresh: undefined}});
		t.notRegex(answer.text, /evil\.example|javascript:/);
	}
});

test('errors are JSON that no browser takes for a page', async (t) => {
	const {headers, text} = await anonymous(service).get('/portal/%3Cscript%3Ealert(1)%3C/script%3E');
	t.is(headers['content-type'], 'application/json; charset=utf-8');
	t.is(headers['x-content-type-options'], 'nosniff');
	t.notRegex(text, /<script/);
});
