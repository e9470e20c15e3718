import test from 'ava';
import {approvedDomain, exampleAppConfig, link, organization} from '../../helpers/builders.ts';
import {type Answer, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {network, open, pathOf, userAgents, visit} from '../matches/_phones.ts';

const service = serviceOf(test);
test.serial.before(async () => {
	await service.services.changes.settled();
});

const apple = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const agents = {
	iPhone: userAgents.iPhone,
	android: userAgents.android,
	macOrIpad: userAgents.iPad,
	desktop: userAgents.windows,
	iPhoneInApp: `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${apple} Mobile/21F79`,
	iPad: `Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) ${apple} Version/17.5 Mobile/15E148 Safari/604.1`,
	iPadChrome: `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${apple} CriOS/137 Version/17.5 Safari/605.1.15`,
	androidInApp:
		'Mozilla/5.0 (Linux; Android 14; Pixel; wv) AppleWebKit/537.36 Version/4.0 Chrome/126 Mobile Safari/537.36 [LinkedInApp]',
	tool: 'curl/8.0',
};
type Reader = keyof typeof agents;

const pageOf = async (url: string, reader: Reader): Promise<string> => {
	const {pathname, search} = new URL(url);
	const {status, text} = await anonymous(service).get(pathname + search, {'User-Agent': agents[reader]});
	if (status !== 200) {
		throw new Error(`a page got ${status}: ${text}`);
	}

	return text.replaceAll('&amp;', '&');
};

/** The links of the page from top to bottom: the intent as where it falls back to, and an iPad's own after a bar. */
const hrefsOf = (page: string): string[] =>
	[...page.matchAll(/(id="ipad-offer")|<a class="[^"]*" href="([^"]*)"/g)].map(([, bar, href = '']) =>
		bar ? '|' : decodeURIComponent(/^intent:.*browser_fallback_url=([^;]*);end$/.exec(href)?.[1] ?? href),
	);

const redirectOf = (page: string): unknown =>
	JSON.parse(/id="config">(.*?)<\/script>/s.exec(page)?.[1] ?? '').redirectTo;

const at = (name: string): string => `https://${name}.example.com/`;
const destinations = {ios: at('ios'), ipad: at('ipad'), android: at('android'), desktop: at('desktop')};
const website = {fallbackUrl: at('website')};
const store = 'https://apps.apple.com/app/id123456789';
const play = 'https://play.google.com/store/apps/details?id=com.acme.shop';
const scheme = 'acmeshop://sale';

const leads = test.macro(
	async (
		t,
		{fields, appConfig}: {fields: object; appConfig?: object},
		expected: Partial<Record<Reader, [hrefs: string[], redirect?: string]>>,
	) => {
		const acme = await organization(service, {appConfig: appConfig ?? exampleAppConfig});
		const {url} = await link(acme, {deferredDeepLinking: false, ...fields});
		for (const [reader, [hrefs, redirect]] of Object.entries(expected)) {
			const page = await pageOf(url, reader as Reader);
			t.deepEqual(hrefsOf(page), hrefs, reader);
			t.is(redirectOf(page), redirect ?? null, reader);
		}
	},
);

test(
	'each platform is led to its own destination first, and to the store second',
	leads,
	{fields: {...website, destinations}},
	{
		iPhone: [[at('ios'), store, scheme]],
		iPhoneInApp: [[at('ios'), store]],
		iPad: [[at('ipad'), store, scheme]],
		iPadChrome: [[at('ipad'), store, scheme]],
		macOrIpad: [[at('desktop'), store, play, '|', at('ipad'), store, scheme], at('desktop')],
		android: [[at('android'), play, at('android')]],
		androidInApp: [[at('android'), play, at('android')]],
		desktop: [[at('desktop'), store, play], at('desktop')],
		tool: [[at('desktop')]],
	},
);

const toIos = [at('ios'), store, scheme];
test(
	'an iPad goes where phones go if it has no destination of its own',
	leads,
	{fields: {destinations: {ios: at('ios')}}},
	{
		iPad: [toIos],
		macOrIpad: [[store, play, '|', ...toIos]],
		iPhone: [toIos],
		android: [[play, play]],
		desktop: [[store, play]],
	},
);

test(
	'an iPad’s own destination does not apply to phones',
	leads,
	{fields: {...website, destinations: {ipad: at('ipad')}}},
	{
		iPad: [[at('ipad'), store, scheme]],
		iPhone: [[store, scheme, at('website')]],
		android: [[play, play, at('website')]],
	},
);

test(
	'without an app the destination stands alone, for an iPad in desktop mode too',
	leads,
	{fields: {...website, destinations}, appConfig: {}},
	{
		iPhone: [[at('ios')]],
		iPad: [[at('ipad')]],
		macOrIpad: [[at('desktop'), '|', at('ipad')], at('desktop')],
		android: [[at('android')]],
		androidInApp: [[at('android')]],
		desktop: [[at('desktop')], at('desktop')],
	},
);

test('a destination gets of a tap’s query what the website gets, and the query keeps the minimum version of the data', async (t) => {
	const acme = await organization(service);
	const places = {...website, destinations: {ios: at('ios'), ipad: at('ipad')}};
	const {url} = await link(acme, {...places, deferredDeepLinking: false, minimumVersion: {ios: '2'}});
	const query = '?utm_source=tap&ref=42';
	t.is(hrefsOf(await pageOf(`${url}${query}`, 'iPhone'))[0], `${at('ios')}?utm_source=tap`);
	t.is(hrefsOf(await pageOf(`${url}${query}`, 'android'))[2], `${at('website')}?utm_source=tap`);
	t.is(hrefsOf(await pageOf(`${url}${query}`, 'iPad'))[0], `${at('ipad')}?utm_source=tap`);
	const {body} = await anonymous(service).get(`${pathOf(url)}/data${query}`);
	t.like(body, {params: {utm_source: 'tap', ref: '42'}, minimumVersion: {ios: '2'}});
});

test('a deferred link copies its token on the way to the store, and says so below that button', async (t) => {
	const {url} = await link(await organization(service, {name: 'Acme & Sons'}), {destinations});
	const page = await pageOf(url, 'iPhone');
	t.deepEqual(hrefsOf(page), [at('ios'), store, store, scheme]);
	const [first = '', second = '', third = ''] = page.slice(page.indexOf('id="offer"')).split('<a ').slice(1);
	t.notRegex(first, /data-copies|consent/);
	t.regex(
		second,
		/^class="button secondary" href="[^"]*" data-copies="before">Get Acme & Sons on the App Store<[\s\S]*class="consent"/,
	);
	t.regex(third, /Continue without copying/);
});

test('each field is the link’s own, else the template’s, else the organization’s, and changes at once', async (t) => {
	const acme = await organization(service);
	const ofAll = {ios: at('org'), android: at('org'), desktop: at('org')};
	const config = {...exampleAppConfig, destinations: ofAll, minimumVersion: {android: 7}};
	const saved = await acme.operator.put('/app-config', config);
	const ofItems = {destinations: {ios: at('template'), android: at('template')}, minimumVersion: {ios: '2'}};
	const {body: template} = await acme.operator.post('/templates', {name: 'Item', ...ofItems});
	const own = {destinations: {ios: at('link')}, minimumVersion: {ios: '3.0'}, deferredDeepLinking: false};
	const made = await link(acme, {templateId: template.id, ...own});
	t.like(saved.body, {destinations: ofAll});
	t.deepEqual((await acme.operator.get('/app-config')).body, saved.body);
	const firsts = async () =>
		Promise.all(
			(['iPhone', 'android', 'desktop'] as const).map(async (name) => hrefsOf(await pageOf(made.url, name))[0]),
		);
	const data = async () => (await anonymous(service).get(`${pathOf(made.url)}/data`)).body;
	t.deepEqual(await firsts(), [at('link'), at('template'), at('org')]);
	t.deepEqual((await data()).minimumVersion, {ios: '3.0', android: 7});

	await acme.operator.patch(`/templates/${template.id}`, {destinations: {android: null}, minimumVersion: null});
	await acme.server.patch(`/links/${made.id}`, {destinations: null, minimumVersion: {ios: null}});
	t.deepEqual(await firsts(), [at('template'), at('org'), at('org')]);
	t.deepEqual((await data()).minimumVersion, {android: 7});

	await acme.operator.patch(`/templates/${template.id}`, {destinations: {ios: null}});
	await acme.operator.put('/app-config', exampleAppConfig);
	t.deepEqual(await firsts(), [store, play, store]);
	t.deepEqual(await data(), {linkId: made.id, path: '/sale', params: {}});
});

test('answers have what is set, field by field, and nothing where nothing is', async (t) => {
	const acme = await organization(service);
	const {id, ...plain} = await link(acme);
	t.false('destinations' in plain || 'minimumVersion' in plain);
	const changed = await acme.server.patch(`/links/${id}`, {
		destinations: {desktop: 'HTTPS://Desktop.Example.com', ios: at('ios')},
		minimumVersion: {android: 210},
	});
	t.is(JSON.stringify(changed.body.destinations), JSON.stringify({ios: at('ios'), desktop: at('desktop')}));
	t.deepEqual(changed.body.minimumVersion, {android: 210});
	const {body: log} = await acme.operator.get('/audit-log');
	const [update] = log.data.filter((one: Answer['body']) => one.entityType === 'Link' && one.action === 'UPDATE');
	t.deepEqual(update.details.changes.minimumVersion, {from: null, to: {android: 210}});
	const more = await acme.server.patch(`/links/${id}`, {destinations: {ios: null, ipad: at('ipad')}});
	t.deepEqual(more.body.destinations, {ipad: at('ipad'), desktop: at('desktop')});
	const {body} = await acme.server.get(`/links/${id}`);
	t.like(body, {destinations: more.body.destinations, minimumVersion: {android: 210}});
	const cleared = await acme.server.patch(`/links/${id}`, {destinations: null, minimumVersion: {android: null}});
	t.deepEqual({...cleared.body, updatedAt: plain['updatedAt']}, {id, ...plain});
});

const faultsOf = ({status, body}: Answer) => [
	status,
	body.details?.map(({field}: {field: string}) => field).toSorted(),
];

test('a destination keeps the rules of fallbackUrl, a version its form, on links, templates and the app configuration', async (t) => {
	const acme = await organization(service);
	const fields = {
		destinations: {ios: 'javascript:alert(1)', ipad: 'http://127.0.0.1/', android: 'market://details', tv: at('tv')},
		minimumVersion: {ios: 'v2', android: '210', desktop: '1'},
	};
	const bad = [
		...['android', 'ios', 'ipad', 'tv'].map((platform) => `destinations.${platform}`),
		...['android', 'desktop', 'ios'].map((platform) => `minimumVersion.${platform}`),
	];
	t.deepEqual(faultsOf(await acme.server.post('/links', {path: '/a', ...fields})), [400, bad]);
	t.deepEqual(faultsOf(await acme.operator.post('/templates', {name: 'a', ...fields})), [400, bad]);
	t.deepEqual(faultsOf(await acme.operator.put('/app-config', fields)), [400, bad]);
	const linkOf = (minimumVersion: object) => acme.server.post('/links', {path: '/a', minimumVersion});
	for (const ios of ['1', '2.10.0', '026.0.1']) {
		t.is((await linkOf({ios})).status, 201, ios);
	}

	for (const ios of ['', '1.', '1.2.3.4.5.6.7', 2]) {
		t.deepEqual(faultsOf(await linkOf({ios})), [400, ['minimumVersion.ios']], `${ios}`);
	}

	for (const android of [0, 1.5]) {
		t.deepEqual(faultsOf(await linkOf({android})), [400, ['minimumVersion.android']], `${android}`);
	}
});

test('a destination on the link’s own domain is a loop, and is refused', async (t) => {
	const acme = await organization(service);
	const hostname = `go.${acme.orgKey.toLowerCase()}.example.com`;
	const domain = await approvedDomain(acme, hostname);
	const loop = {path: '/a', destinations: {ipad: `https://${hostname}/x`}};
	t.deepEqual(faultsOf(await acme.server.post('/links', {...loop, domainId: domain.id})), [400, ['destinations.ipad']]);
	await acme.operator.post(`/domains/${domain.id}/default`);
	t.deepEqual(faultsOf(await acme.server.post('/links', loop)), [400, ['destinations.ipad']]);
});

test('a match and its repetition answer the minimum version; a match without one is what it was', async (t) => {
	const of = network();
	for (const minimumVersion of [{ios: '2.10.0', android: 210}, undefined]) {
		const {ios, android} = minimumVersion ?? {};
		const appConfig = {...exampleAppConfig, ...(android && {minimumVersion: {android}})};
		const acme = await organization(service, {appConfig});
		const made = await link(acme, {params: {a: '1'}, ...(ios && {minimumVersion: {ios}})});
		const {token} = await visit(service, made, of(1));
		const request = {clipboardToken: token, deviceId: `device-${made.shortCode}`};
		const expected = {
			matched: true,
			matchMethod: 'CLIPBOARD',
			matchConfidence: 'exact',
			linkId: made.id,
			path: '/sale',
			params: {a: '1'},
			...(minimumVersion && {minimumVersion}),
		};
		t.deepEqual((await open(service, of(1), request)).body, expected);
		t.deepEqual((await open(service, of(1), request)).body, expected);
	}
});
