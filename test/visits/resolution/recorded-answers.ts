import {createHash} from 'node:crypto';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {approvedDomain, exampleAppConfig, link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {type Answer, type Headers, send} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {userAgents} from '../matches/_phones.ts';

/** A line a request: its name, the status, and the digest of what callers see of the answer. Deleted, it is recorded anew. */
const RECORD = path.join(packageRoot, 'test/fixtures/recorded-answers.tsv');

const service = serviceOf(test, {PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'});

const agents = {
	iphone: userAgents.iPhone,
	android: userAgents.android,
	windows: userAgents.windows,
	mac: userAgents.iPad,
	instagram:
		'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F79 Instagram 330.0.3.29.91 (iPhone14,3; iOS 17_5; en_US; en; scale=3.00; 1125x2436; 595323416)',
	facebook:
		'Mozilla/5.0 (Linux; Android 15; CPH2557 Build/AP3A.240617.008; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.7444.142 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/487.0.0;]',
	crawler: 'facebookexternalhit/1.1',
	curl: 'curl/8.0',
};
const languages = {none: '', arabic: 'ar,de;q=0.5', german: 'de-DE,de;q=0.9,en;q=0.5'};
const queries = {
	none: '',
	empty: '?',
	campaign: '?utm_source=news%20letter&gclid=abc&sku=from-query&utm_medium=',
	odd: '?a=1&a=2&b%5B%5D=%3Cscript%3E&c=%F0%9F%9A%80&deviceId=x&%zz=1&d=a+b&link=https%3A%2F%2Fx.example%2F%3Fa%3Db',
};

/** Texts of a link that every kind of page shows. */
const full = {
	path: '/sale/été?x=1',
	title: 'Sale & <more> …',
	params: {sku: '7', note: 'a\'b"c&d'},
	fallbackUrl: 'https://shop.example.com/summer?keep=1',
	destinations: {
		ios: 'https://shop.example.com/ios',
		ipad: 'https://shop.example.com/ipad',
		android: 'https://shop.example.com/android',
		desktop: 'https://shop.example.com/desktop',
	},
	og: {title: 'Og “title”', description: 'Described\nin <two> lines', imageUrl: 'https://cdn.example.com/p.png'},
	utmSource: 'mail',
	utmCampaign: 'summer',
	minimumVersion: {ios: '2.10.0', android: 210},
};

const links: Record<string, object> = {
	plain: {},
	full,
	quiet: {deferredDeepLinking: false, title: 'Quiet'},
	web: {...full, destinations: undefined, og: {imageUrl: 'http://cdn.example.com/p.png'}, deferredDeepLinking: false},
	data: {title: 'Named data'},
	inactive: {isActive: false},
	expired: {expiry: '2026-03-10T12:00:01.000Z'},
};

/** With a key that every run has: texts of answers hold it. */
const named = async (name: string, orgKey: string, appConfig: object): Promise<TestOrganization> => {
	const made = await organization(service, {name, appConfig});
	await service.services.db('organizations').where({id: made.id}).update({org_key: orgKey});
	for (const [shortCode, body] of Object.entries(links)) {
		await link(made, {...body, shortCode});
	}

	return {...made, orgKey};
};

test.serial.before(async () => {
	const acme = await named('Acme & Söhne', 'Acme', exampleAppConfig);
	const error = {...exampleAppConfig, fallbackUrl: 'https://www.globex.example/', errorPages: true};
	const globex = await named('Globex', 'Glob', {
		...error,
		clipboardFormat: 'url',
		og: {imageUrl: 'https://cdn.example.com/default.png'},
	});
	const website = await named('Website', 'Webs', {fallbackUrl: 'https://www.website.example/'});
	const gone = await named('Gone', 'Gone', error);
	const unknownCodes = {url: 'https://old.example.link/{code}?from={code}'};
	for (const [owner, hostname, settings] of [
		[acme, 'own.acme.test', {pathPrefixes: ['promos', 'links/share'], rootUrl: 'https://www.acme.test/start'}],
		[globex, 'own.globex.test', {unknownCodes}],
		[website, 'own.website.test', {}],
		[gone, 'own.gone.test', {rootUrl: 'https://www.gone.test/', unknownCodes}],
	] as const) {
		const {id} = await approvedDomain(owner, hostname);
		await owner.operator.patch(`/domains/${id}`, settings);
	}

	await gone.operator.post('/suspend');
	service.clock.advance(2);
	await service.services.changes.settled();
});

/** What a caller sees, without what differs from run to run, and the style and script, which a page only carries. */
const lasting = ({status, headers, text}: Answer): string => {
	const {date: _, 'content-length': __, connection: ___, 'keep-alive': ____, ...rest} = headers;
	const cut = (value: string) =>
		value
			.replaceAll(/opl_\w{32}/g, 'TOKEN')
			.replaceAll(/oplink_visitor=[\w-]{22}/g, 'COOKIE')
			.replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
			.replaceAll(/'sha256-[^']+'/g, 'HASH')
			.replaceAll(/Version \d+\.\d+\.\d+/g, 'VERSION')
			.replaceAll(/<style>.*?<\/style>/gs, '<style>')
			.replaceAll(/<script>.*?<\/script>/gs, '<script>');
	const sorted = Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1));
	return cut(JSON.stringify([status, sorted, text]));
};

type Asked = {name: string; method: string; target: string; headers: Headers; body?: string};

const pageOf = (host: string, agent: string): Headers => ({Host: host, 'User-Agent': agent});

/** Pages of links that resolve, for each class of visitors, and each language or query. */
const visits = (): Asked[] => {
	const asked: Asked[] = [];
	const hosts = {'go.oplink.test': ['Acme', 'Glob', 'Webs'], 'own.acme.test': ['Acme'], 'own.globex.test': ['Glob']};
	for (const [host, orgKeys] of Object.entries(hosts)) {
		for (const orgKey of orgKeys) {
			for (const shortCode of ['plain', 'full', 'quiet', 'web']) {
				for (const [agent, userAgent] of Object.entries(agents)) {
					for (const [language, accepted] of Object.entries(languages)) {
						for (const [query, search] of Object.entries(queries)) {
							if (language !== 'none' && query !== 'none') {
								continue;
							}

							asked.push({
								name: [host, orgKey, shortCode, agent, language, query].join(' '),
								method: 'GET',
								target: `/${orgKey}/${shortCode}${search}`,
								headers: {...pageOf(host, userAgent), ...(accepted === '' ? {} : {'Accept-Language': accepted})},
							});
						}
					}
				}
			}
		}
	}

	return asked;
};

const paths = [
	...['/', '/plain', '/plain/', '/plain/data', '/plain/data/', '/data', '/data/data', '/none', '/none/data'],
	...['/favicon.ico', '/a/b/c', '/a/b/c/d', '//', '/Acme', '/Acme/', '//plain', '/Acme//plain', '/a%20b'],
	...['/Acme/plain', '/Acme/plain/', '/Acme/plain/data', '/Acme/plain/data/', '/Acme/data', '/Acme/data/data'],
	...['/Acme/inactive', '/Acme/expired', '/Acme/inactive/data', '/Acme/none', '/Acme/none/data', '/Acme/pl%61in'],
	...['/%41cme/plain', '/Acme/a%20b', '/Acme/a.b', '/Acme/%00', '/Acme/%zz', '/Acme/%f0%9f%9a%80', '/acme/plain'],
	...['/Glob/plain', '/Glob/none', '/Glob/inactive', '/Gone/plain', '/Gone/plain/data', '/Gone/none', '/None/plain'],
	...['/abc/plain', '/abcde/plain', '/abc/plain/data', '/promos/plain', '/promos/Acme/plain', '/promos/plain/data'],
	...['/links/share/plain', '/links/share', '/promos', '/promos/data', '/promos/a/b/c', '/promos/promos/plain'],
	...['/links', '/links/none', '/docs/none', '/health/none', '/match', '/sdk/none', '/dev/none', '/webhook/none'],
	...[
		'/.well-known/none',
		`/Acme/${'x'.repeat(64)}`,
		`/Acme/${'x'.repeat(65)}`,
		'/Acme/plain/signals',
		'/plain/signals',
	],
];

const hosts: Record<string, Headers> = {
	shared: {Host: 'go.oplink.test'},
	port: {Host: 'GO.oplink.test.:443'},
	acme: {Host: 'own.acme.test'},
	globex: {Host: 'own.globex.test'},
	gone: {Host: 'own.gone.test'},
	api: {Host: 'api.oplink.test'},
	unknown: {Host: 'unknown.test'},
	forwarded: {Host: 'internal.test', 'X-Forwarded-Host': 'go.oplink.test'},
	elsewhere: {Host: 'go.oplink.test', 'X-Forwarded-Host': 'elsewhere.test'},
};

/** Every form of a path on every host by every method, as callers that prefer JSON and a page do. */
const requests = (): Asked[] => {
	const asked: Asked[] = [];
	for (const [host, own] of Object.entries(hosts)) {
		for (const target of paths) {
			for (const method of ['shared', 'acme', 'unknown'].includes(host)
				? ['GET', 'HEAD', 'OPTIONS', 'POST']
				: ['GET']) {
				const accepted = method === 'GET' ? ['*/*', 'text/html,*/*;q=0.8'] : ['*/*'];
				for (const accept of accepted) {
					asked.push({
						name: [host, method, target, accept].join(' '),
						method,
						target,
						headers: {...own, Accept: accept, 'User-Agent': agents.iphone, Origin: 'https://shop.example.com'},
					});
				}
			}
		}
	}

	return asked;
};

/** What a page's address and its headers can hold beside these. */
const others = (): Asked[] => {
	const shared = pageOf('go.oplink.test', agents.iphone);
	const own = pageOf('own.acme.test', agents.iphone);
	const sent: Array<[string, string, Headers, string?]> = [
		['GET', '/Acme/plain', {'Sec-GPC': '1'}],
		['GET', '/Acme/plain', {'Sec-Purpose': 'prefetch;prerender'}],
		['GET', '/Acme/plain', {Cookie: 'oplink_visitor=AAAAAAAAAAAAAAAAAAAAAA'}],
		['GET', '/Acme/plain', {Cookie: 'other=1', 'X-Request-Id': 'x'.repeat(200)}],
		['GET', 'http://go.oplink.test/Acme/plain', {}],
		['GET', 'http://go.oplink.test/Acme/none?x=1', {}],
		['GET', `/Acme/plain?${'a=1&'.repeat(60)}${'long'.repeat(3000)}=1`, {}],
		['GET', `/Acme/plain?x=${'y'.repeat(9000)}`, {}],
		['GET', '/Acme/plain/data?deviceId=device-recorded-1&ref=42', {}],
		['GET', '/Acme/plain/data?deviceId=short', {}],
		['GET', '/Acme/full/data?sku=8&ref=42', {}],
		['HEAD', '/Acme/plain?x=1', {}],
		['HEAD', '/Acme/plain/data?x=1', {}],
		['OPTIONS', '/Acme/plain/data?x=1', {Origin: 'https://a.example'}],
		['POST', '/Acme/plain/signals', {'Content-Type': 'text/plain'}, '{"token":"none"}'],
		['POST', '/Acme/plain/signals', {'Content-Type': 'application/json'}, '{"token":"none"}'],
		['POST', '/Acme/plain/signals', {'Content-Type': 'application/json'}, '{'],
		['POST', '/Acme/plain/signals', {'Content-Type': 'image/png'}, 'x'],
		['POST', '/Acme/plain/signals', {'Content-Type': 'text/plain'}, `"${'x'.repeat(3000)}"`],
		['POST', '/Acme/none/signals?x=1', {'Content-Type': 'text/plain'}, '{}'],
		['POST', '/abc/none/signals', {'Content-Type': 'text/plain'}, '{}'],
		['POST', '/promos/plain/signals', {'Content-Type': 'text/plain'}, '{}'],
	];
	return [shared, own].flatMap((host) =>
		sent.map(([method, target, headers, body], index) => ({
			name: `${host['Host']} other ${index} ${method} ${target.slice(0, 60)}`,
			method,
			target,
			headers: {...host, ...headers},
			...(body === undefined ? {} : {body}),
		})),
	);
};

const answerTo = ({method, target, headers, body}: Asked, index: number): Promise<Answer> => {
	const address = `10.77.${index >> 8}.${index & 255}`;
	const length = body === undefined ? {} : {'Content-Length': String(Buffer.byteLength(body))};
	const given = {'X-Forwarded-For': address, 'X-Request-Id': 'recorded', ...headers, ...length};
	return send(service.url, method, target, given, body);
};

test('link requests of every host, path, method, query, visitor and language have the recorded answers', async (t) => {
	const asked = [...visits(), ...requests(), ...others()];
	const lines: string[] = [];
	const seen = new Map<string, string>();
	for (let begin = 0; begin < asked.length; begin += 50) {
		const some = asked.slice(begin, begin + 50);
		const answers = await Promise.all(some.map((one, index) => answerTo(one, begin + index)));
		for (const [index, answer] of answers.entries()) {
			const text = lasting(answer);
			const name = some[index]?.name ?? '';
			seen.set(name, text);
			lines.push(`${name}\t${answer.status}\t${createHash('sha256').update(text).digest('base64url').slice(0, 12)}`);
		}
	}

	if (!existsSync(RECORD)) {
		writeFileSync(RECORD, `${lines.join('\n')}\n`);
	}

	const recorded = new Set(readFileSync(RECORD, 'utf8').trimEnd().split('\n'));
	const other = lines.filter((line) => !recorded.has(line));
	t.true(lines.length > 2000);
	t.is(lines.length, recorded.size);
	const found = other.slice(0, 5).map((line) => [line, seen.get(line.split('\t')[0] ?? '')]);
	t.deepEqual(found, [], `${other.length} answers differ from ${path.basename(RECORD)}`);
});
