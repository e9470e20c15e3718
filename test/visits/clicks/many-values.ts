import {randomUUID} from 'node:crypto';
import test, {type ExecutionContext} from 'ava';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked, statsOf} from '../_own.ts';
import {clickAt, type Row, storeRows} from './_counted.ts';

const service = serviceOf(test);

type Listed = Array<{key: string | null; count: number}>;

/** 533 taps with that many terms and with as many languages, 5 with a term that is called `other`, and 12 without. */
const tapsOf = (linkId: string, terms: number): Row[] => {
	const at = (index: number) => Date.parse('2026-03-04T00:10:00Z') + index * 60_000;
	const tap = (index: number, more: Parameters<typeof clickAt>[1]) => clickAt(at(index), {link: linkId, ...more});
	return [
		...Array.from({length: 533}, (_, index) =>
			tap(index, {utmTerm: `term ${Math.min(index, terms - 1)}`, language: `l${index}`, os: 'iOS'}),
		),
		...Array.from({length: 17}, (_, index) => tap(index, index < 5 ? {utmTerm: 'other'} : {})),
	];
};

/** Every way to read the same day: of rollups, of rows, and of both. */
const WAYS = ['', '&link=LINK', '&tag=spring', '&timezone=Asia/Kolkata', '&interval=hour&timezone=America/St_Johns'];
const RANGE = 'from=2026-03-03T18:30:00Z&to=2026-03-05T18:30:00Z';

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);

const inFull = async (t: ExecutionContext, organization: {id: string}, linkId: string) => {
	const by = ['utmTerm', 'language', 'os', 'matchMethod'];
	const found: Record<string, Listed>[] = [];
	for (const way of WAYS) {
		const query = `${RANGE}&by=${by.join()}${way.replace('LINK', linkId)}`;
		const {totals, breakdowns} = await statsOf(service, organization, query);
		t.is(totals.clicks, 550, way);
		for (const name of ['utmTerm', 'language', 'os']) {
			t.is(sum(breakdowns[name].map(({count}: {count: number}) => count)), 550, `${name} ${way}`);
		}

		found.push(breakdowns);
	}

	return found;
};

test('the rows of a breakdown add up to its total, however many values there are, before and after rolling up', async (t) => {
	const {db, background} = service.services;
	const {acme, id} = await linked(service, {tags: ['spring']});
	await background.settle();
	await storeRows(service, acme.id, tapsOf(id, 530));
	const before = await inFull(t, acme, id);
	await rollUp(db);
	const after = await inFull(t, acme, id);
	for (const {utmTerm, os, matchMethod} of [...before, ...after]) {
		// Beside 500 names: null, and what is called `other` with the other 30.
		t.is(utmTerm?.length, 502);
		t.deepEqual(utmTerm?.slice(0, 3), [
			{key: 'other', count: 5 + 30},
			{key: null, count: 12},
			{key: 'term 529', count: 4},
		]);
		t.deepEqual(os, [
			{key: 'iOS', count: 533},
			{key: null, count: 17},
		]);
		t.deepEqual(matchMethod, []);
	}

	// Neither rolling up nor a filter changes which values have names.
	t.deepEqual(
		[...before, ...after],
		Array.from({length: 2 * WAYS.length}, () => before[0]),
	);
});

test('a list of links has 500 by name, and the rest under other', async (t) => {
	const {db, background} = service.services;
	const {acme} = await linked(service);
	await background.settle();
	const at = Date.parse('2026-03-04T00:10:00Z');
	const links = Array.from({length: 503}, () => randomUUID());
	await storeRows(
		service,
		acme.id,
		[...links, ...links.slice(0, 500)].map((id) => clickAt(at, {link: id})),
	);
	const read = async () => {
		const {breakdowns} = await statsOf(service, acme, `${RANGE}&by=link`);
		const {body} = await acme.operator.get(`/stats/funnel?${RANGE}&by=link`);
		return [breakdowns.link, body.rows.map(({key, clicks: count}: {key: string; clicks: number}) => ({key, count}))];
	};
	const before = await read();
	await rollUp(db);
	for (const rows of [...before, ...(await read())]) {
		t.is(rows.length, 501);
		const found = rows.filter(({count}: {count: number}) => count !== 2);
		t.deepEqual(found, [{key: 'other', count: 3}]);
	}
});

/** 40 links with terms of their own and no click, each with an event of both phones. */
const addEvents = async (organizationId: string) => {
	const {db, clock} = service.services;
	const {rows} = await db.raw<{rows: Array<{id: string}>}>(
		`INSERT INTO links (id, organization_id, domain_id, short_code, utm_term, is_active, created_at, updated_at)
		SELECT gen_random_uuid(), :organizationId, id, left(CAST(:organizationId AS text), 8) || place, 'own ' || place, true, now(), now()
		FROM domains, generate_series(1, 40) AS place WHERE organization_id IS NULL RETURNING id`,
		{organizationId},
	);
	await db.raw(
		`INSERT INTO events (id, organization_id, device_id, event_name, properties, link_id, attributed_link_id, attribution,
			occurred_at, received_at)
		SELECT gen_random_uuid(), :organizationId, 'phone ' || phone, 'buy', '{"amount": 0.1}', link_id, link_id,
			json_build_object('utmTerm', (SELECT utm_term FROM links WHERE id = link_id)), '2026-03-04T10:00:00Z', :now
		FROM unnest(CAST(:links AS uuid[])) AS link_id, generate_series(1, 2) AS phone`,
		{organizationId, links: rows.map(({id}) => id), now: clock.now()},
	);
};

// Names are those with the most clicks, then those with the most events.
for (const {terms, other} of [
	{terms: 530, other: {clicks: 5 + 30, matches: 0, devices: 2, events: 80, sum: 8}},
	{terms: 470, other: {clicks: 5, matches: 0, devices: 2, events: 20, sum: 2}},
]) {
	test(`the rows of a funnel add up to its totals: ${terms} tapped terms, and 40 with events alone`, async (t) => {
		const {db, background} = service.services;
		const {acme, id} = await linked(service);
		await background.settle();
		await storeRows(service, acme.id, tapsOf(id, terms));
		await addEvents(acme.id);
		const read = async (query: string) => {
			const {status, body} = await acme.operator.get(`/stats/funnel?${RANGE}&property=amount&${query}`);
			t.is(status, 200);
			return body;
		};
		const before = await read('by=utmTerm');
		await rollUp(db);
		const {totals, rows} = await read('by=utmTerm');
		t.deepEqual(rows, before.rows);
		t.is(rows.length, 502);
		const found = rows.find(({key}: {key: string | null}) => key === 'other');
		t.deepEqual(found, {key: 'other', ...other});
		// Devices do not add up: a phone may have events of several terms.
		t.deepEqual(totals, {clicks: 550, matches: 0, devices: 2, events: 80, sum: 8});
		for (const step of ['clicks', 'matches', 'events'] as const) {
			t.is(sum(rows.map((row: typeof totals) => row[step])), totals[step], step);
		}

		t.is((await read('by=link')).rows.length, 41);
	});
}
