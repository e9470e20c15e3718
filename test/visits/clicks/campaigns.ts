import test from 'ava';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {serviceOf} from '../../helpers/service.ts';
import {statsOf} from '../_own.ts';
import {network, visit} from '../matches/_phones.ts';
import {clickAt, storeRows} from './_counted.ts';

const service = serviceOf(test);

const report = ({operator}: TestOrganization, query: string) => operator.get(`/stats?${query}`);

const breakdownsOf = async (acme: TestOrganization, by: string) => (await statsOf(service, acme, by)).breakdowns;

test('UTM values of the tap come before those of the link, which come before those of its template', async (t) => {
	const acme = await organization(service);
	const values = {name: 'Spring', channel: 'email', utmMedium: 'newsletter', utmCampaign: 'template'};
	const {body: template} = await acme.operator.post('/templates', values);
	const sale = await link(acme, {templateId: template.id, utmCampaign: 'spring', utmSource: 'acme'});
	const address = network()(1);
	// Half a surrogate pair is at the limit.
	const long = `long: ${'😀'.repeat(150)}`;
	const cut = `long: ${'😀'.repeat(124)}`;
	for (const query of ['', '?utm_campaign=autumn&utm_term=shoes', '?utm_campaign=&utm_source=x&utm_source=y']) {
		await visit(service, sale, address, {query});
	}

	await visit(service, sale, address, {query: `?utm_campaign=${encodeURIComponent(long)}`});
	const shown = await breakdownsOf(acme, 'by=utmCampaign,utmSource,utmMedium,utmTerm');
	const counts = (...pairs: Array<[string | null, number]>) => pairs.map(([key, count]) => ({key, count}));
	t.deepEqual(shown, {
		utmCampaign: counts(['spring', 2], ['autumn', 1], [cut, 1]),
		utmSource: counts(['acme', 3], ['x', 1]),
		utmMedium: counts(['newsletter', 4]),
		utmTerm: counts([null, 3], ['shoes', 1]),
	});
	// What a click was made for stays when its link changes.
	await acme.server.patch(`/links/${sale.id}`, {utmCampaign: 'winter', channel: 'sms'});
	t.deepEqual((await breakdownsOf(acme, 'by=utmCampaign')).utmCampaign, shown.utmCampaign);
	t.deepEqual((await breakdownsOf(acme, 'by=channel&by=os')).channel, [{key: 'email', count: 4}]);
});

test('by names up to four breakdowns, each its own; without it there are the usual six', async (t) => {
	const acme = await organization(service);
	const one = await link(acme, {tags: ['spring', 'sale'], channel: 'email'});
	const two = await link(acme, {tags: ['sale']});
	const address = network()(1);
	for (const visited of [one, two, two]) {
		await visit(service, visited, address);
	}

	const usual = await statsOf(service, acme);
	t.is(Object.keys(usual.breakdowns).join(), 'platform,country,channel,referrer,link,matchMethod');
	const {breakdowns, totals} = await statsOf(service, acme, 'by=tag,browser&by=deviceModel,os');
	t.is(Object.keys(breakdowns).join(), 'tag,browser,deviceModel,os');
	t.deepEqual(breakdowns.tag, [
		{key: 'sale', count: 3},
		{key: 'spring', count: 1},
	]);
	t.deepEqual([breakdowns.browser, breakdowns.os], [[{key: 'Safari', count: 3}], [{key: 'iOS', count: 3}]]);
	t.deepEqual(totals, usual.totals);
	t.deepEqual(await breakdownsOf(acme, 'tag=spring&by=link'), {link: [{key: one.id, count: 1}]});
	for (const [owner, query, clicks] of [
		[acme, 'tag=spring', 1],
		[acme, `channel=email&link=${two.id}`, 0],
		[acme, `link=${two.id}`, 2],
		[acme, 'tag=unknown', 0],
		[await organization(service), `link=${two.id}`, 0],
	] as const) {
		t.is((await statsOf(service, owner, query)).totals.clicks, clicks, query);
	}

	for (const [query, message] of [
		['by=colour', /by must be of platform, .* not colour/],
		['by=', /by must be of/],
		['by=os,tag,link,browser,country', /by must not have more than 4 names/],
		['link=nonsense', /link must be a UUID/],
	] as const) {
		const {status, body: refused} = await report(acme, query);
		t.is(status, 400, query);
		t.regex(refused.details[0].message, message);
	}
});

test('a day keeps 500 campaigns by name, the rest together, from any sender', async (t) => {
	const {db, background} = service.services;
	const acme = await organization(service);
	// The job that runs at the start has the lock for a moment.
	await background.settle();
	const clickOf = (_: unknown, index: number) => clickAt('2026-03-04T10:00:00Z', {utmCampaign: `campaign ${index}`});
	await storeRows(service, acme.id, Array.from({length: 1200}, clickOf));
	await rollUp(db);
	const {rows} = await db.raw(
		`SELECT count(*) FILTER (WHERE key <> 'other')::int AS names, sum(count) FILTER (WHERE key = 'other')::int AS other
		FROM rollup_breakdowns WHERE dimension = 'utmCampaign' AND span = 'day' AND organization_id = ?`,
		[acme.id],
	);
	t.deepEqual(rows, [{names: 500, other: 700}]);
	const {totals, breakdowns} = await statsOf(service, acme, 'from=2026-03-04&to=2026-03-05&by=utmCampaign');
	t.is(totals.clicks, 1200);
	t.like(breakdowns.utmCampaign, {length: 501, 0: {key: 'other', count: 700}});
});
