import {setFlagsFromString} from 'node:v8';
import test from 'ava';
import {routes} from '../../src/routes.ts';
import {startFakePaymob} from '../fakes/paymob/paymob.ts';
import {startFakeStripe} from '../fakes/stripe/stripe.ts';
import {link, organization} from '../helpers/builders.ts';
import {anonymous, type Headers} from '../helpers/callers.ts';
import {startPortal} from '../helpers/portal.ts';
import {createFakeClock} from '../helpers/service.ts';

// CPU is measured as of the program (test/hostile/fuzz.ts).
if (process.versions.node.startsWith('20.')) {
	setFlagsFromString('--interrupt-budget=67584');
}

/** The least of the rounds counts: others measure what else the machine does. */
const ROUNDS = 7;
const REQUESTS = 40;
/** The page is measured with the same client, which is a part of both; the rest is for the measurement. */
const PAGES = 5;

type Asked = {method: 'GET' | 'POST'; path: string; headers?: Headers; body?: string};

test('a stranger’s dearest request of a route without a limit costs no more than five pages', async (t) => {
	const clock = createFakeClock();
	const [stripe, paymob] = await Promise.all([startFakeStripe({clock}), startFakePaymob({clock})]);
	const portal = await startPortal({...stripe.env, ...paymob.env}, clock);
	t.teardown(() => Promise.all([portal.stop(), stripe.stop(), paymob.stop()]));
	const url = new URL((await link(await organization(portal))).url);

	const seconds = String(Math.floor(clock.now().getTime() / 1000));
	const signed: Headers = {
		'svix-id': 'msg_1',
		'svix-timestamp': seconds,
		'svix-signature': 'v1,x',
		'Stripe-Signature': `t=${seconds},v1=${'a'.repeat(64)}`,
	};
	const large = JSON.stringify(Array.from({length: 2300}, () => ({a: 1}))).padEnd(16 * 1024);
	const operator = {Authorization: `Bearer opl_adm_${'x'.repeat(43)}`};
	/** Those of a limit that small bodies do not count against, and those without any. */
	const dearest = routes
		.filter(({limit, path}) => (limit === null && !path.startsWith('/admin/')) || limit?.aboveBytes !== undefined)
		.map(
			({method, path}): Asked => ({
				method: method === 'POST' ? 'POST' : 'GET',
				path: path === '/webhook/gateway-b' ? `${path}?hmac=${'a'.repeat(128)}` : path,
				headers: {Accept: 'text/html', ...(path === '/metrics' ? {'X-Forwarded-Host': 'x.example'} : {}), ...signed},
				...(method === 'POST' ? {body: large} : {}),
			}),
		);
	const asked: Asked[] = [
		...dearest,
		{method: 'GET', path: '/admin/status', headers: operator},
		{method: 'GET', path: '/internal/tls/ask?domain=x.example'},
	];
	const page: Asked = {method: 'GET', path: `${url.pathname}?ref=42`, headers: {Host: url.host}};

	const cpuOf = async ({method, path, headers, body}: Asked): Promise<number> => {
		const before = process.cpuUsage();
		for (let index = 0; index < REQUESTS; index += 1) {
			const caller = anonymous(portal);
			await (method === 'GET' ? caller.get(path, headers) : caller.post(path, body, headers));
		}

		const {user, system} = process.cpuUsage(before);
		return (user + system) / REQUESTS;
	};
	const least = new Map<Asked, number>();
	for (let round = 0; round < ROUNDS; round += 1) {
		for (const one of [page, ...asked]) {
			least.set(one, Math.min(least.get(one) ?? Number.POSITIVE_INFINITY, await cpuOf(one)));
		}
	}

	const ofPage = least.get(page) ?? 0;
	for (const one of asked) {
		const share = (least.get(one) ?? 0) / ofPage;
		t.log(`${one.method} ${one.path.slice(0, 40)}: ${share.toFixed(2)} pages`);
		t.true(share <= PAGES, `${one.path}: ${share}`);
	}
});
