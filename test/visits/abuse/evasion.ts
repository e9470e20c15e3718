import test from 'ava';
import {approvedDomain, link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';
import {importInto} from '../../links/links/_import.ts';
import {pathOf} from '../matches/_phones.ts';
import {BAD, policedService, policyOf, visit} from './_policed.ts';

const LIST = 'The destination is on the list Bad';

/** Ways to write an address on a list of `bad.example`, `bücher.example` and public addresses. */
const listed = [
	'https://BAD.Example/',
	'https://bad.example./',
	'https://bad.example:8443/a',
	'https://bad.example.:443/?q=1#f',
	'https://a.b.bad.example/',
	'https:\\\\bad.example\\',
	'https://bad.exa%6Dple/',
	'https://b\u00FCcher.example/',
	'https://XN--BCHER-KVA.example/',
	'https://www.b\u00FCcher.example/',
	'https://bad。example/',
	'https://ｂａｄ.example/',
	'http://93.184.215.14/',
	'http://1572394766/',
	'http://0135.0270.0327.016/',
	'http://0x5d.0xb8.0xd7.0xe/',
	'http://0x5db8d70e/',
	'http://93.184.55054/',
	'http://[::ffff:93.184.215.14]/',
	'http://[::FFFF:5db8:d70e]/',
	'http://[2606:2800:21f:0:0::1]/',
];

/** Addresses that merely look like it. */
const free = [
	'https://notbad.example/',
	'https://bad.example.org/',
	'https://bad-example.example/',
	'https://good.example/?to=https://bad.example/',
	'https://good.example/bad.example',
	'https://good.example/#@bad.example',
	'http://93.184.215.15/',
];

/** Addresses with a user, of another scheme, or without a scheme, which no link takes at all. */
const refusedAnyway = [
	'https://bad.example@ok.example/',
	'https://ok.example@bad.example/',
	'https://user:password@bad.example/',
	'//bad.example/',
	'https:bad.example/',
	'ftp://bad.example/',
	'bad.example',
	'ht\ttps://bad.example/',
];

const BAD_LIST = '||bad.example^\nbücher.example\n93.184.215.14\n2606:2800:21f::1\n';

test('no way to write a listed host gets it into a link, and none but it is refused', async (t) => {
	const {service, change} = await policedService(t);
	await change('bad.txt', BAD_LIST);
	const acme = await organization(service);
	const sent = async (fallbackUrl: string) => {
		const {status, body} = await acme.server.post('/links', {path: '/a', fallbackUrl});
		return [status, body.details?.[0]?.message];
	};
	for (const address of listed) {
		const [status, message] = await sent(address);
		// Some of them are refused as no address at all, which is as good.
		t.true(status === 400 && /on the list Bad|must be an http or https URL/.test(message), `${address}: ${message}`);
	}

	const asListed = [];
	for (const address of listed) {
		asListed.push((await sent(address))[1] === LIST);
	}

	t.true(asListed.filter(Boolean).length >= 18, `${asListed}`);
	for (const address of free) {
		t.deepEqual(await sent(address), [201, undefined], address);
	}

	for (const address of refusedAnyway) {
		t.deepEqual(await sent(address), [400, 'fallbackUrl must be an http or https URL of a public host'], address);
	}
});

test('stored links in any of these forms are blocked once their host is listed', async (t) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service);
	const made = [];
	await change('bad.txt', '# nothing\n');
	for (const address of [...listed, ...free]) {
		const {status, body} = await acme.server.post('/links', {path: '/a', fallbackUrl: address});
		if (status === 201) {
			made.push({address, url: body.url as string});
		}
	}

	await change('bad.txt', BAD_LIST);
	for (const {address, url} of made) {
		t.is((await visit(service, url)).status, free.includes(address) ? 200 : 410, address);
	}

	t.true(made.length >= free.length + 18);
});

test('each bad field has its detail, on templates and app configurations too, and channels carry no address', async (t) => {
	const {service} = await policedService(t);
	const acme = await organization(service);
	const fields = async (
		answer: Promise<{status: number; body: {details?: Array<{field: string; message: string}>}}>,
	) => {
		const {status, body} = await answer;
		t.is(status, 400);
		return (body.details ?? []).map(({field, message}) => `${field}: ${message}`).toSorted();
	};
	const destinations = {ios: BAD, ipad: BAD, android: BAD, desktop: BAD};
	const everywhere = [
		'destinations.android',
		'destinations.desktop',
		'destinations.ios',
		'destinations.ipad',
		'fallbackUrl',
	];
	const expected = (...names: string[]) => names.toSorted().map((field) => `${field}: ${LIST}`);
	const all = {fallbackUrl: BAD, destinations, og: {imageUrl: BAD}};
	const existing = await link(acme);
	const ofLink = expected(...everywhere, 'og.imageUrl');
	t.deepEqual(await fields(acme.server.post('/links', {path: '/a', ...all})), ofLink);
	t.deepEqual(await fields(acme.server.patch(`/links/${existing.id}`, all)), ofLink);
	const template = await acme.operator.post('/templates', {name: 'Sale', path: '/a'});
	t.deepEqual(await fields(acme.operator.patch(`/templates/${template.body.id}`, all)), ofLink);
	const config = {logoUrl: BAD, ...all};
	const found = await fields(acme.operator.put('/app-config', config));
	t.deepEqual(found, expected(...everywhere, 'logoUrl', 'og.imageUrl'));
	const channel = await acme.operator.post('/channels', {name: 'bad.example', fallbackUrl: BAD});
	t.is(channel.status, 400);
	t.is((await acme.server.post('/links', {path: '/a', safety: {state: 'warn'}})).status, 400);
});

test('an update that races a reload leaves no link that leads to the listed host', async (t) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service);
	const links = await Promise.all(Array.from({length: 20}, () => link(acme)));
	const update = ({id}: {id: string}) => acme.server.patch(`/links/${id}`, {fallbackUrl: 'https://later.example/'});
	const [first, , second] = await Promise.all([
		Promise.all(links.slice(0, 10).map(update)),
		change('bad.txt', 'later.example\n'),
		Promise.all(links.slice(10).map(update)),
	]);
	for (const [index, {status}] of [...first, ...second].entries()) {
		t.true(status === 200 || status === 400, `${status}`);
		t.is((await visit(service, links[index]?.url ?? '')).status, status === 200 ? 410 : 200);
	}
});

test('two processes on one database agree after a reload, and one of them counts', async (t) => {
	const {file, write} = await policyOf(t);
	const env = {LINK_DOMAIN: 'localhost', LINK_POLICY_FILE: file};
	const database = await createTestDatabase();
	const [one, other] = await Promise.all([1, 2].map(() => startService(env, createFakeClock(), database)));
	if (one === undefined || other === undefined) {
		throw new Error('no service');
	}

	const both = [one, other];
	t.teardown(() => Promise.all(both.map((service) => service.stop())));
	const acme = await organization(one);
	const made = await link(acme, {fallbackUrl: 'https://later.example/'});
	const statuses = () => Promise.all(both.map(async (service) => (await visit(service, made.url)).status));
	t.deepEqual(await statuses(), [200, 200]);
	await write('bad.txt', 'later.example\n');
	await Promise.all(both.map(({services}) => services.abuseFigures.refresh()));
	t.deepEqual(await statuses(), [410, 410]);
	t.is(Math.max(...both.map(({services}) => services.abuseFigures.blocked.list)), 1);

	const blocked = await admin(one).post(`/admin/organizations/${acme.id}/links/${made.id}/unblock`);
	t.is(blocked.status, 200);
	t.deepEqual(await statuses(), [200, 200], 'a decision holds in each');
	await write('bad.txt', '# nothing\n');
	await Promise.all(both.map(({services}) => services.abuseFigures.refresh()));
	const found = both.map(({services}) => services.abuseFigures.blocked.list);
	t.deepEqual(found, [0, 0]);
});

test('the pages of a missing and a blocked link have no button to a listed website', async (t) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service, {appConfig: null});
	await admin(service).put(`/admin/organizations/${acme.id}/app-config`, {
		errorPages: true,
		fallbackUrl: 'https://later.example/',
	});
	const {url} = await link(acme);
	t.true((await visit(service, `${url}x`)).text.includes('https://later.example/'));
	await change('bad.txt', 'later.example\n');
	for (const address of [url, `${url}x`]) {
		const page = await visit(service, address);
		t.regex(page.text, /<h1>/);
		t.notRegex(page.text, /later\.example/);
	}
});

test('an import names each listed row, and ignores the safety of an exported line', async (t) => {
	const {service} = await policedService(t);
	const acme = await organization(service);
	const rows = await importInto(acme, [
		{path: '/a', fallbackUrl: 'https://fine.example/', safety: {state: 'block', by: 'list'}},
		{path: '/b', destinations: {ipad: BAD}, fallbackUrl: BAD},
		{path: '/c'},
	]);
	const found = rows.map(({status, error}) => [status, error?.details?.map(({field}) => field).toSorted()]);
	t.deepEqual(found, [
		['created', undefined],
		['failed', ['destinations.ipad', 'fallbackUrl']],
		['created', undefined],
	]);
});

test('the form and security.txt are of our hosts alone, whatever a proxy says', async (t) => {
	const {service} = await policedService(t, {
		ABUSE_CONTACT: 'https://example.com/abuse',
		LINK_DOMAIN: 'go.links.test',
		LINK_DOMAIN_ALIASES: 'old.links.test',
		PUBLIC_URL: 'https://api.links.test',
	});
	const acme = await organization(service, {plan: 'SCALE'});
	const {id: domainId} = await approvedDomain(acme, 'go.acme.test');
	const report = (Host: string) =>
		anonymous(service)
			.get('/report', {Host})
			.then(({status}) => status);
	const found = await Promise.all(['api.links.test', 'go.links.test', 'old.links.test', 'go.acme.test'].map(report));
	t.deepEqual(found, [200, 404, 404, 404]);
	const text = async (headers: Record<string, string>) => {
		const {status, text} = await anonymous(service).get('/.well-known/security.txt', headers);
		return [status, ...[...text.matchAll(/^Canonical: (.*)$/gm)].map(([, url]) => url)];
	};
	const place = '.well-known/security.txt';
	const shared = [200, `https://go.links.test/${place}`, `https://old.links.test/${place}`];
	t.deepEqual(await text({Host: 'api.links.test'}), [200, `https://api.links.test/${place}`]);
	t.deepEqual(await text({Host: 'go.links.test'}), shared);
	t.deepEqual(await text({Host: 'old.links.test'}), shared);
	t.deepEqual(await text({Host: '127.0.0.1', 'X-Forwarded-Host': 'go.links.test'}), shared);
	t.deepEqual(await text({Host: 'go.acme.test'}), [200, `https://go.acme.test/${place}`]);
	t.deepEqual(await text({Host: 'else.acme.test'}), [404]);
	// A code named like the form is still a link of a domain.
	const {url} = await link(acme, {domainId, shortCode: 'report'});
	const page = await anonymous(service).get('/report', {
		Host: 'go.acme.test',
		'User-Agent': 'Mozilla/5.0 (X11) Firefox/130.0',
	});
	t.is(page.status, 200, url);
	t.is(pathOf(url), `/${acme.orgKey}/report`);
});

test('security.txt of a host that is LINK_DOMAIN and the API at once is that of its aliases', async (t) => {
	const {service} = await policedService(t, {
		ABUSE_CONTACT: 'https://example.com/abuse',
		LINK_DOMAIN: 'links.test',
		LINK_DOMAIN_ALIASES: 'old.links.test',
		PUBLIC_URL: 'https://links.test',
	});
	const text = async (headers: Record<string, string>) =>
		(await anonymous(service).get('/.well-known/security.txt', headers)).text;
	const ofAlias = await text({Host: 'old.links.test'});
	t.regex(ofAlias, /^Canonical: https:\/\/links\.test\/\.well-known\/security\.txt$/m);
	t.is(await text({Host: 'links.test:443'}), ofAlias);
	t.is(await text({Host: '127.0.0.1:3000', 'X-Forwarded-Host': 'links.test'}), ofAlias);
});
