import test from 'ava';
import {packageVersion} from '../../../src/platform/package-root.ts';
import {pageLanguages, translations} from '../../../src/visits/page/translations.ts';
import {approvedDomain, exampleAppConfig, link, organization} from '../../helpers/builders.ts';
import {type Answer, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {withDomain} from './_domains.ts';

const service = serviceOf(test, {PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'});

const typeOf = ({headers}: Answer): string | undefined => String(headers['content-type']).split(';')[0];
const statusAndType = (answer: Answer) => [answer.status, typeOf(answer)];

test('prefixes are taken off before the code: page, data, preflight and both forms of an address', async (t) => {
	const acme = await withDomain(service, {pathPrefixes: ['promos', '/links/share/']});
	t.deepEqual(acme.domain.pathPrefixes, ['promos', 'links/share']);
	const {id} = await link(acme, {shortCode: 'sale'});
	const [docs, data] = [await link(acme, {shortCode: 'docs'}), await link(acme, {shortCode: 'data'})];
	for (const prefix of ['/promos', '/links/share']) {
		for (const path of [`${prefix}/sale`, `${prefix}/${acme.orgKey}/sale`, `${prefix}/sale/`]) {
			t.deepEqual(statusAndType(await acme.get(path)), [200, 'text/html'], path);
		}

		t.is((await acme.get(`${prefix}/sale/data?ref=7`)).body.linkId, id);
		t.like((await acme.get(`${prefix}/${acme.orgKey}/sale/data?ref=7`)).body, {linkId: id, params: {ref: '7'}});
		t.is((await acme.get(`${prefix}/docs/data`)).body.linkId, docs.id);
		t.is((await acme.get(`${prefix}/data/data`)).body.linkId, data.id);
	}

	const caller = anonymous(service);
	const host = {Host: acme.hostname};
	t.is((await caller.head('/links/share/sale', host)).status, 200);
	const preflight = await caller.options(`/promos/${acme.orgKey}/sale/data`, host);
	t.is(preflight.status, 204);
	t.is(preflight.headers['access-control-allow-origin'], '*');
	t.is((await caller.post(`/promos/${acme.orgKey}/sale/signals`, {token: 'none'}, host)).status, 204);
	t.is((await acme.get('/sale/data')).body.linkId, id);
});

test('a path behind a prefix reaches no other surface, and other paths do not change', async (t) => {
	const acme = await withDomain(service, {pathPrefixes: ['promos', 'links']});
	const other = await withDomain(service);
	await link(acme, {shortCode: 'sale'});
	await link(other, {shortCode: 'sale'});
	// As a key's GET /links/:id the API's document would say something else of it.
	t.is((await anonymous(service).head('/links/sale', {Host: acme.hostname})).status, 200);
	t.is((await acme.get('/promos/promos/sale')).status, 400);
	t.is((await acme.get('/promos/links/sale')).status, 400);
	t.is((await acme.get('/promos/.well-known/assetlinks.json')).status, 400);
	t.is((await acme.get('/promo/sale')).status, 400);
	t.is((await acme.get('/Promos/sale')).status, 400);
	t.is((await acme.get('/promos/a/b/c')).status, 404);
	t.is((await acme.get('/promos/none')).body.path, '/promos/none');
	t.is((await acme.get('/health/live')).status, 200);
	t.is((await acme.get('/.well-known/assetlinks.json')).status, 200);
	t.is((await other.get('/links/sale')).status, 404);
	t.is((await other.get('/promos/sale')).status, 400);
	t.is((await anonymous(service).get('/promos/sale', {Host: 'go.oplink.test'})).status, 400);
	t.is((await acme.server.get('/links', {Host: 'api.oplink.test'})).status, 200);
});

test('a prefix alone is read as a code, and the longest prefix counts', async (t) => {
	const acme = await withDomain(service, {pathPrefixes: ['a', 'a/b']});
	const [own, b] = [await link(acme, {shortCode: 'a'}), await link(acme, {shortCode: 'b'})];
	const x = await link(acme, {shortCode: 'x'});
	t.is((await acme.get('/a')).status, 200);
	t.is((await acme.get('/a/data')).body.linkId, own.id);
	t.is((await acme.get('/a/b/data')).body.linkId, b.id);
	t.is((await acme.get('/a/b/x/data')).body.linkId, x.id);
	t.is((await acme.get('/a/x/data')).body.linkId, x.id);
});

test('settings are in the answers while they are set, and leave no trace when they are cleared', async (t) => {
	const acme = await withDomain(service);
	const before = acme.domain;
	t.deepEqual(Object.keys(before), ['id', 'hostname', 'status', 'isDefault', 'verification', 'createdAt']);
	const unknownCodes = {url: 'https://old.example.link/{code}?from={code}'};
	const set = await acme.change({pathPrefixes: ['promos'], rootUrl: 'https://www.acme.test', unknownCodes});
	t.deepEqual(set.body, {...before, pathPrefixes: ['promos'], rootUrl: 'https://www.acme.test/', unknownCodes});
	t.deepEqual((await acme.change({})).body, set.body);
	t.deepEqual((await acme.change({rootUrl: null})).body, {...before, pathPrefixes: ['promos'], unknownCodes});
	t.deepEqual((await acme.change({pathPrefixes: null, unknownCodes: null})).body, before);
	const {data} = (await acme.operator.get('/audit-log')).body;
	const [{details}] = data.filter(
		(one: Record<string, string>) => one['entityType'] === 'Domain' && one['action'] === 'UPDATE',
	);
	t.deepEqual(details, {
		hostname: acme.hostname,
		changes: {
			pathPrefixes: {from: [], to: []},
			rootUrl: {from: null, to: null},
			unknownCodesUrl: {from: null, to: null},
		},
		repeated: details.repeated,
	});
});

test('the root of a domain redirects to its rootUrl, and stays 404 without one', async (t) => {
	const acme = await withDomain(service, {rootUrl: 'https://www.acme.test/start?x=1'});
	for (const method of ['get', 'head'] as const) {
		const {status, headers} = await anonymous(service)[method]('/', {Host: acme.hostname});
		t.is(status, 302);
		t.is(headers['location'], 'https://www.acme.test/start?x=1');
	}

	const other = await withDomain(service);
	for (const host of [other.hostname, 'go.oplink.test', 'api.oplink.test', 'unknown.example']) {
		t.like(await anonymous(service).get('/', {Host: host}), {status: 404, body: {message: 'Not found'}}, host);
	}

	await acme.operator.post('/suspend');
	t.is((await acme.get('/')).status, 404);
});

test('settings that make no sense are 400 with the field', async (t) => {
	const acme = await withDomain(service);
	const other = await withDomain(service);
	const refused = async (changes: object, field: string): Promise<void> => {
		const {status, body} = await acme.change(changes);
		t.deepEqual([status, body.details?.[0].field], [400, field], JSON.stringify(changes));
	};
	for (const prefix of ['a b', '..', 'a//b', '', '.well-known', 'health/x']) {
		await refused({pathPrefixes: [prefix]}, 'pathPrefixes.0');
	}

	await refused({pathPrefixes: ['a', 'a']}, 'pathPrefixes.1');
	await refused({pathPrefixes: Array.from({length: 21}, (_, index) => `p${index}`)}, 'pathPrefixes');
	for (const rootUrl of ['ftp://www.acme.test', 'https://go.oplink.test/x', `https://${acme.hostname}/`]) {
		await refused({rootUrl}, 'rootUrl');
	}

	for (const url of [
		undefined,
		'javascript:alert({code})',
		'https://{code}.example.link/',
		'https://old.example.link.{code}/',
		'https://x:{code}@old.example.link/',
		'http://127.0.0.1/{code}',
		'https://go.oplink.test/{code}',
		'https://API.oplink.test./{code}',
		`https://${acme.hostname}/{code}`,
		`https://${other.hostname.toUpperCase()}:8443/{code}`,
		'https://old.example.link/{code',
		'https://old.example.link/?c={code}&x=code}',
		'https://old.example.link/{Code}',
		'https://old.example.link/{{code}}',
	]) {
		await refused({unknownCodes: {url}}, 'unknownCodes.url');
	}

	const {body} = await acme.change({unknownCodes: {url: 'https://{code}.example/'}});
	const message = 'unknownCodes.url must be an http or https URL of a public host, with {code} behind the host';
	t.is(body.details[0].message, message);
	await refused({status: 'VERIFIED'}, 'status');
	t.is((await acme.operator.patch(`/domains/${other.domain.id}`, {rootUrl: null})).status, 404);
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

const withPages = (more: object = {}) =>
	organization(service, {
		appConfig: {...exampleAppConfig, fallbackUrl: 'https://www.acme.test/?a=1&b=2', errorPages: true, ...more},
	});

const get = (path: string, headers: Record<string, string> = {}, host = 'go.oplink.test') =>
	anonymous(service).get(path, {Host: host, Accept: BROWSER, ...headers});

test('who prefers a page gets one for 404 and 410, with the same status and a way to the fallback', async (t) => {
	const acme = await withPages();
	const gone = await link(acme, {isActive: false});
	const missing = await get(`/${acme.orgKey}/none`);
	t.deepEqual(statusAndType(missing), [404, 'text/html']);
	t.like(missing.headers, {
		'x-error-code': 'link_not_found',
		'cache-control': 'no-store',
		vary: 'Accept, Accept-Language',
		'x-robots-tag': 'noindex, nofollow',
		'content-language': 'en',
	});
	t.true(missing.text.includes('<h1>This link does not exist</h1>'));
	t.true(missing.text.includes('href="https://www.acme.test/?a=1&amp;b=2"'));
	t.false(missing.text.includes('http-equiv="refresh"'));
	t.false(missing.text.includes('<script'));
	const arabic = await get(`/${acme.orgKey}/none`, {'Accept-Language': 'ar'});
	for (const part of ['<html lang="ar" dir="rtl">', translations.ar.notFound, translations.ar.notFoundAdvice]) {
		t.true(arabic.text.includes(part), part);
	}

	const late = await get(new URL(gone.url).pathname);
	t.is(late.status, 410);
	t.true(late.text.includes('<h1>This link is no longer available</h1>'));
	const head = await anonymous(service).head(`/${acme.orgKey}/none`, {Host: 'go.oplink.test', Accept: BROWSER});
	t.deepEqual(statusAndType(head), [404, 'text/html']);
});

test('JSON stays the default: for other callers, organizations, statuses and hosts', async (t) => {
	const acme = await withPages();
	const other = await organization(service);
	const path = `/${acme.orgKey}/none`;
	const others = ['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0.5, */*', 'text/plain'];
	for (const accept of others) {
		t.deepEqual(statusAndType(await get(path, {Accept: accept})), [404, 'application/json'], accept);
	}

	const plain = await anonymous(service).get(path, {Host: 'go.oplink.test'});
	t.is(plain.body.message, 'Link not found');
	t.is(plain.headers['vary'], undefined);
	for (const [unknown, host] of [
		[`/${other.orgKey}/none`, 'go.oplink.test'],
		['/zzzz/none', 'go.oplink.test'],
		['/docs/none', 'go.oplink.test'],
		[path, 'api.oplink.test'],
		[path, 'unknown.example'],
		['/abc/none', 'go.oplink.test'],
	] as const) {
		t.is(typeOf(await get(unknown, {}, host)), 'application/json', `${host}${unknown}`);
	}
});

test('links of a suspended organization have the page too, on the shared domain and on its own', async (t) => {
	const acme = await withPages();
	const {url} = await link(acme);
	const hostname = `${acme.orgKey.toLowerCase()}.suspended.test`;
	await approvedDomain(acme, hostname);
	const {pathname} = new URL(url);
	t.is((await get(pathname)).status, 200);
	await acme.operator.post('/suspend');
	for (const host of ['go.oplink.test', hostname]) {
		const gone = await get(pathname, {}, host);
		t.deepEqual(statusAndType(gone), [410, 'text/html'], host);
		t.true(gone.text.includes('href="https://www.acme.test/?a=1&amp;b=2"'));
		t.is(typeOf(await get(pathname, {Accept: 'application/json'}, host)), 'application/json');
		t.is(typeOf(await get(`/${acme.orgKey}/none`, {}, host)), 'text/html', host);
	}
});

test('the start page names the service, for clients that prefer a page and on the API host alone', async (t) => {
	const page = await get('/', {}, 'api.oplink.test');
	t.is(page.status, 200);
	t.like(page.headers, {'content-type': 'text/html; charset=utf-8', vary: 'Accept', 'cache-control': 'no-store'});
	t.regex(page.text, /<h1>Oplink<\/h1>/);
	t.true(page.text.includes(`Version ${packageVersion()}`));
	t.true(page.text.includes('href="/docs"'));
	t.false(page.text.includes('<script'));
	const head = await anonymous(service).head('/', {Host: 'api.oplink.test', Accept: BROWSER});
	t.deepEqual(statusAndType(head), [200, 'text/html']);
	for (const [accept, host] of [
		['*/*', 'api.oplink.test'],
		['application/json', 'api.oplink.test'],
		[BROWSER, 'go.oplink.test'],
		[BROWSER, 'unknown.example'],
	] as const) {
		t.like(await get('/', {Accept: accept}, host), {status: 404, body: {message: 'Not found'}}, `${host} ${accept}`);
	}

	// Here API host and link domain are one.
	t.is((await get('/', {}, 'localhost')).status, 200);
});

test('every path of a custom domain has the page; without a fallback there is no button', async (t) => {
	const acme = await withPages({fallbackUrl: null});
	const hostname = `${acme.orgKey.toLowerCase()}.acme.test`;
	await approvedDomain(acme, hostname);
	for (const path of ['/', '/none', `/${acme.orgKey}/none`, '/a/b/c', `/${acme.orgKey}/none/data`]) {
		const answer = await get(path, {}, hostname);
		t.deepEqual(statusAndType(answer), [404, 'text/html'], path);
		t.false(answer.text.includes('<a '));
	}
});

test('texts of the pages differ between all languages', (t) => {
	for (const text of ['notFound', 'notFoundAdvice', 'gone', 'goneAdvice'] as const) {
		t.is(new Set(pageLanguages.map((language) => translations[language][text])).size, 12, text);
	}
});

test('the setting counts at once, and an organization’s name is text on the page', async (t) => {
	const acme = await organization(service, {name: `<b>"Acme" & Co ${Date.now()}`});
	const path = `/${acme.orgKey}/none`;
	t.is(typeOf(await get(path)), 'application/json');
	const before = (await acme.operator.get('/app-config')).body;
	t.false('errorPages' in before);
	const set = await acme.operator.put('/app-config', {...before, errorPages: true});
	t.is(set.body.errorPages, true);
	const page = await get(path);
	t.is(typeOf(page), 'text/html');
	t.true(page.text.includes('&lt;b&gt;&quot;Acme&quot; &amp; Co'));
	t.deepEqual((await acme.operator.put('/app-config', {...before, errorPages: false})).body, before);
	t.is(typeOf(await get(path)), 'application/json');
});
