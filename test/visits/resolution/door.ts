import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {serviceOf, startService, storedRows, type TestService} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';
import {pathOf, userAgents} from '../matches/_phones.ts';

const service = serviceOf(test);

test('the page, /data, their queries and signals share 500 requests a second per address', async (t) => {
	const pathname = pathOf((await link(await organization(service))).url);
	const caller = anonymous(service);
	await caller.get(pathname);
	const paths = [pathname, `${pathname}/data`, `${pathname}?a=1`, `${pathname}/data?a=1`, `${pathname}-unknown`];
	const ask = (n: number) => {
		const path = paths[n % 6];
		return path === undefined ? caller.post(`${pathname}/signals`, {}) : caller.get(path);
	};
	const answers = await Promise.all(Array.from({length: 520}, (_, n) => ask(n)));
	const refused = answers.filter(({status}) => status === 429);
	t.is(refused.length, 21);
	t.true(refused.every(({body}) => body.statusCode === 429));
	t.is((await anonymous(service).get(pathname)).status, 200);
});

test('HEAD and a prefetch are no clicks, and an unknown host has no link', async (t) => {
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

test('requests before the other surfaces are loaded are answered and counted', async (t) => {
	const {id, url} = await link(await organization(service), {title: 'Early', params: {sku: '7'}});
	const {host, pathname} = new URL(url);
	const database = {url: service.databaseUrl, drop: async () => {}};
	const early = await startedIn(t, startService({LINK_DOMAIN: host}, service.clock, database));
	const headers = {'User-Agent': userAgents.android, Host: host};
	const ask = (path: string) => anonymous(early).get(path, headers);
	const first = await Promise.all([pathname, `${pathname}/data`, `${pathname}-unknown`, '/health/ready'].map(ask));
	t.is(first.map(({status}) => status).join(), '200,200,404,200');
	t.deepEqual(first[1]?.body, {linkId: id, path: '/sale', params: {sku: '7'}});
	t.is((await storedRows(early, 'clicks', {link_id: id})).length, 2);
});

test('LOG_LEVEL=debug logs each visit and changes no answer', async (t) => {
	const lines: Array<Record<string, unknown>> = [];
	const debugging = await startedIn(
		t,
		startService({LOG_LEVEL: 'debug'}, undefined, undefined, {
			write: (line) => void lines.push(JSON.parse(line)),
		}),
	);
	const answersOf = async (one: TestService) => {
		const pathname = pathOf((await link(await organization(one))).url);
		const paths = [pathname, `${pathname}?a=1`, `${pathname}/data`, `${pathname}-none`, '/'];
		const answers = [];
		for (const path of paths) {
			const {status, headers} = await anonymous(one).get(path, {'X-Request-Id': 'debugged', Accept: '*/*'});
			answers.push([status, Object.keys(headers)]);
		}

		return answers;
	};
	t.deepEqual(await answersOf(debugging), await answersOf(service));
	const visits = lines.filter(({requestId, msg}) => requestId === 'debugged' && msg === 'request');
	t.deepEqual(
		visits.map(({method, status}) => [method, status]),
		[200, 200, 200, 404, 404].map((status) => ['GET', status]),
	);
});
