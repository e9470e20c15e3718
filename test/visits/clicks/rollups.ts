import {randomUUID} from 'node:crypto';
import test from 'ava';
import {closeDb, createDb, type Db} from '../../../src/platform/db/db.ts';
import {rollUp, rollUpStep} from '../../../src/visits/reports/rollups/roll-up.ts';
import {changingFrom} from '../../../src/visits/resolution/signals.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {statsOf} from '../_own.ts';
import {network, sendSignals, userAgents, visit} from '../matches/_phones.ts';
import {clickAt, countRows, type Row, storeRows} from './_counted.ts';

const saleLink = randomUUID();
const newsAt = (at: string): Row => clickAt(at, {country: 'DE', referrer: 'news.example', link: saleLink});
const march = ['2026-03-01T00:00:00Z', '2026-03-05T23:59:59.999Z', '2026-03-09T10:07:00Z'].map(newsAt);
const late: Row = {kind: 'event', at: Date.parse('2026-02-20T08:00:00Z'), link: null};
const matchedAt = Date.parse('2026-03-09T10:08:00Z');
const match: Row = {kind: 'match', at: matchedAt, link: saleLink, method: 'CLIPBOARD', isMatch: true};

const service = serviceOf(test);
test.serial.before(async () => {
	// The job that runs at the start has the lock for a moment.
	await service.services.background.settle();
	await rollUp(service.services.db);
});

/** The clicks of an organization in its report, and in the rollups, which a report does not show. */
const clicksOf = async ({id}: {id: string}) => {
	const [row] = await service.services.db('rollup_quarters').where({organization_id: id}).sum({clicks: 'clicks'});
	return {reported: (await statsOf(service, {id})).totals.clicks, rolled: Number(row?.['clicks'])};
};

/** A new organization, and what stores rows of it. */
const begin = async () => {
	const acme = await organization(service);
	const store = (rows: Row[], trx?: Db) => storeRows(service, acme.id, rows, trx);
	return {db: service.services.db, acme, store, clicks: () => clicksOf(acme)};
};

test.serial('reports add newer rows to the rollups', async (t) => {
	const {db, acme, store, clicks} = await begin();
	const {url} = await link(acme, {channel: 'email'});
	const {pathname} = new URL(url);
	await anonymous(service).get(pathname);
	await service.services.clickJournal.flushed();
	await rollUp(db);
	t.deepEqual(await clicks(), {reported: 1, rolled: 1});
	// A month that has been dropped: only the rollups know of it.
	await db.raw('TRUNCATE clicks');
	await anonymous(service).get(pathname);
	await store([late]);
	t.deepEqual(await clicks(), {reported: 2, rolled: 1});
	const {totals, breakdowns} = await statsOf(service, acme);
	t.deepEqual(totals, {clicks: 2, crawlerViews: 0, matches: 0, events: 1});
	t.deepEqual(breakdowns.channel, [{key: 'email', count: 2}]);
});

test.serial('clicks wait for the signals of their page before they are rolled up', async (t) => {
	const {db, acme, clicks} = await begin();
	const mac = {userAgent: userAgents.iPad};
	const one = await link(acme);
	const {token} = await visit(service, one, network()(1), mac);
	await service.services.clickJournal.flushed();
	const rollUpNow = () => rollUp(db, () => false, {changingFrom: changingFrom(service.clock.now())});
	await rollUpNow();
	await sendSignals(service, one, {token, touchPoints: 5}, {'User-Agent': mac.userAgent});
	for (const rolled of [0, 1]) {
		t.deepEqual(await clicks(), {reported: 1, rolled});
		t.deepEqual((await statsOf(service, acme)).breakdowns.platform, [{key: 'ios', count: 1}]);
		service.clock.advance(66);
		await rollUpNow();
	}
});

test.serial('one process rolls up at a time, and its step that breaks off leaves nothing behind', async (t) => {
	const {db, store, clicks} = await begin();
	await store(march);
	const cut = db.transaction(async (trx) => {
		t.true(await rollUpStep(trx));
		t.false(await rollUpStep(db));
		throw new Error('power cut');
	});
	await t.throwsAsync(cut, {message: 'power cut'});
	t.deepEqual(await clicks(), {reported: 3, rolled: 0});
	await rollUp(db);
	t.deepEqual(await clicks(), {reported: 3, rolled: 3});
});

test.serial('processes that roll up at once count every row once', async (t) => {
	const {db, store, clicks} = await begin();
	const others = [1, 2, 3].map(() => createDb(service.databaseUrl, {poolSize: 2}));
	t.teardown(() => Promise.all(others.map((other) => closeDb(other))));
	for (let round = 1; round <= 5; round += 1) {
		await Promise.all(march.map((row) => store([row])));
		await Promise.all(others.flatMap((other) => [rollUp(other, undefined, {stepTransactions: 1n}), rollUp(other)]));
		t.is((await clicks()).reported, 3 * round);
	}

	await rollUp(db);
	t.deepEqual(await clicks(), {reported: 15, rolled: 15});
});

test.serial('a row whose transaction ends after later ones were rolled up is counted', async (t) => {
	const {db, store, clicks} = await begin();
	const slow = await db.transaction();
	await store([newsAt('2026-03-01T00:00:00Z')], slow);
	await store(march);
	await rollUp(db);
	t.is((await clicks()).reported, 3);
	await slow.commit();
	t.is((await clicks()).reported, 4);
	await rollUp(db);
	t.deepEqual(await clicks(), {reported: 4, rolled: 4});
});

test.serial('restored rows are added organization by organization, day by day, and counted meanwhile', async (t) => {
	const {db, acme, store} = await begin();
	const globex = await organization(service, {appConfig: null});
	// Of the tests before.
	await db.raw('TRUNCATE clicks, match_attempts, events');
	const rows = [...march, late, match];
	const since = newsAt('2026-03-05T12:00:00Z');
	await store(rows);
	await storeRows(service, globex.id, rows);
	await db.raw('SELECT restart_rollups()');
	await store([since]);
	const compare = async () => {
		for (const [owner, stored] of [
			[acme, [...rows, since]],
			[globex, rows],
		] as const) {
			const body = await statsOf(service, owner);
			const {totals, series, breakdowns} = body;
			t.deepEqual({totals, series, breakdowns}, countRows([...stored], body));
		}
	};
	await compare();
	let steps = 0;
	while (await rollUpStep(db)) {
		steps += 1;
		await compare();
	}

	// Four days of each, the step that finds no more, and the click that came since.
	t.is(steps, 10);
	t.deepEqual([(await clicksOf(acme)).rolled, (await clicksOf(globex)).rolled], [4, 3]);
});

test.serial('a copy restored into another cluster is rolled up again; data only in the rollups stays', async (t) => {
	const {db, acme, store} = await begin();
	await store([newsAt('2026-02-10T08:00:00Z'), ...march, late, match]);
	await rollUp(db);
	await db('clicks').where('occurred_at', '<', '2026-03-01').delete();
	const query = 'from=2026-02-01&to=2026-04-01&interval=month';
	const before = await statsOf(service, acme, query);
	t.is(before.totals.clicks, 4);
	// Transactions of the other cluster have numbers that are taken here.
	await db.raw(`UPDATE clicks SET writer = '99999999'`);
	await db.raw('UPDATE rollups SET cluster = cluster + 1');
	t.is((await statsOf(service, acme, query)).totals.clicks, 3);
	await rollUp(db);
	t.deepEqual(await statsOf(service, acme, query), before);
});

test.serial('figures go with their organization, and clicks during the deletion block nothing', async (t) => {
	const {db, store, clicks} = await begin();
	const globex = await organization(service, {plan: null, appConfig: null});
	const requireNone = async () => {
		for (const table of ['rollup_quarters', 'rollup_days', 'rollup_breakdowns']) {
			t.deepEqual(await db(table).where({organization_id: globex.id}), []);
		}
	};
	await storeRows(service, globex.id, march);
	await rollUp(db);
	t.is((await clicksOf(globex)).rolled, 3);
	t.is((await admin(service).delete(`/admin/organizations/${globex.id}`)).status, 200);
	await requireNone();
	await storeRows(service, globex.id, march);
	await store(march);
	await rollUp(db);
	t.is((await clicks()).rolled, 3);
	await requireNone();
});

test.serial('a day that began within a quarter of an hour is counted row by row', async (t) => {
	const {db, acme, store} = await begin();
	// St. John's set its clocks back at 00:01, so one day has a minute before the last hour of the day before.
	const at = (minute: number) => Date.UTC(2010, 10, 7, 2, 20 + minute);
	const events = Array.from({length: 30}, (_, minute) => ({...late, at: at(minute)}));
	await store(events);
	const query = 'from=2010-11-01T00:00:00Z&to=2010-11-12T00:00:00Z&timezone=America/St_Johns';
	const before = await statsOf(service, acme, query);
	await rollUp(db);
	t.is(before.totals.events, 30);
	t.deepEqual(await statsOf(service, acme, query), before);
});
