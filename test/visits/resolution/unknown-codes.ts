import test from 'ava';
import {applyRetention} from '../../../src/operations/jobs/retention.ts';
import {storageLimits} from '../../../src/platform/config/policies.ts';
import {approvedDomain, link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {createFakeClock, serviceOf} from '../../helpers/service.ts';
import {userAgents} from '../matches/_phones.ts';
import {withDomain} from './_domains.ts';

// Counts are stored after the answer, by the process that answered: so these tests, with a clock, are of one process.
const env = {PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'};
const service = serviceOf(test, env, createFakeClock());

/** An organization with a domain whose unknown codes go on to `url`. */
const withUnknownCodes = async (url = 'https://old.example.link/{code}', more: object = {}) => {
	const acme = await withDomain(service, {unknownCodes: {url}, ...more});
	const phone = {'User-Agent': userAgents.android};
	const codes = async (query = ''): Promise<Array<{code: string | null; count: number; lastAt: string}>> =>
		(await acme.operator.get(`/domains/${acme.domain.id}/unknown-codes${query}`)).body.data;
	return {
		...acme,
		get: (path: string, headers = {}) => acme.get(path, {...phone, ...headers}),
		head: (path: string) => anonymous(service).head(path, {Host: acme.hostname, ...phone}),
		codes,
		counts: async (query?: string) => (await codes(query)).map(({code, count}) => [code, count]),
	};
};

const hrefOf = (page: string): string => /<a class="button primary" href="([^"]+)"/.exec(page)?.[1] ?? '';

test('an unknown code answers a page that goes on, and its taps are counted', async (t) => {
	const acme = await withUnknownCodes();
	await link(acme, {shortCode: 'sale'});
	const page = await acme.get('/Ab-9', {'Accept-Language': 'de'});
	t.is(page.status, 200);
	t.regex(String(page.headers['content-type']), /^text\/html/);
	t.like(page.headers, {'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow', 'content-language': 'de'});
	t.is(hrefOf(page.text), 'https://old.example.link/Ab-9');
	t.true(page.text.includes('<meta http-equiv="refresh" content="0;url=https://old.example.link/Ab-9">'));
	t.true(page.text.includes('<h1>Dieser Link führt zu old.example.link</h1>'));
	t.is((await acme.get(`/${acme.orgKey}/Ab-9/`)).status, 200);
	t.is((await acme.get('/sale')).text.includes('old.example.link'), false);
	service.clock.advance(60);
	await acme.get('/other');
	t.deepEqual(await acme.counts(), [
		['Ab-9', 2],
		['other', 1],
	]);
	t.is((await acme.codes())[1]?.lastAt, service.clock.now().toISOString());
	t.is((await acme.codes('?limit=1&page=2'))[0]?.code, 'other');
});

test('the data of an unknown code stays 404 and is counted; what no person tapped is not', async (t) => {
	const acme = await withUnknownCodes();
	t.is((await acme.get('/app/data?ref=1')).status, 404);
	t.is((await acme.get(`/${acme.orgKey}/app/data`)).status, 404);
	t.is((await acme.head('/app')).status, 200);
	t.is((await acme.get('/app', {'Sec-Purpose': 'prefetch'})).status, 200);
	t.is((await acme.get('/app', {'User-Agent': 'Twitterbot/1.0'})).status, 200);
	for (const path of ['/favicon.ico', '/robots.txt', '/%2e%2e', `/${'x'.repeat(256)}`, '/a%00b']) {
		t.is((await acme.get(path)).status, 404, path);
	}

	t.is((await acme.get('/links')).status, 404);
	t.deepEqual(await acme.counts(), [['app', 2]]);
});

test('an old address with a slash is one code, without the prefix', async (t) => {
	const acme = await withUnknownCodes('https://old.example.link/x/{code}?c={code}', {pathPrefixes: ['promos']});
	t.is(hrefOf((await acme.get('/dub/4')).text), 'https://old.example.link/x/dub/4?c=dub/4');
	t.is(hrefOf((await acme.get('/promos/7')).text), 'https://old.example.link/x/7?c=7');
	t.is((await acme.get('/dub/4/data')).status, 404);
	t.deepEqual((await acme.codes()).map(({code}) => code).toSorted(), ['7', 'dub/4']);
});

test('nothing in a code leaves its place in the target or on the page', async (t) => {
	const acme = await withUnknownCodes('https://old.example.link/in/{code}?next={code}#{code}');
	const raws = ['a%2Fb', 'a%3Fb%26c%23d', '%22%3E%3Cscript%3E', '%40evil.example', "a'b;url=x", '$&', '%F0%9F%98%80'];
	for (const raw of raws) {
		const href = hrefOf((await acme.get(`/${raw}`)).text)
			.replaceAll('&amp;', '&')
			.replaceAll('&#39;', "'");
		const {host, pathname, searchParams} = new URL(href);
		t.is(host, 'old.example.link');
		t.is(decodeURIComponent(pathname), `/in/${decodeURIComponent(raw)}`, raw);
		t.is(pathname.split('/').length, 3);
		t.deepEqual([...searchParams], [['next', decodeURIComponent(raw)]]);
	}

	t.false((await acme.get('/%22%3E%3Cscript%3E')).text.includes('<script>'));
});

test.serial('a day keeps a limited number of codes, and counts further taps together', async (t) => {
	const acme = await withUnknownCodes();
	const most = storageLimits().unknownCodesPerDay;
	const at = service.clock.now();
	const count = (code: string) =>
		service.services.unknownCodes.count({domainId: acme.domain.id, organizationId: acme.id, code, at});
	for (let index = 0; index < most + 7; index += 1) {
		count(`c${String(index).padStart(4, '0')}`);
	}

	count('c0000');
	t.deepEqual(await acme.counts('?limit=2'), [
		[null, 7],
		['c0000', 2],
	]);
	for (let index = 0; index < 3000; index += 1) {
		count(`late${index}`);
	}

	t.deepEqual(await acme.counts('?limit=1'), [[null, 3007]]);
	const {rows} = await service.services.db.raw(
		'SELECT count(*) FROM unknown_codes WHERE domain_id = ?',
		acme.domain.id,
	);
	t.is(Number(rows[0].count), most + 1);

	await applyRetention(service.services.db, new Date(at.getTime() + 92 * 24 * 3_600_000), 'forget_unknown_codes');
	t.deepEqual(await acme.codes(), []);
});

test('codes of another organization, of the shared domain and of an unknown domain are 404', async (t) => {
	const acme = await withUnknownCodes();
	const other = await withUnknownCodes();
	t.is((await other.operator.get(`/domains/${acme.domain.id}/unknown-codes`)).status, 404);
	const {data} = (await acme.operator.get('/domains')).body;
	const shared = data.find(({verification}: {verification: unknown}) => verification === null);
	t.is((await acme.operator.get(`/domains/${shared.id}/unknown-codes`)).status, 404);
});

test('a target that becomes a link domain here leads nobody in a circle', async (t) => {
	const target = 'later.acme.test';
	const acme = await withUnknownCodes(`https://${target}/{code}`);
	t.is((await acme.get('/x')).status, 200);
	const other = await organization(service);
	const {id} = await approvedDomain(other, target);
	t.is((await acme.get('/x')).status, 404);
	const {findings} = (await admin(service).get(`/admin/doctor?org=${acme.id}`)).body;
	const finding = findings.find(({check}: {check: string}) => check === 'host.unknown-codes');
	t.like(finding, {status: 'warn', area: `Domain ${acme.hostname} of ${acme.orgKey}`});
	await other.operator.delete(`/domains/${id}`);
	t.is((await acme.get('/x')).status, 200);
});

test('without the setting, and while the organization is suspended, an unknown code is 404', async (t) => {
	const acme = await withUnknownCodes();
	await acme.operator.post('/suspend');
	t.is((await acme.get('/x')).status, 404);
	await acme.operator.post('/activate');
	t.is((await acme.get('/x')).status, 200);
	await acme.operator.patch(`/domains/${acme.domain.id}`, {unknownCodes: null});
	t.is((await acme.get('/x')).status, 404);
	t.is((await acme.get('/abc/x')).status, 400);
});
