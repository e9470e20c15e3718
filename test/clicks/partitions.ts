import test from 'ava';
import {organization} from '../helpers/builders.ts';
import {serviceOf} from '../helpers/service.ts';
import {storeRows} from './_counted.ts';

const service = serviceOf(test);

const clickAt = (at: number) => ({
	kind: 'click' as const,
	at,
	platform: 'ios',
	country: null,
	channel: null,
	referrer: null,
	link: '7d0f4a8e-7a53-4b0c-8f0c-0d2f3c1b2a10',
	isCrawler: false,
});

test('a partition is created during an open transaction with clicks, with the table’s indexes and its own key', async (t) => {
	const {services} = service;
	const {id} = await organization(service, {appConfig: null});
	const open = await services.db.transaction();
	await storeRows(service, id, [clickAt(Date.UTC(2026, 4, 31, 23))], open);
	await Promise.all([1, 2].map(() => storeRows(service, id, [clickAt(Date.UTC(2026, 5, 1))])));
	await open.commit();
	const {rows} = await services.db.raw(`SELECT relname, count(indexrelid)::int AS indexes,
			count(*) FILTER (WHERE EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid))::int AS attached
		FROM pg_class JOIN pg_index ON indrelid = pg_class.oid
		WHERE relname IN ('clicks', 'clicks_2026_05', 'clicks_2026_06') GROUP BY relname ORDER BY relname`);
	const [{indexes}] = rows;
	t.true(indexes >= 2);
	t.deepEqual(rows, [
		{relname: 'clicks', indexes, attached: 0},
		{relname: 'clicks_2026_05', indexes: indexes + 1, attached: indexes},
		{relname: 'clicks_2026_06', indexes: indexes + 1, attached: indexes},
	]);
	t.is(Number((await services.db('clicks').where({organization_id: id}).count())[0]?.['count']), 3);
});
