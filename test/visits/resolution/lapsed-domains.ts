import test from 'ava';
import {approvedDomain, link, organization} from '../../helpers/builders.ts';
import {admin, anonymous, send} from '../../helpers/callers.ts';
import type {TestService} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';
import {startTwoServices} from '../../helpers/two-services.ts';

const pair = startedFor(test, () =>
	startTwoServices({LINK_DOMAIN: 'go.oplink.test', PUBLIC_URL: 'https://api.oplink.test'}),
);

/** An organization with a verified domain and the link `sale` on it, which are looked at through both processes. */
const setup = async (hostname: string) => {
	const org = await organization(pair.one);
	const domain = await approvedDomain(org, hostname);
	const own = await link(org, {shortCode: 'sale', domainId: domain.id});

	const setPlan = (plan: string | null) => org.operator.put('/plan', {plan});

	const servedBy = async (service: TestService): Promise<number[]> => {
		const get = async (path: string) => {
			const {status, body} = await anonymous(service).get(path, {Host: hostname});
			return status === 404 && body.message !== 'Unknown link domain' ? 0 : status;
		};
		const tls = await send(service.url, 'GET', `/internal/tls/ask?domain=${hostname}`, {Host: '127.0.0.1'});
		return [
			await get(`/${org.orgKey}/sale`),
			await get(`/${org.orgKey}/sale/data`),
			await get('/.well-known/apple-app-site-association'),
			await get('/.well-known/assetlinks.json'),
			(await anonymous(service).get('/sale', {Host: hostname})).status,
			tls.status,
		];
	};
	const served = async () => [await servedBy(pair.one), await servedBy(pair.other)];

	/** The host of the link's URL, in each answer that has it. */
	const hostsOfUrl = async (): Promise<string[]> => {
		const urls: string[] = [];
		for (const service of [pair.one, pair.other]) {
			const caller = admin(service, `/admin/organizations/${org.id}`);
			const exported = await caller.get('/links/export');
			const page = await anonymous(service).get(`/${org.orgKey}/sale`, {
				Host: 'go.oplink.test',
				'User-Agent': 'Slackbot-LinkExpanding 1.0',
			});
			urls.push(
				(await caller.get(`/links/${own.id}`)).body.url,
				(await caller.get('/links')).body.data[0].url,
				JSON.parse(exported.text).url,
				/property="og:url" content="([^"]+)"/.exec(page.text)?.[1] ?? '',
			);
		}

		return [...new Set(urls.map((url) => new URL(url).host))];
	};

	return {org, operator: org.operator, domain, own, setPlan, served, hostsOfUrl};
};

const ndjson = {'Content-Type': 'application/x-ndjson'};

const all = (status: number): number[][] => Array.from({length: 2}, () => Array.from({length: 6}, () => status));

test('a custom domain stops serving with the plan that gave it, in every process, and serves again with the next', async (t) => {
	const {operator, domain, setPlan, served, hostsOfUrl} = await setup('lapsed1.acme.test');
	t.deepEqual(await served(), all(200));
	t.deepEqual(await hostsOfUrl(), ['lapsed1.acme.test']);
	for (const lesser of ['STARTER', 'SOLO', null]) {
		await setPlan(lesser);
		t.deepEqual(await served(), all(404), String(lesser));
		t.deepEqual(await hostsOfUrl(), ['go.oplink.test']);
		const {body} = await operator.get('/domains');
		t.like(body.data[0], {id: domain.id, status: 'VERIFIED'});

		await setPlan('SCALE');
		t.deepEqual(await served(), all(200));
		t.deepEqual(await hostsOfUrl(), ['lapsed1.acme.test']);
	}
});

test('without its plan a link uses the shared domain, keeps its own, and can be changed', async (t) => {
	const {org, operator, domain, own, setPlan} = await setup('lapsed2.acme.test');
	await setPlan('STARTER');
	const shared = await anonymous(pair.one).get(`/${org.orgKey}/sale/data`, {Host: 'go.oplink.test'});
	t.is(shared.body.linkId, own.id);
	const changed = await operator.patch(`/links/${own.id}`, {title: 'Sale'});
	t.is(changed.status, 200);
	t.like(changed.body, {domainId: domain.id, url: `https://go.oplink.test/${org.orgKey}/sale`});
	const row = `${JSON.stringify({path: '/sale', shortCode: 'sale'})}\n`;
	const imported = await operator.post('/links/import?onConflict=skip', row, ndjson);
	t.like(JSON.parse(imported.text), {status: 'skipped', url: changed.body.url});
	const qrCode = async () => (await operator.get(`/links/${own.id}/qr.svg`)).text;
	const ofSharedUrl = await qrCode();
	await setPlan('SCALE');
	t.not(await qrCode(), ofSharedUrl);
});

test('new links cannot take a domain that the plan does not give, and take the shared one by default', async (t) => {
	const {operator, domain, setPlan} = await setup('lapsed3.acme.test');
	t.is((await operator.post(`/domains/${domain.id}/default`)).status, 200);
	await setPlan('STARTER');
	const refused = await operator.post('/links', {path: '/x', domainId: domain.id});
	t.is(refused.status, 403);
	t.like(refused.body, {code: 'FEATURE_NOT_AVAILABLE', feature: 'custom_domains'});
	const row = `${JSON.stringify({path: '/x', domainId: domain.id})}\n`;
	const imported = await operator.post('/links/import', row, ndjson);
	t.like(JSON.parse(imported.text), {status: 'failed', error: {statusCode: 403, code: 'FEATURE_NOT_AVAILABLE'}});

	const {body: domains} = await operator.get('/domains');
	for (const fields of [{}, {shortCode: 'named'}, {channel: 'email'}, {fallbackUrl: 'https://acme.test/'}]) {
		const {status, body} = await operator.post('/links', {path: '/x', ...fields});
		t.is(status, 201);
		t.is(body.domainId, domains.data.at(-1).id);
		t.is(new URL(body.url).host, 'go.oplink.test');
	}

	await setPlan('SCALE');
	const {body} = await operator.post('/links', {path: '/x'});
	t.is(body.domainId, domain.id);
});

test('a domain that does not serve can be removed', async (t) => {
	const {operator, domain, own, setPlan} = await setup('lapsed4.acme.test');
	await setPlan(null);
	t.is((await operator.delete(`/domains/${domain.id}`)).status, 200);
	await setPlan('SCALE');
	t.is(new URL((await operator.get(`/links/${own.id}`)).body.url).host, 'go.oplink.test');
});

test('a rejected domain serves nothing, and the URL of its link is on the shared one', async (t) => {
	const {operator, domain, served, hostsOfUrl} = await setup('lapsed5.acme.test');
	await operator.post(`/domains/${domain.id}/reject`);
	t.deepEqual(await served(), all(404));
	t.deepEqual(await hostsOfUrl(), ['go.oplink.test']);
	await operator.post(`/domains/${domain.id}/approve`);
	t.deepEqual(await hostsOfUrl(), ['lapsed5.acme.test']);
});

test('doctor reports verified domains that are not served because the plan lacks them', async (t) => {
	const {org, setPlan} = await setup('lapsed6.acme.test');
	const seen = async () => {
		const {body} = await admin(pair.one).get(`/admin/doctor?org=${org.orgKey}`);
		return {
			hosts: body.hosts.map(({url}: {url: string}) => url),
			findings: body.findings.filter(({check}: {check: string}) => check === 'host.plan'),
		};
	};
	t.deepEqual(await seen(), {hosts: ['https://go.oplink.test', 'https://lapsed6.acme.test'], findings: []});
	await setPlan('STARTER');
	t.deepEqual(await seen(), {
		hosts: ['https://go.oplink.test'],
		findings: [
			{
				area: `Domain lapsed6.acme.test of ${org.orgKey}`,
				check: 'host.plan',
				status: 'warn',
				message: 'it is verified but not served: the plan of its organization lacks custom_domains',
				next: `Set a plan that has custom_domains (oplink plan set --org ${org.orgKey} PLAN), or remove the domain`,
			},
		],
	});
	// Tenants' plans are not faults in a report on the whole server.
	const {body} = await admin(pair.one).get('/admin/doctor');
	const found = body.findings.find(({area}: {area: string}) => area === `Domain lapsed6.acme.test of ${org.orgKey}`);
	t.like(found, {check: 'host.plan', status: 'ok', next: null});
});

test('a setting of one process counts in the other at once', async (t) => {
	const acme = await organization(pair.one);
	const {id} = await approvedDomain(acme, 'two.acme.test');
	await link(acme, {shortCode: 'sale'});
	const see = (path: string) => anonymous(pair.other).get(path, {Host: 'two.acme.test', Accept: 'text/html'});
	t.is((await see('/promos/sale')).status, 400);
	t.is((await see('/none')).headers['content-type'], 'application/json; charset=utf-8');
	const unknownCodes = {url: 'https://old.example.link/{code}'};
	const set = {pathPrefixes: ['promos'], rootUrl: 'https://www.acme.test/', unknownCodes};
	await acme.operator.patch(`/domains/${id}`, set);
	t.is((await see('/promos/sale')).status, 200);
	t.is((await see('/')).status, 302);
	t.is((await see('/none')).status, 200);
	await acme.operator.patch(`/domains/${id}`, {unknownCodes: null});
	await acme.operator.put('/app-config', {errorPages: true});
	const page = await see('/none');
	t.is(page.status, 404);
	t.true(page.text.includes('<h1>This link does not exist</h1>'));
});
