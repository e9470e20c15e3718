import {createHash} from 'node:crypto';
import test from 'ava';
import {routes} from '../../src/app.ts';
import {anonymous} from '../helpers/callers.ts';
import {serviceOf} from '../helpers/service.ts';

const service = serviceOf(test, {PUBLIC_URL: 'https://api.acme.test', LINK_DOMAIN: 'go.acme.test'});

test('GET /openapi.json is the document of this server', async (t) => {
	const {status, headers, body} = await anonymous(service).get('/openapi.json');
	t.is(status, 200);
	t.is(headers['content-type'], 'application/json; charset=utf-8');
	t.is(body.openapi, '3.1.0');
	t.deepEqual(body.servers, [{url: 'https://api.acme.test'}]);
	t.deepEqual(body.paths['/{orgKey}/{shortCode}'].get.servers, [{url: 'https://go.acme.test'}]);
});

test('GET /docs shows every operation', async (t) => {
	const {status, headers, text} = await anonymous(service).get('/docs');
	t.is(status, 200);
	t.is(headers['content-type'], 'text/html; charset=utf-8');
	t.is(text.match(/<span class="method (get|post|put|patch|delete)">/g)?.length, routes.length);
	t.regex(text, /POST<\/span><code class="path">\/links<\/code>/);
});

test('GET /docs loads nothing, runs nothing, and its style is the one that its policy names', async (t) => {
	const {headers, text} = await anonymous(service).get('/docs');
	const policy = String(headers['content-security-policy']);
	const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
	t.true(policy.includes(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`));
	t.true(policy.startsWith("default-src 'none'; "));
	t.notRegex(text, /<script|<iframe|<img|@import|url\(|style="|\son\w+="/);
	t.deepEqual([...text.matchAll(/(?:href|src)="([^"#][^"]*)"/g)].map(([, url]) => url).toSorted(), [
		'/openapi.json',
		'data:,',
	]);
	const anchors = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
	t.deepEqual(
		anchors.filter((id) => !text.includes(`id="${id}"`)),
		[],
	);
});

test('neither is served on a link domain', async (t) => {
	const caller = anonymous(service);
	for (const path of ['/openapi.json', '/docs']) {
		const {status, body} = await caller.get(path, {Host: 'go.acme.test'});
		t.is(status, 404);
		t.is(body.message, 'Not found');
	}
});
