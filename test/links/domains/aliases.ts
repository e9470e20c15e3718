import test from 'ava';
import {ConfigError, loadConfig} from '../../../src/platform/config/config.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous, send} from '../../helpers/callers.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {createFakeClock, serviceOf, startService} from '../../helpers/service.ts';

const ALIAS = 'old.links.test';
const env = {
	LINK_DOMAIN: 'go.links.test',
	LINK_DOMAIN_ALIASES: `${ALIAS.toUpperCase()}., older.links.test`,
	PUBLIC_URL: 'https://api.links.test',
};
const service = serviceOf(test, env);
const at = (Host: string, more = {}) => ({
	Host,
	'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0',
	...more,
});
const iPhone =
	'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

test('an alias answers byte for byte what LINK_DOMAIN answers', async (t) => {
	const acme = await organization(service);
	const {url, shortCode} = await link(acme, {deferredDeepLinking: false});
	t.true(url.startsWith('https://go.links.test/'), 'answers name LINK_DOMAIN alone');
	const paths = [
		`/${acme.orgKey}/${shortCode}`,
		`/${acme.orgKey}/${shortCode}/data`,
		`/${acme.orgKey}/nothing`,
		'/.well-known/apple-app-site-association',
		'/.well-known/assetlinks.json',
		'/links',
		'/health',
		'/',
	];
	for (const path of paths) {
		const [own, alias] = await Promise.all(
			['go.links.test', ALIAS].map((host) => anonymous(service).get(path, at(host))),
		);
		const known = ({status, text}: {status: number; text: string}) => [
			status,
			text.replace(/"(?:timestamp|requestId)":"[^"]*"/g, ''),
		];
		t.deepEqual(known(alias as never), known(own as never), path);
	}

	const qr = await acme.server.get(`/links?shortCode=${shortCode}`, {});
	t.is(qr.body.data[0].url, url);
	const loop = await acme.server.post('/links', {path: '/a', fallbackUrl: `https://${ALIAS}/x`});
	t.is(loop.status, 400);
	t.is(loop.body.details[0].field, 'fallbackUrl');
});

test('a proxy gets certificates for aliases, and nobody claims one as a custom domain', async (t) => {
	const ask = (domain: string) => send(service.url, 'GET', `/internal/tls/ask?domain=${domain}`, {Host: '127.0.0.1'});
	t.is((await ask(ALIAS)).status, 200);
	t.is((await ask('oldest.links.test')).status, 404);
	const {id} = await organization(service, {plan: 'SCALE'});
	const claim = await admin(service).post(`/admin/organizations/${id}/domains`, {hostname: ALIAS});
	t.is(claim.status, 409, claim.text);
});

test('visits at aliases are counted, and reports have the host', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	const path = new URL(url).pathname;
	const visit = (host: string, more = {}) => anonymous(service).get(path, at(host, {'User-Agent': iPhone, ...more}));
	for (const host of ['older.links.test', 'older.links.test:443', 'go.links.test']) {
		t.is((await visit(host)).status, 200);
	}

	await visit('older.links.test', {'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)'});
	const {body} = await admin(service).get('/admin/domains/aliases');
	const hostnames = body.data.map(({hostname}: {hostname: string}) => hostname);
	t.deepEqual(hostnames, [ALIAS, 'older.links.test']);
	t.like(body.data[1], {visits: 2, lastVisitAt: service.clock.now().toISOString()});
	const stats = await admin(service).get(`/admin/organizations/${acme.id}/stats?by=host`);
	t.deepEqual(stats.body.breakdowns, {
		host: [
			{key: 'older.links.test', count: 2},
			{key: 'go.links.test', count: 1},
		],
	});
});

for (const [aliases, what] of [
	['old.links.test,OLD.links.test.', 'a duplicate'],
	['go.links.test', 'LINK_DOMAIN'],
	['api.links.test', 'the API host'],
	['old.links.test:8443', 'a port that LINK_DOMAIN lacks'],
	['localhost', 'a name without a dot'],
	['old.localhost', 'a loopback name'],
	['192.0.2.7', 'an address'],
	['https://old.links.test', 'a URL'],
	[Array.from({length: 11}, (_, index) => `a${index}.links.test`).join(','), 'more than ten'],
] as const) {
	test(`LINK_DOMAIN_ALIASES with ${what} is refused`, (t) => {
		const fault = t.throws(() => loadConfig({...env, LINK_DOMAIN_ALIASES: aliases}), {instanceOf: ConfigError});
		t.regex(fault.message, /LINK_DOMAIN_ALIASES must be/);
	});
}

test('an alias that an organization has verified ends a start, and a pending claim of one cannot be verified', async (t) => {
	const database = await createTestDatabase();
	const start = (aliases: string) => startService({...env, LINK_DOMAIN_ALIASES: aliases}, createFakeClock(), database);
	const former = await start('');
	const {id} = await organization(former, {plan: 'SCALE'});
	const domains = `/admin/organizations/${id}/domains`;
	const claim = async (hostname: string) => (await admin(former).post(domains, {hostname})).body.id;
	const [pending, verified] = [await claim('pending.links.test'), await claim('verified.links.test')];
	await admin(former).post(`${domains}/${verified}/approve`);

	const fault = await t.throwsAsync(start('verified.links.test'), {instanceOf: ConfigError});
	t.regex(fault?.message ?? '', /LINK_DOMAIN_ALIASES must not name a custom domain .*verified\.links\.test/);

	const service = await start('pending.links.test');
	t.teardown(() => service.stop());
	for (const action of ['verify', 'approve']) {
		t.is((await admin(service).post(`${domains}/${pending}/${action}`)).status, 409, action);
	}

	await former.stop();
});
