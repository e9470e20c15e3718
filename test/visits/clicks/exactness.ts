import assert from 'node:assert/strict';
import {randomUUID} from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import {closeDb, createDb} from '../../../src/platform/db/db.ts';
import {dropOldClicks} from '../../../src/visits/click-stores/drop-old-clicks.ts';
import {createClickPartitions} from '../../../src/visits/clicks/click-partitions.ts';
import {dimensionNames} from '../../../src/visits/clicks/dimensions.ts';
import {rollUp, rollUpStep} from '../../../src/visits/reports/rollups/roll-up.ts';
import {organization} from '../../helpers/builders.ts';
import {serviceOf} from '../../helpers/service.ts';
import {statsOf} from '../_own.ts';
import {countRows, type Row, storeRows} from './_counted.ts';

const service = serviceOf(test);
const ensurePartitions = async () => {
	const {ensure} = createClickPartitions(service.services.db);
	for (const month of [-3, -2, -1, 0, 1]) {
		await ensure(new Date(Date.UTC(2026, 2 + month, 1)));
	}
};
// A partition waits for the open transactions of the table, and they for the step after this one.
test.serial.before(ensurePartitions);

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 96 * QUARTER_MS;
const BASE = Date.UTC(2026, 2, 1);

/** Around the turn of a month, mostly near the starts of quarters, hours and days of UTC and of Kathmandu. */
const instants = fc
	.tuple(
		fc.oneof(
			fc.integer({min: -4 * 96, max: 4 * 96}).map((quarter) => BASE + quarter * QUARTER_MS),
			fc.integer({min: -4, max: 4}).map((day) => BASE + day * DAY_MS),
			fc.integer({min: -4, max: 4}).map((day) => BASE + day * DAY_MS - 23 * QUARTER_MS),
			fc.integer({min: -70, max: -5}).map((day) => BASE + day * DAY_MS),
		),
		fc.oneof(fc.constantFrom(-1, 0, 1), fc.integer({min: 0, max: QUARTER_MS})),
	)
	.map(([at, off]) => at + off);

const links = Array.from({length: 30}, () => randomUUID());
const either = <T>(...values: T[]) => fc.constantFrom<T | null>(null, ...values);

const clicks: fc.Arbitrary<Row> = fc.record({
	kind: fc.constant('click'),
	at: instants,
	platform: either('ios', 'android', 'desktop'),
	country: either('DE', 'EG', 'NP'),
	channel: either('email', ''),
	referrer: either('news.example', 'shop.example'),
	link: fc.constantFrom(...links),
	isCrawler: fc.integer({min: 0, max: 4}).map((number) => number === 0),
	os: either('iOS', 'Android'),
	browser: either('Safari'),
	language: either('de-DE', 'en-US'),
	deviceModel: either('SM-S911B'),
	utmSource: either('mail', 'Mail'),
	utmMedium: either('email'),
	utmCampaign: either('spring', 'other', 'autumn'),
	utmContent: either('top'),
	utmTerm: either('shoes'),
});
const matches: fc.Arbitrary<Row> = fc.record({
	kind: fc.constant('match'),
	at: instants,
	method: fc.constantFrom('CLIPBOARD', 'INSTALL_REFERRER', 'FINGERPRINT_SCORED'),
	link: either(...links),
	isMatch: fc.boolean(),
});
// An app's events may be of any age.
const events: fc.Arbitrary<Row> = fc.record({
	kind: fc.constant('event'),
	at: fc.oneof(instants, fc.integer({min: Date.UTC(2010, 0), max: BASE})),
	link: either(...links),
});
const rows = fc.array(fc.oneof({arbitrary: clicks, weight: 4}, matches, events), {maxLength: 40});

const queries = fc.record({
	bounds: fc.option(
		fc
			.tuple(instants, instants)
			.filter(([a, b]) => a !== b)
			.map((pair) => pair.toSorted((a, b) => a - b)),
		{nil: null, freq: 6},
	),
	interval: fc.constantFrom('hour', 'day', 'month'),
	by: fc.option(fc.uniqueArray(fc.constantFrom(...dimensionNames), {minLength: 1, maxLength: 4}), {nil: null}),
	filter: fc.option(fc.constantFrom('tag' as const, 'channel' as const, 'link' as const), {nil: null, freq: 3}),
	timezone: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe', 'America/St_Johns'),
});

/** Steps of a story. */
const MAX_LENGTH = 14;

const steps = fc.array(
	fc.oneof(
		fc.record({type: fc.constant('store' as const), rows}),
		// Rows of a transaction that ends after the next step.
		fc.record({type: fc.constant('begin' as const), rows}),
		fc.record({type: fc.constant('commit' as const)}),
		fc.record({
			type: fc.constant('roll' as const),
			only: fc.option(fc.integer({min: 1, max: 3}), {nil: null}),
			stepTransactions: fc.bigInt({min: 1n, max: 9n}),
			busy: fc.constantFrom(1, 8, 1000),
		}),
		fc.record({type: fc.constant('restart' as const)}),
		fc.record({type: fc.constant('ask' as const), query: queries}),
	),
	{minLength: 6, maxLength: MAX_LENGTH},
);

type Query = typeof queries extends fc.Arbitrary<infer T> ? T : never;

/** The first of `links` are links; the others were deleted. */
type Labels = Map<string, {tags: string[]; channel: string}>;

const FILTERS = {tag: 'spring', channel: 'push', link: links[0] ?? ''};

const ask = async (organizationId: string, {bounds, interval, timezone, by, filter}: Query) => {
	const [from, to] = bounds?.map((at) => new Date(at).toISOString()) ?? [];
	const query = new URLSearchParams({
		interval,
		timezone,
		...(by === null ? {} : {by: by.join(',')}),
		...(filter === null ? {} : {[filter]: FILTERS[filter]}),
		...(from === undefined || to === undefined ? {} : {from, to}),
	});
	return statsOf(service, {id: organizationId}, String(query));
};

const addLinks = async (organizationId: string): Promise<Labels> => {
	const tagsOf = [['spring', 'sale'], ['spring'], [], ['sale']];
	const labels: Labels = new Map(
		tagsOf.map((tags, index) => [links[index] ?? '', {tags, channel: index < 2 ? 'push' : 'sms'}]),
	);
	for (const [id, {tags, channel}] of labels) {
		await service.services.db.raw(
			`INSERT INTO links (id, organization_id, domain_id, short_code, tags, channel, is_active, created_at, updated_at)
			SELECT ?, ?, id, ?, ?, ?, true, now(), now() FROM domains WHERE organization_id IS NULL`,
			[id, organizationId, `code${id.slice(0, 8)}`, tags, channel],
		);
	}

	return labels;
};

const isOf = (labels: Labels, filter: keyof typeof FILTERS, id: string | null): boolean => {
	const {tags = [], channel} = labels.get(id ?? '') ?? {};
	return {tag: tags.includes(FILTERS.tag), channel: channel === FILTERS.channel, link: id === FILTERS.link}[filter];
};

test.serial(
	'a report counts every row once, whatever has been rolled up, and what was dropped, whatever the filter',
	async (t) => {
		// Stories are long, and a machine may be busy.
		t.timeout(180_000);
		const {services} = service;
		// For the transactions that stories leave open: four would take all sessions of the service.
		const others = createDb(service.databaseUrl, {poolSize: MAX_LENGTH});
		t.teardown(() => closeDb(others));
		await fc.assert(
			fc.asyncProperty(steps, queries, async (story, last) => {
				const {id} = await organization(service, {appConfig: null});
				const labels = await addLinks(id);
				const stored: Row[] = [];
				const open: Array<() => Promise<void>> = [];
				const commit = async () => {
					for (const end of open.splice(0)) {
						await end();
					}
				};
				const compare = async (query: Query) => {
					const body = await ask(id, query);
					const {totals, series, breakdowns} = body;
					// A counterexample must throw.
					const {by, filter} = query;
					const isChosen = (row: Row): boolean => filter === null || isOf(labels, filter, row.link);
					const expected = countRows(stored.filter(isChosen), body, {by, tagsOf: (one) => labels.get(one)?.tags ?? []});
					assert.deepEqual({totals, series, breakdowns}, expected);
				};
				const compareDropped = async ({bounds, ...query}: Query) => {
					// Rows of a part of a quarter of an hour are gone.
					const [first = 0, last = 0] = bounds?.map((at) => Math.floor(at / QUARTER_MS) * QUARTER_MS) ?? [];
					const {by, filter} = query;
					const whole = bounds === null ? null : [first, Math.max(last, first + QUARTER_MS)];
					const body = await ask(id, {...query, bounds: whole});
					const chosen = stored.filter((row) => filter === null || isOf(labels, filter, row.link));
					const count = (rows: Row[]) => countRows(rows, body, {by, tagsOf: (one) => labels.get(one)?.tags ?? []});
					const {totals, series} = count(chosen);
					assert.deepEqual({totals: body.totals, series: body.series}, {totals, series});
					const from = Date.parse(body.from);
					const isLess = filter !== null && from < BASE;
					assert.equal(body.breakdownsSince, isLess ? new Date(BASE).toISOString() : undefined);
					if (filter !== null) {
						const {breakdowns} = count(chosen.filter(({kind, at}) => kind !== 'click' || at >= BASE));
						assert.deepEqual(body.breakdowns, breakdowns);
					} else if ([from, Date.parse(body.to)].every((at) => at % (4 * QUARTER_MS) === 0)) {
						assert.deepEqual(body.breakdowns, count(chosen).breakdowns);
					} else {
						for (const name of by?.filter((one) => one !== 'tag' && one !== 'matchMethod') ?? []) {
							const listed: Array<{count: number}> = body.breakdowns[name];
							assert.equal(
								listed.reduce((sum, one) => sum + one.count, 0),
								totals.clicks,
							);
						}
					}
				};
				try {
					for (const step of story) {
						if (step.type === 'store') {
							await storeRows(service, id, step.rows);
							stored.push(...step.rows);
						} else if (step.type === 'begin') {
							const trx = await others.transaction();
							await storeRows(service, id, step.rows, trx);
							open.push(async () => {
								await trx.commit();
								stored.push(...step.rows);
							});
						} else if (step.type === 'commit') {
							await commit();
						} else if (step.type === 'roll') {
							const {only, stepTransactions, busy} = step;
							let left = only ?? Number.POSITIVE_INFINITY;
							while (left > 0 && (await rollUpStep(services.db, {stepTransactions, busy}))) {
								left -= 1;
							}
						} else if (step.type === 'restart') {
							await commit();
							await services.db.raw('UPDATE rollups SET cluster = 1');
							await compare(last);
							// It waits for open transactions, so none may begin before.
							await rollUpStep(services.db);
						} else {
							await compare(step.query);
						}
					}

					await commit();
					await compare(last);
					await rollUp(services.db, undefined, {busy: 8});
					await compare(last);
					await compare({...last, bounds: null});
					await compare({...last, bounds: null, filter: null, by: ['tag', 'utmCampaign', 'link', 'deviceModel']});
					assert.equal((await dropOldClicks(services.db, {now: new Date(BASE), days: 0})).left, null);
					for (const filter of [null, 'tag', 'channel', 'link'] as const) {
						await compareDropped({...last, filter});
					}

					const turn = [BASE - 3 * DAY_MS - QUARTER_MS, BASE + 3 * DAY_MS];
					await compareDropped({...last, bounds: turn, filter: null, by: ['platform', 'utmCampaign', 'link']});
					await compareDropped({...last, bounds: turn, filter: 'tag', timezone: 'Asia/Kathmandu', interval: 'day'});
				} finally {
					await commit();
					// Or every restart would add up all stories before this one.
					await services.db('clicks').where({organization_id: id}).delete();
					await services.db('organizations').where({id}).delete();
					await ensurePartitions();
				}
			}),
			// Shrinking takes longer than the test may.
			{numRuns: Number(process.env['RUNS'] ?? 12), includeErrorInReport: true, endOnFailure: true},
		);
		t.pass();
	},
);
