import {setTimeout as delay} from 'node:timers/promises';
import {Client} from 'pg';
import {clickColumns} from '../../src/visits/clicks/journal/entry.ts';
import {matchColumns, timeOrderedId} from '../../src/visits/matches/open-match.ts';
import {copyRows} from './copy-rows.ts';
import {type Figure, figure} from './figure.ts';
import {type Installation, type Server, visits} from './installation.ts';
import {cpuSeconds} from './processes.ts';
import type {Measure, Stage} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

const HOT_LINKS = 1000;
const BATCH = 10_000;

type Sample = {rate: number; cpu: number};

const counted = async ({client}: Installation): Promise<number> => {
	const {rows} = await client.query('SELECT coalesce(sum(clicks), 0) AS clicks FROM click_counts');
	return Number(rows[0].clicks);
};

type Drained = {clicks: number; tail: string; postmaster: number};

/** Lets clicks pile up in the journal while the table is locked, and takes the time that they need afterwards. */
const drain = async (installation: Installation, server: Server, {clicks, tail, postmaster}: Drained) => {
	const blocker = new Client({connectionString: installation.databaseUrl});
	await blocker.connect();
	await installation.failures();
	const before = await counted(installation);
	await blocker.query('BEGIN');
	await blocker.query('LOCK TABLE clicks IN SHARE MODE');
	const {answered, bad} = await installation.measure([server], {
		connections: 64,
		seconds: 600,
		most: clicks,
		request: visits(installation, HOT_LINKS, tail),
	});
	installation.expect(answered - bad);
	const used = cpuSeconds([server.pid], postmaster);
	await blocker.query('COMMIT');
	const end = before + answered - bad;
	// From the first batch that is there: it was on its way when the table was locked.
	let [first, since, now] = [before, 0, before];
	while (now < end) {
		now = await counted(installation);
		if (since === 0 && now > before) {
			[first, since] = [now, performance.now()];
		}

		await delay(5);
	}

	const took = (performance.now() - since) / 1000;
	const cpu = ((cpuSeconds([server.pid], postmaster) - used) * 1e6) / (answered - bad);
	await blocker.end();
	return {rate: (end - first) / took, cpu};
};

/** Rows like those that are stored, with ids and tokens of their own, as COPY reads them. */
const rowsLike = async (client: Client, count: number, isPage: boolean) => {
	const read = async (table: string, columns: readonly string[]): Promise<string[]> => {
		const fields = columns.map((column) => `replace(CAST(${column} AS text), '\\', '\\\\')`);
		const {rows} = await client.query(
			`SELECT array_to_string(ARRAY[${fields.join(', ')}], E'\\t', '\\N') AS line FROM ${table} LIMIT $1`,
			[count],
		);
		const now = new Date();
		// The id is the first column, and in the order of time as that of every click.
		return rows.map(({line}) => `${timeOrderedId(now)}${line.slice(36)}\n`);
	};
	return {clicks: await read('clicks', clickColumns), matches: isPage ? await read('match_clicks', matchColumns) : []};
};

type Rows = Awaited<ReturnType<typeof rowsLike>>;

/** COPY of the same rows in transactions of 10,000 clicks, on one connection. */
const copy = async (client: Client, {clicks, matches}: Rows, postmaster: number): Promise<Sample> => {
	const used = cpuSeconds([], postmaster);
	const began = performance.now();
	for (let from = 0; from < clicks.length; from += BATCH) {
		const batch = (rows: string[]) => rows.slice(from, from + BATCH).join('');
		await client.query('BEGIN');
		await copyRows(client, `COPY clicks (${clickColumns}) FROM STDIN`, batch(clicks));
		if (matches.length > 0) {
			await copyRows(client, `COPY match_clicks (${matchColumns}) FROM STDIN`, batch(matches));
		}

		await client.query('COMMIT');
	}

	const took = (performance.now() - began) / 1000;
	return {rate: clicks.length / took, cpu: ((cpuSeconds([], postmaster) - used) * 1e6) / clicks.length};
};

const compare = async ({installation: open, quick, rounds, postmaster}: Stage, tail: string): Promise<Figure> => {
	const clicks = quick ? 20_000 : 50_000;
	const installation = await open({links: HOT_LINKS});
	const server = await installation.start();
	// The first clicks make the month's partition, which the lock would forbid, and are what rows are like.
	const first = await installation.measure([server], {
		connections: 64,
		seconds: 600,
		most: clicks,
		request: visits(installation, HOT_LINKS, tail),
	});
	installation.expect(first.answered - first.bad);
	const samples = await inTurns<Sample>(Math.min(rounds, 3), {
		journal: () => drain(installation, server, {clicks, tail, postmaster}),
		copy: async () => {
			const rows = await rowsLike(installation.client, clicks, tail === '');
			installation.expect(rows.clicks.length);
			const sample = await copy(installation.client, rows, postmaster);
			return sample;
		},
	});
	const failures = await installation.failures();
	await installation.close();
	const rates = (which: string) => samples(which).map(({rate}) => rate);
	const cpu = (which: string) => samples(which).map((sample) => sample.cpu);
	return figure({
		name: `ingest of clicks of ${tail === '' ? 'pages' : tail} ÷ COPY of 10,000 rows`,
		...ratioOf(rates('journal'), rates('copy')),
		bar: {atLeast: 0.9},
		notes: ['journal', 'copy'].map(
			(which) =>
				`${which}: ${Math.round(median(rates(which)))} clicks/s, ${median(cpu(which)).toFixed(1)} µs of CPU a click`,
		),
		failures,
	});
};

/** How fast what waits in the journal comes into the tables, against COPY of rows like it into the same tables. */
export const ingest: Measure = {
	name: 'ingest',
	measure: async (stage) => [await compare(stage, ''), await compare(stage, '/data')],
};
