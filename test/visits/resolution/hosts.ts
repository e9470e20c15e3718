import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {type Answer, anonymous} from '../../helpers/callers.ts';
import {serviceOf, startService} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';
import {pathOf, userAgents} from '../matches/_phones.ts';
import {withDomain} from './_domains.ts';

const HOSTS = {PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'};
const APPLE = '/.well-known/apple-app-site-association';
const ANDROID = '/.well-known/assetlinks.json';

const service = serviceOf(test, HOSTS);

const at = (host: string) => ({Host: host});

test('the link domain serves resolution and no API; the API host serves the API and no resolution', async (t) => {
	const acme = await organization(service);
	const pathname = pathOf((await link(acme)).url);
	t.is((await anonymous(service).get(pathname, at('go.oplink.test'))).status, 200);
	t.is((await anonymous(service).get(pathname, at('GO.oplink.test.:443'))).status, 200);
	t.is((await acme.server.get('/links', at('go.oplink.test'))).status, 404);
	t.like(await anonymous(service).get('/sale', at('go.oplink.test')), {status: 404, body: {message: 'Not found'}});
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
		t.is((await anonymous(service).get(pathOf(url), at(host))).status, 404);
	}
});

test('an unknown host has no links and no association files', async (t) => {
	const {url} = await link(await organization(service));
	for (const path of [pathOf(url), APPLE, ANDROID]) {
		const answer = await anonymous(service).get(path, at('unknown.test'));
		t.like(answer, {status: 404, body: {message: 'Unknown link domain'}}, path);
	}

	t.is((await anonymous(service).get('/abc/x', at('unknown.test'))).status, 400);
});

test('a custom domain serves only its organization, with and without the orgKey, and carries a query', async (t) => {
	const acme = await withDomain(service);
	const globex = await organization(service);
	const own = await link(acme, {shortCode: 'sale', domainId: acme.domain.id});
	const foreign = await link(globex, {shortCode: 'theirs'});
	t.is(own.url, `https://${acme.hostname}/${acme.orgKey}/sale`);
	for (const path of [`/${acme.orgKey}/sale`, '/sale', '/sale/']) {
		const {text} = await acme.get(`${path}?ref=42`, {'User-Agent': userAgents.iPhone});
		t.true(text.includes('href="acmeshop://sale?ref=42"'), path);
		const {body} = await acme.get(`${path.replace(/\/$/, '')}/data?ref=42`);
		t.like(body, {linkId: own.id, params: {ref: '42'}});
	}

	const others = [`/${globex.orgKey}/theirs`, '/theirs', '/theirs/data', pathOf(foreign.url)];
	for (const path of [...others, '/links', '/portal/x', '/a/b/c']) {
		t.is((await acme.get(path)).status, 404, path);
	}

	t.is((await acme.get('/abc/x')).status, 400);
});

test('a code named data is distinguished from the data of a code', async (t) => {
	const acme = await withDomain(service);
	const named = await link(acme, {shortCode: 'data'});
	t.regex(String((await acme.get(`/${acme.orgKey}/data`)).headers['content-type']), /^text\/html/);
	t.is((await acme.get('/data/data')).body.linkId, named.id);
});

test('any origin may read the data of a code, and no page', async (t) => {
	const acme = await withDomain(service);
	await link(acme, {shortCode: 'sale'});
	await link(acme, {shortCode: 'data'});
	const origin = {...at(acme.hostname), Origin: 'https://shop.acme.test'};
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
	t.like(await caller.options('/AB12/code/data', shared), {status: 204, headers: {'access-control-allow-origin': '*'}});
});

test('the host that a trusted proxy forwards counts, and one from elsewhere does not', async (t) => {
	const {url} = await link(await organization(service));
	const forwarded = {Host: 'internal.test', 'X-Forwarded-Host': 'go.oplink.test'};
	t.is((await anonymous(service).get(pathOf(url), forwarded)).status, 200);
	const strict = await startedIn(t, startService({...HOSTS, TRUSTED_PROXIES: '10.9.9.9/32'}));
	const other = await link(await organization(strict));
	t.is((await anonymous(strict).get(pathOf(other.url), forwarded)).status, 404);
});

test('unknown hosts count against the address before the database is queried', async (t) => {
	const caller = anonymous(service);
	const ask = (host: string) => caller.head('/docs', {Host: host});
	const answers = await Promise.all(Array.from({length: 501}, (_, index) => ask(`unknown-${index}.example`)));
	t.is(answers.filter(({status}) => status === 404).length, 1);
	t.is((await anonymous(service).get('/docs', {Host: 'unknown-of-another.example'})).status, 200);
});
