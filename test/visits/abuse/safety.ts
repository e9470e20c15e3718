import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {type Answer, anonymous} from '../../helpers/callers.ts';
import {importInto, statuses} from '../../links/links/_import.ts';
import {ownService} from '../_own.ts';
import {pathOf} from '../matches/_phones.ts';
import {BAD, ODD, policedService, visit} from './_policed.ts';

const refused = (field: string) => [{field, message: 'The destination is on the list Bad'}];

test('every address that a link can lead to is refused at each write, with its field and the list', async (t) => {
	const {service} = await policedService(t);
	const acme = await organization(service);
	const existing = await link(acme);
	const cases: Array<[field: string, answer: Promise<Answer>]> = [
		['fallbackUrl', acme.server.post('/links', {path: '/a', fallbackUrl: 'https://X.BAD.example.:8443/?q'})],
		['destinations.ios', acme.server.post('/links', {path: '/a', destinations: {ios: BAD}})],
		['destinations.desktop', acme.server.patch(`/links/${existing.id}`, {destinations: {desktop: BAD}})],
		['og.imageUrl', acme.server.patch(`/links/${existing.id}`, {og: {imageUrl: BAD}})],
		['fallbackUrl', acme.operator.post('/templates', {name: 'x', fallbackUrl: BAD})],
		['logoUrl', acme.operator.put('/app-config', {logoUrl: BAD})],
		['fallbackUrl', acme.operator.put('/app-config', {fallbackUrl: BAD})],
	];
	for (const [field, answer] of cases) {
		const {status, body} = await answer;
		t.deepEqual([status, body.details], [400, refused(field)], field);
	}

	const domain = await acme.operator.post('/domains', {hostname: 'go.police.example'});
	const root = await acme.operator.patch(`/domains/${domain.body.id}`, {rootUrl: BAD});
	t.deepEqual(root.body.details, refused('rootUrl'));
	const unknown = await acme.operator.patch(`/domains/${domain.body.id}`, {unknownCodes: {url: `${BAD}/{code}`}});
	t.deepEqual(unknown.body.details, refused('unknownCodes.url'));

	const imported = await acme.operator.post(
		'/links/import',
		`${JSON.stringify({path: '/a', fallbackUrl: BAD})}\n${JSON.stringify({path: '/b', fallbackUrl: ODD})}\n`,
		{'Content-Type': 'application/x-ndjson'},
	);
	const lines = imported.text
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
	const statuses = lines.map(({status}) => status);
	t.deepEqual(statuses, ['failed', 'created']);
	t.deepEqual(lines[0].error.details, refused('fallbackUrl'));
});

test('a warned link shows people where it leads, and crawlers nothing', async (t) => {
	const {service} = await policedService(t, {ABUSE_CONTACT: 'mailto:abuse@example.com'});
	const acme = await organization(service, {appConfig: null});
	await acme.operator.put('/app-config', {fallbackUrl: 'https://acme.example/'});
	const warned = await link(acme, {fallbackUrl: ODD});
	t.like(warned, {safety: {state: 'warn', by: 'list', reason: 'On the list Odd'}});

	const page = await visit(service, warned.url);
	t.is(page.status, 200);
	t.is(page.headers['cache-control'], 'no-store');
	t.regex(page.text, /This link may be unsafe/);
	t.regex(page.text, /rel="nofollow" href="https:\/\/www\.odd\.example\/offer"/);
	t.is(page.text.match(/<a /g)?.length, 2);
	t.regex(page.text, /Report this link/);
	t.notRegex(page.text, /<script|http-equiv|opl_/);
	t.is(page.headers['set-cookie'], undefined);

	const preview = await visit(service, warned.url, 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)');
	t.is(preview.status, 200);
	t.notRegex(preview.text, /<title|<meta property|odd\.example/);

	const data = await visit(service, `${warned.url}/data`);
	t.is(data.body.linkId, warned.id);
	const {body} = await acme.operator.get('/stats');
	t.is(body.totals.clicks, 1, 'only the visit of /data counts');
});

test('a change of a list blocks and frees stored links, through template and organization too', async (t) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service);
	const template = await acme.operator.post('/templates', {
		name: 'Sale',
		path: '/s',
		fallbackUrl: 'https://later.example/',
	});
	const direct = await link(acme, {fallbackUrl: 'https://www.later.example/x'});
	const inherited = await link(acme, {templateId: template.body.id});
	const other = await link(acme, {fallbackUrl: 'https://fine.example/', templateId: template.body.id});
	t.is((await visit(service, direct.url)).status, 200);

	await change('bad.txt', 'later.example\n');
	for (const {url, id} of [direct, inherited]) {
		for (const address of [url, `${url}/data`, `${url}?utm_source=x`]) {
			const {status, body} = await anonymous(service).get(pathOf(address) + new URL(address).search);
			t.deepEqual([status, body.message], [410, 'Link is blocked'], address);
		}

		const {body} = await acme.server.get(`/links/${id}`);
		t.like(body.safety, {state: 'block', by: 'list', reason: 'On the list Bad'});
	}

	t.is((await visit(service, other.url)).status, 200);
	t.is((await acme.server.get(`/links/${other.id}`)).body.safety, undefined);
	const refusedCreate = await acme.server.post('/links', {templateId: template.body.id});
	t.deepEqual([refusedCreate.status, refusedCreate.body.details], [400, refused('templateId')]);
	t.deepEqual(service.services.abuseFigures.blocked, {list: 2, operator: 0});

	await change('bad.txt', '# nothing\n');
	t.is((await visit(service, direct.url)).status, 200);
	t.is((await acme.server.get(`/links/${direct.id}`)).body.safety, undefined);
	t.deepEqual(service.services.abuseFigures.blocked, {list: 0, operator: 0});
});

test('a check of stored links counts each by any address that it leads to, and ends on a stop', async (t) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service);
	const later = 'https://later.example/x';
	for (const addresses of [
		...['ios', 'android', 'desktop'].map((platform) => ({destinations: {[platform]: later}})),
		{og: {imageUrl: later}},
		{fallbackUrl: 'https://LATER.example:8443/x'},
		{fallbackUrl: 'https://later.example.fine.example/?u=https://later.example/'},
	]) {
		await link(acme, {fallbackUrl: 'https://fine.example/', ...addresses});
	}

	await change('bad.txt', 'later.example\n');
	t.is(service.services.abuseFigures.blocked.list, 5);

	await change('bad.txt', 'later.example\n', () => true);
	t.is(service.services.abuseFigures.blocked.list, 0);
});

test("an operator's decision outlives every list, is audited, and says so on the page", async (t) => {
	const {service, change} = await policedService(t);
	const acme = await organization(service);
	await acme.operator.put('/app-config', {errorPages: true, fallbackUrl: 'https://fine.example/'});
	const {id, url, shortCode} = await link(acme, {fallbackUrl: ODD});

	const blocked = await acme.operator.post(`/links/${id}/block`, {reason: 'Phishing of a bank'});
	t.is(blocked.status, 200);
	t.like(blocked.body.safety, {state: 'block', by: 'operator', reason: 'Phishing of a bank'});
	t.truthy(blocked.body.safety.since);
	const page = await visit(service, url);
	t.is(page.status, 410);
	t.regex(page.text, /This link was blocked/);
	await change('odd.txt', '# nothing\n');
	t.is((await visit(service, url)).status, 410);

	const freed = await acme.operator.post(`/links/${id}/unblock`);
	t.deepEqual([freed.status, freed.body.safety], [200, undefined]);
	await change('bad.txt', 'odd.example\n');
	t.is((await visit(service, url)).status, 200, 'no list acts on it again');

	const {body} = await acme.operator.get('/audit-log?entityType=Link');
	const actions = (body.data as Array<{action: string; details: object}>).map(({action, details}) => [action, details]);
	t.deepEqual(actions.filter(([action]) => String(action).endsWith('BLOCK')).toSorted(), [
		['BLOCK', {shortCode, reason: 'Phishing of a bank'}],
		['UNBLOCK', {shortCode}],
	]);
	t.is((await acme.operator.post(`/links/${acme.id}/block`)).status, 404);
});

test('the code of a link that was deleted while blocked is taken for 90 days', async (t) => {
	const service = await ownService(t, {LINK_DOMAIN: 'localhost'});
	const acme = await organization(service);
	const {id} = await link(acme, {shortCode: 'bank'});
	const other = await link(acme);
	await acme.operator.post(`/links/${id}/block`);
	t.is((await acme.server.delete(`/links/${id}`)).status, 200);
	const created = await acme.server.post('/links', {path: '/a', shortCode: 'bank'});
	t.deepEqual([created.status, created.body.message], [409, "Short code 'bank' is already in use"]);
	t.is((await acme.server.patch(`/links/${other.id}`, {shortCode: 'bank'})).status, 409);
	await acme.server.patch(`/links/${other.id}`, {externalId: 'other'});
	const rows = [
		{path: '/a'},
		{path: '/a', shortCode: 'bank'},
		{externalId: 'other', path: '/a', shortCode: 'bank'},
		{path: '/a', shortCode: 'clinic'},
	];
	for (const [query, ofOther] of [
		['?dryRun=true', 'skipped'],
		['?onConflict=update&dryRun=true', 'failed'],
		['?onConflict=fail', 'failed'],
		['?onConflict=update', 'failed'],
	]) {
		const answers = await importInto(acme, rows, query);
		t.deepEqual(statuses(answers).slice(1, 3), ['failed', ofOther], query);
		t.like(answers[1]?.error, {statusCode: 409, message: "Short code 'bank' is already in use"});
		t.not(answers[3]?.id ?? answers[3]?.url, undefined);
	}

	service.clock.advance(90 * 24 * 3600 + 1);
	t.is((await acme.server.post('/links', {path: '/a', shortCode: 'bank'})).status, 201);
});

test('the former code of a blocked link that is renamed is taken, too', async (t) => {
	const service = await ownService(t, {LINK_DOMAIN: 'localhost'});
	const acme = await organization(service);
	for (const [from, to] of [
		['bank', 'shop'],
		['post', 'mail'],
	] as const) {
		const {id} = await link(acme, {shortCode: from, externalId: from});
		await acme.operator.post(`/links/${id}/block`);
		const row = {path: '/a', shortCode: to};
		const renamed =
			from === 'bank'
				? [await acme.server.patch(`/links/${id}`, row)].map(({status}) => status === 200 && 'updated')
				: statuses(
						await importInto(
							acme,
							[{...row, externalId: from}, {path: '/b', shortCode: from}, {path: '/c'}],
							'?onConflict=update',
						),
					);
		t.deepEqual(renamed, from === 'bank' ? ['updated'] : ['updated', 'failed', 'created']);
		t.is((await acme.server.post('/links', {path: '/b', shortCode: from})).status, 409);
		t.is((await anonymous(service).get(`/${acme.orgKey}/${to}`)).status, 410);
	}

	const free = await link(acme, {shortCode: 'free'});
	t.is((await acme.server.patch(`/links/${free.id}`, {shortCode: 'moved'})).status, 200);
	t.is((await acme.server.post('/links', {path: '/b', shortCode: 'free'})).status, 201);
});
