import test from 'ava';
import {exampleAppConfig, link, organization} from '../../helpers/builders.ts';
import {type Answer, admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf, startService} from '../../helpers/service.ts';

const service = serviceOf(test, {PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'});

const at = (host: string) => ({Host: host});

/** An organization with a verified custom domain. */
const withDomain = async (hostname: string) => {
	const acme = await organization(service);
	const added = await admin(service).post(`/admin/organizations/${acme.id}/domains`, {hostname});
	const approved = await admin(service).post(`/admin/organizations/${acme.id}/domains/${added.body.id}/approve`);
	return {...acme, domain: approved.body};
};

test('short URLs are on the link domain with its scheme', async (t) => {
	const {url} = await link(await organization(service), {shortCode: 'x1'});
	t.regex(url, /^https:\/\/go\.oplink\.test\/[A-Za-z0-9]{4}\/x1$/);
});

test('the link domain serves resolution and no API; the API host serves the API and no resolution', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	const {pathname} = new URL(url);
	t.is((await anonymous(service).get(pathname, at('go.oplink.test'))).status, 200);
	t.is((await anonymous(service).get(pathname, at('GO.oplink.test.:443'))).status, 200);
	t.is((await acme.server.get('/links', at('go.oplink.test'))).status, 404);
	t.is((await anonymous(service).get('/admin/organizations', at('go.oplink.test'))).status, 404);
	t.is((await acme.server.get('/links', at('api.oplink.test'))).status, 200);
	t.is((await anonymous(service).get(pathname, at('api.oplink.test'))).status, 404);
	t.is((await anonymous(service).get('/health/live', at('go.oplink.test'))).status, 200);
});

test('a loopback name is the API host, but not a link domain unless LINK_DOMAIN is one', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000']) {
		t.is((await acme.server.get('/links', at(host))).status, 200);
		t.is((await anonymous(service).get(new URL(url).pathname, at(host))).status, 404);
	}
});

test('an unknown host has no links and no association files', async (t) => {
	const {url} = await link(await organization(service));
	for (const path of [
		new URL(url).pathname,
		'/.well-known/apple-app-site-association',
		'/.well-known/assetlinks.json',
	]) {
		const {status, body} = await anonymous(service).get(path, at('unknown.test'));
		t.is(status, 404);
		t.is(body.message, 'Unknown link domain');
	}

	t.is((await anonymous(service).get('/abc/x', at('unknown.test'))).status, 400);
});

test('a custom domain serves only its organization, with and without the orgKey', async (t) => {
	const acme = await withDomain('links.acme.test');
	const globex = await organization(service);
	const own = await link(acme, {shortCode: 'sale', domainId: acme.domain.id});
	const foreign = await link(globex, {shortCode: 'theirs'});
	t.is(own.url, `https://links.acme.test/${acme.orgKey}/sale`);
	const get = (path: string) => anonymous(service).get(path, at('links.acme.test'));
	t.is((await get(`/${acme.orgKey}/sale`)).status, 200);
	t.is((await get('/sale')).status, 200);
	t.is((await get('/sale/')).status, 200);
	t.is((await get(`/${acme.orgKey}/sale/data`)).body.linkId, own.id);
	t.is((await get('/sale/data')).body.linkId, own.id);
	t.is((await get(`/${globex.orgKey}/theirs`)).status, 404);
	t.is((await get('/theirs')).status, 404);
	t.is((await get('/theirs/data')).status, 404);
	t.is((await get(new URL(foreign.url).pathname)).status, 404);
	t.is((await get('/abc/x')).status, 400);
	t.is((await get('/links')).status, 404);
	t.is((await get('/portal/x')).status, 404);
	t.is((await get('/a/b/c')).status, 404);
});

test('a visit of a custom domain carries its query, with and without the orgKey', async (t) => {
	const acme = await withDomain('invite.acme.test');
	await link(acme, {shortCode: 'sale', domainId: acme.domain.id});
	const agent =
		'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
	for (const path of ['/sale', '/sale/', `/${acme.orgKey}/sale`]) {
		const {text} = await anonymous(service).get(`${path}?ref=42`, {...at('invite.acme.test'), 'User-Agent': agent});
		t.true(text.includes('href="acmeshop://sale?ref=42"'), path);
	}

	t.deepEqual((await anonymous(service).get('/sale/data?ref=42', at('invite.acme.test'))).body.params, {ref: '42'});
});

test('a code named data is distinguished from the data of a code', async (t) => {
	const acme = await withDomain('data.acme.test');
	const named = await link(acme, {shortCode: 'data'});
	const get = (path: string) => anonymous(service).get(path, {...at('data.acme.test'), 'User-Agent': 'curl/8'});
	t.regex(String((await get(`/${acme.orgKey}/data`)).headers['content-type']), /^text\/html/);
	t.is((await get('/data/data')).body.linkId, named.id);
});

test('any origin may read the data of a bare code, and no page', async (t) => {
	const acme = await withDomain('origins.acme.test');
	await link(acme, {shortCode: 'sale'});
	await link(acme, {shortCode: 'data'});
	const origin = {...at('origins.acme.test'), Origin: 'https://shop.acme.test'};
	const allowed = ({headers}: Answer) => headers['access-control-allow-origin'];
	const caller = anonymous(service);
	for (const path of ['/sale/data', '/unknown/data', `/${acme.orgKey}/sale/data`]) {
		t.is(allowed(await caller.get(path, origin)), '*', path);
		const preflight = await caller.options(path, origin);
		t.is(preflight.status, 204, path);
		t.is(allowed(preflight), '*', path);
	}

	for (const path of ['/sale', `/${acme.orgKey}/sale`, `/${acme.orgKey}/data`]) {
		t.is(allowed(await caller.get(path, origin)), undefined, path);
		t.is((await caller.options(path, origin)).status, 404, path);
	}

	const shared = {...origin, Host: 'go.oplink.test'};
	t.is(allowed(await caller.get(`/${acme.orgKey}/data`, shared)), undefined);
});

test('a bare code on the shared domain is an unknown path', async (t) => {
	const {body, status} = await anonymous(service).get('/sale', at('go.oplink.test'));
	t.is(status, 404);
	t.is(body.message, 'Not found');
});

test('the association files of the shared domain list active organizations, each under its own key', async (t) => {
	const own = await startService({PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'});
	t.teardown(() => own.stop());
	const get = (path: string, host = 'go.oplink.test') => anonymous(own).get(path, at(host));
	const [apple, android] = ['/.well-known/apple-app-site-association', '/.well-known/assetlinks.json'];
	t.is((await get(apple)).status, 404);
	t.is((await get(android)).status, 404);
	const acme = await organization(own);
	const globex = await organization(own, {
		appConfig: {...exampleAppConfig, ios: {teamId: 'ZZZZZ99999', bundleId: 'com.globex.app'}},
	});
	await organization(own, {appConfig: {ios: {bundleId: 'com.incomplete.app'}}});
	const {status, headers, body} = await get(apple);
	t.is(status, 200);
	t.is(headers['cache-control'], 'public, max-age=3600');
	t.regex(String(headers['content-type']), /^application\/json/);
	const byKey = [
		{appIDs: ['ABCDE12345.com.acme.shop.ios'], components: [{'/': `/${acme.orgKey}/*`}]},
		{appIDs: ['ZZZZZ99999.com.globex.app'], components: [{'/': `/${globex.orgKey}/*`}]},
	].toSorted((a, b) => (JSON.stringify(a.components) < JSON.stringify(b.components) ? -1 : 1));
	t.deepEqual(body, {applinks: {details: byKey}});
	const links = await get(android);
	t.is(links.headers['cache-control'], 'public, max-age=3600');
	t.deepEqual(links.body, [
		{
			relation: ['delegate_permission/common.handle_all_urls'],
			target: {
				namespace: 'android_app',
				package_name: 'com.acme.shop',
				sha256_cert_fingerprints: exampleAppConfig.android[0]?.sha256Fingerprints,
			},
		},
	]);
	await admin(own).post(`/admin/organizations/${globex.id}/suspend`);
	t.is((await get(apple)).body.applinks.details.length, 1);
});

test('the association files of a custom domain describe only its organization', async (t) => {
	const acme = await withDomain('apps.acme.test');
	await organization(service, {
		appConfig: {...exampleAppConfig, ios: {teamId: 'ZZZZZ99999', bundleId: 'com.other.app'}},
	});
	const {body} = await anonymous(service).get('/.well-known/apple-app-site-association', at('apps.acme.test'));
	t.deepEqual(
		body.applinks.details.map(({appIDs}: {appIDs: string[]}) => appIDs),
		[['ABCDE12345.com.acme.shop.ios']],
	);
	await admin(service).post(`/admin/organizations/${acme.id}/domains/${acme.domain.id}/reject`);
	t.is((await anonymous(service).get('/.well-known/apple-app-site-association', at('apps.acme.test'))).status, 404);
});

test('the host that a trusted proxy forwards counts, and one from elsewhere does not', async (t) => {
	const {url} = await link(await organization(service));
	const {pathname} = new URL(url);
	const forwarded = {Host: 'internal.test', 'X-Forwarded-Host': 'go.oplink.test'};
	t.is((await anonymous(service).get(pathname, forwarded)).status, 200);
	const strict = await startService({
		PUBLIC_URL: 'https://api.oplink.test',
		LINK_DOMAIN: 'go.oplink.test',
		TRUSTED_PROXIES: '10.9.9.9/32',
	});
	t.teardown(() => strict.stop());
	const other = await link(await organization(strict));
	t.is((await anonymous(strict).get(new URL(other.url).pathname, forwarded)).status, 404);
});

test('unknown hosts count against the address before the database is queried', async (t) => {
	const caller = anonymous(service);
	const ask = (host: string) => caller.head('/docs', {Host: host});
	const answers = await Promise.all(Array.from({length: 501}, (_, index) => ask(`unknown-${index}.example`)));
	t.is(answers.filter(({status}) => status === 404).length, 1);
	t.is((await anonymous(service).get('/docs', {Host: 'unknown-of-another.example'})).status, 200);
});
