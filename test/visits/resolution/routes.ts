import {randomUUID} from 'node:crypto';
import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf, storedRows} from '../../helpers/service.ts';
import {pathOf, userAgents} from '../matches/_phones.ts';

const {iPhone, android, windows: desktop} = userAgents;
const facebook = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)';

const service = serviceOf(test);

const clicksOf = (linkId: string) => storedRows(service, 'clicks', {link_id: linkId});
/** The answer to a visit of the link with this User-Agent. */
const see = (url: string, userAgent: string) => anonymous(service).get(pathOf(url), {'User-Agent': userAgent});
const dataOf = (url: string, query = '') => anonymous(service).get(`${pathOf(url)}/data${query}`);
const tokensIn = (text: string) => new Set(text.match(/opl_[A-Za-z0-9]{32}/g));

test('the page is 200 HTML with the headers of the specification and one token, another for each visit', async (t) => {
	const {id, url} = await link(await organization(service));
	const {status, headers, text} = await see(url, iPhone);
	t.is(status, 200);
	t.like(headers, {'cache-control': 'no-store', 'accept-ch': 'Sec-CH-Timezone', location: undefined});
	t.is(headers['content-type'], 'text/html; charset=utf-8');
	t.is(tokensIn(text).size, 1);
	t.notDeepEqual(tokensIn((await see(url, iPhone)).text), tokensIn(text));
	const [click] = await clicksOf(id);
	t.like(click, {platform: 'ios', os_version: '17.5.1', bot_class: null});
	t.is((await storedRows(service, 'match_clicks', {link_id: id})).length, 2);
});

test('a preview crawler gets a static, cacheable page, and does not count as a click', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme, {og: {title: 'Sale </title><script>alert(1)</script>', description: 'All of it'}});
	const {status, headers, text} = await see(url, facebook);
	t.is(status, 200);
	t.is(headers['cache-control'], 'public, max-age=60');
	t.regex(String(headers.vary), /User-Agent/);
	t.regex(text, /noindex/);
	t.regex(text, /<meta property="og:title" content="Sale &lt;\/title&gt;/);
	t.false(/<script|http-equiv="refresh"|opl_/.test(text));
	const [row, ...others] = await clicksOf(id);
	t.deepEqual([row.bot_class, others], ['preview-crawler', []]);
	t.deepEqual(await storedRows(service, 'click_counts', {organization_id: acme.id}), []);
	const {body} = await acme.operator.get('/stats');
	t.like(body.totals, {clicks: 0, crawlerViews: 1});
});

test('/data gives the link, lets the query add parameters, registers the device and counts as a click', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme, {path: '/item/7', params: {coupon: 'C7'}});
	const {status, body, headers} = await dataOf(url, '?deviceId=device-0001&coupon=mine&ref=mail');
	t.is(status, 200);
	t.deepEqual(body, {linkId: id, path: '/item/7', params: {coupon: 'C7', ref: 'mail'}});
	t.is(headers['access-control-allow-origin'], '*');
	t.is((await clicksOf(id)).length, 1);
	const [device] = await service.services.db('devices').where({organization_id: acme.id});
	t.is(device.device_id, 'device-0001');
});

test('/data takes parameters from the query only as far as the limits of params reach', async (t) => {
	const {url} = await link(await organization(service), {params: {a: '1'}});
	const many = Array.from({length: 60}, (_, index) => `k${index}=v`).join('&');
	t.is(Object.keys((await dataOf(url, `?${many}`)).body.params).length, 50);
	t.deepEqual((await dataOf(url, `?big=${'x'.repeat(8200)}&small=1`)).body.params, {a: '1', small: '1'});
});

test('a deviceId on /data that has not 8 to 100 characters registers no device, and the visit is answered', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme);
	for (const deviceId of ['', 'x'.repeat(7), 'x'.repeat(101), 'device%00-1']) {
		const answer = await dataOf(url, `?deviceId=${deviceId}&ref=mail`);
		t.like(answer, {status: 200, body: {linkId: id, params: {ref: 'mail'}}});
	}

	t.is((await clicksOf(id)).length, 4);
	t.deepEqual(await service.services.db('devices').where({organization_id: acme.id}), []);
});

test('an orgKey that is not 4 alphanumeric characters is 400, whether or not the code exists', async (t) => {
	for (const path of ['/abc/x', '/abcde/x', '/ab-1/x', '/abc/x/data', '/LINKS/x', '/%00b12/x']) {
		const {status, body} = await anonymous(service).get(path);
		t.like([status, body], [400, {message: 'Validation failed', details: [{field: 'orgKey'}]}], path);
	}
});

test('an unknown code, an unknown orgKey and a malformed code are 404', async (t) => {
	const {orgKey} = await organization(service);
	// Among the malformed ones: a null character, and half a surrogate pair.
	const codes = ['nothing', 'a%20b', 'x'.repeat(65), '%00', 'a%00b', '%ED%A0%80', '%FF', '__proto__'];
	for (const path of ['/zz99/x', ...codes.flatMap((code) => [`/${orgKey}/${code}`, `/${orgKey}/${code}/data`])]) {
		t.like(await anonymous(service).get(path), {status: 404, body: {message: 'Link not found'}}, path);
	}
});

test('no query makes a visit a 400: invalid parameters are omitted', async (t) => {
	const {url} = await link(await organization(service), {params: {a: '1'}});
	const query = '__proto__=x&constructor=y&n%00=1&n=%00&%ED%A0%80=2&%zz=3&=4&b=5&b=6&a=7&%&&';
	t.is((await anonymous(service).get(`${pathOf(url)}?${query}`)).status, 200);
	const {status, body} = await dataOf(url, `?${query}`);
	t.is(status, 200);
	t.deepEqual(body.params, {a: '1', constructor: 'y', '\ufffd\ufffd\ufffd': '2', '%zz': '3', '': '4', b: '5', '%': ''});
});

test('orgKey and code are case-sensitive, and one trailing slash is ignored', async (t) => {
	const acme = await organization(service);
	await link(acme, {shortCode: 'Case'});
	t.is((await anonymous(service).get(`/${acme.orgKey}/Case/`)).status, 200);
	t.is((await anonymous(service).get(`/${acme.orgKey}/Case/data/`)).status, 200);
	t.is((await anonymous(service).get(`/${acme.orgKey}/case`)).status, 404);
});

test('a deactivated, an expired and a suspended link are 410 in JSON for every visitor; a deleted one is 404', async (t) => {
	const acme = await organization(service);
	const expiry = new Date(service.clock.now().getTime() + 60_000).toISOString();
	const [inactive, expiring] = [await link(acme, {isActive: false}), await link(acme, {expiry})];
	const [deleted, live] = [await link(acme), await link(acme)];
	await acme.server.delete(`/links/${deleted.id}`);
	t.is((await anonymous(service).get(pathOf(expiring.url))).status, 200);
	service.clock.advance(60);
	for (const [{url}, status] of [
		[inactive, 410],
		[expiring, 410],
		[deleted, 404],
	] as const) {
		for (const answer of [await see(url, iPhone), await see(url, facebook), await dataOf(url)]) {
			t.like(answer, {status, body: {statusCode: status}});
		}
	}

	await acme.operator.post('/suspend');
	t.is((await anonymous(service).get(pathOf(live.url))).status, 410);
});

test('values fall back from the link to its template and then to the organization', async (t) => {
	const og = {title: 'Acme', description: 'Everything', imageUrl: 'https://cdn.acme.test/a.png'};
	const acme = await organization(service, {appConfig: {fallbackUrl: 'https://acme.test/home', og}});
	const ofItems = {path: '/template', params: {a: 'template', b: 'template'}, og: {description: 'From the template'}};
	const template = await acme.operator.post('/templates', {name: 'Item', ...ofItems});
	const own = {path: undefined, params: {b: 'link'}, og: {title: 'Own'}};
	const {url} = await link(acme, {templateId: template.body.id, ...own});
	t.like((await dataOf(url)).body, {path: '/template', params: {a: 'template', b: 'link'}});
	const {text} = await see(url, facebook);
	t.regex(text, /property="og:title" content="Own"/);
	t.regex(text, /property="og:description" content="From the template"/);
	t.regex(text, /property="og:image" content="https:\/\/cdn\.acme\.test\/a\.png"/);
	t.true((await see(url, desktop)).text.includes('https://acme.test/home'));
});

test('a click records the referrer host and, from a trusted proxy, the country', async (t) => {
	const {id, url} = await link(await organization(service), {channel: 'email'});
	await anonymous(service).get(pathOf(url), {
		'User-Agent': android,
		Referer: 'https://news.example/some/page?x=1',
		'CF-IPCountry': 'de',
		'Accept-Language': 'de-DE,en;q=0.5',
		'Sec-CH-Timezone': '"Europe/Berlin"',
	});
	const [click] = await clicksOf(id);
	t.like(click, {referrer_host: 'news.example', country: 'DE', channel: 'email'});
	t.like(click, {language: 'de-DE', timezone: 'Europe/Berlin'});
});

test('a link of a deleted organization is 404', async (t) => {
	const acme = await organization(service, {plan: 'GROWTH'});
	const {url} = await link(acme);
	await acme.operator.put('/plan', {plan: null});
	t.is((await admin(service).delete(`/admin/organizations/${acme.id}`)).status, 200);
	t.is((await anonymous(service).get(pathOf(url))).status, 404);
	t.is((await anonymous(service).get(`/${acme.orgKey}/${randomUUID().slice(0, 8)}`)).status, 404);
});
