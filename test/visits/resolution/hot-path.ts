import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {type Answer, anonymous} from '../../helpers/callers.ts';
import {serviceOf, startService, storedRows} from '../../helpers/service.ts';
import {pathOf, userAgents} from '../match/_phones.ts';

const service = serviceOf(test);
test.serial.before(async () => {
	// The cache is not used before this process has received its own heartbeat.
	await service.services.changes.settled();
});

const agents = {
	iPhone: userAgents.iPhone,
	android: userAgents.android,
	desktop: userAgents.windows,
	mac: userAgents.iPad,
	unknown: 'curl/8.0',
	crawler: 'facebookexternalhit/1.1',
};

/** An answer without its changing parts: the time, its id, tokens and cookies' values. */
const lasting = ({status, headers, text}: Answer) => {
	const {date: _, 'x-request-id': __, ...rest} = headers;
	const cut = (value: string) =>
		value.replaceAll(/opl_\w{32}/g, 'TOKEN').replaceAll(/oplink_visitor=[\w-]{22}/g, 'COOKIE');
	return {status, headers: JSON.parse(cut(JSON.stringify(rest))) as unknown, text: cut(text)};
};

for (const [name, agent] of Object.entries(agents)) {
	for (const deferredDeepLinking of [true, false]) {
		test(`${name}, ${deferredDeepLinking ? 'deferred' : 'not deferred'}: the hot path and the routes give the same answer`, async (t) => {
			const made = await link(await organization(service), {
				deferredDeepLinking,
				title: 'Sale & <more> …',
				params: {sku: '7'},
				fallbackUrl: 'https://shop.example.com/',
			});
			const pathname = pathOf(made.url);
			const referred = {Referer: 'https://news.example.com/a'};
			for (const more of [{}, {'Sec-GPC': '1'}, {'Accept-Language': 'ar,de;q=0.5'}, referred]) {
				const headers = {'User-Agent': agent, ...more};
				for (const path of [pathname, `${pathname}/data`]) {
					const caller = anonymous(service);
					// A URL with a query goes to the routes, also if it is empty.
					const byRoutes = await caller.get(`${path}?`, headers);
					await caller.get(path, headers);
					const again = await caller.get(path, headers);
					t.is(byRoutes.status, 200);
					const expected = lasting(byRoutes);
					t.deepEqual(lasting(again), path.endsWith('/data') ? {...lasting(again), status: 200} : expected);
					t.deepEqual(Object.keys(again.headers).toSorted(), Object.keys(byRoutes.headers).toSorted());
				}
			}

			const {body} = await anonymous(service).get(`${pathname}/data`, {'User-Agent': agent});
			t.deepEqual(body, {linkId: made.id, path: made.path, params: {sku: '7'}});
			// Each of them is a click: 3 visits of 2 paths under 4 sets of headers, and the last one.
			const rows = await storedRows(service, 'clicks', {link_id: made.id});
			t.is(rows.length, 25);
			t.is(new Set(rows.map(({id: _, occurred_at: __, writer: ___, ...row}) => JSON.stringify(row))).size, 3);
		});
	}
}

test('the page, /data and signals share 500 requests a second per address, on the hot path and in the routes', async (t) => {
	const pathname = pathOf((await link(await organization(service))).url);
	const caller = anonymous(service);
	await caller.get(pathname);
	const paths = [pathname, `${pathname}/data`, `${pathname}?`, `${pathname}/data?`];
	const ask = (n: number) => {
		const path = paths[n % 5];
		return path === undefined ? caller.post(`${pathname}/signals`, {}) : caller.get(path);
	};
	const answers = await Promise.all(Array.from({length: 520}, (_, n) => ask(n)));
	const refused = answers.filter(({status}) => status >= 400);
	t.is(refused.length, 21);
	t.true(refused.every(({body}) => body.statusCode === 429));
	t.is((await anonymous(service).get(pathname)).status, 200);
});

test('HEAD, a prefetch and a request for another host go to the routes, and are no clicks', async (t) => {
	const {id, url} = await link(await organization(service));
	const pathname = pathOf(url);
	const caller = anonymous(service);
	await caller.get(pathname);
	for (const path of [pathname, `${pathname}/data`]) {
		const {status, headers, text} = await caller.head(path);
		t.deepEqual([status, text], [200, ''], path);
		t.is(headers['accept-ch'], path === pathname ? 'Sec-CH-Timezone' : undefined);
	}

	const prefetch = await caller.get(pathname, {'Sec-Purpose': 'prefetch;prerender'});
	t.is(prefetch.status, 200);
	t.false(prefetch.text.includes('opl_'));
	t.is((await caller.get(pathname, {Host: 'elsewhere.example.com'})).status, 404);
	t.is((await caller.get(pathname, {'X-Forwarded-Host': 'elsewhere.example.com'})).status, 404);
	t.is((await caller.get(pathname, {'X-Request-Id': 'mine'})).headers['x-request-id'], 'mine');
	t.is((await storedRows(service, 'clicks', {link_id: id})).length, 2);
});

test('requests before the routes are loaded get the same answers and are counted', async (t) => {
	const {id, url} = await link(await organization(service), {title: 'Early', params: {sku: '7'}});
	const {host, pathname} = new URL(url);
	const database = {url: service.databaseUrl, drop: async () => {}};
	const early = await startService({LINK_DOMAIN: host}, service.clock, database);
	t.teardown(() => early.stop());
	const headers = {'User-Agent': agents.android, Host: host};
	const ask = (path: string) => anonymous(early).get(path, headers);
	const paths = [pathname, `${pathname}/data`, `${pathname}-unknown`, '/health/ready'];
	const first = await Promise.all(paths.map(ask));
	const byRoutes = await ask(`${pathname}?`);
	t.is(first.map(({status}) => status).join(), '200,200,404,200');
	const [page, data] = first;
	t.deepEqual(page && lasting(page), lasting(byRoutes));
	t.deepEqual(data?.body, {linkId: id, path: '/sale', params: {sku: '7'}});
	t.is((await storedRows(early, 'clicks', {link_id: id})).length, 3);
});
