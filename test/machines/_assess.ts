import pg from 'pg';
import {shownIn} from '../visits/clicks/_process.ts';
import type {Observed} from './_load.ts';

const missingOf = (wanted: readonly string[], there: ReadonlySet<string>): number =>
	wanted.filter((one) => !there.has(one)).length;

/**
 * What was acknowledged and is not in the database, or more than once. All of them must be 0.
 * @param rows ids of the raw clicks, where they are in ClickHouse.
 */
export const countFaults = async (
	databaseUrl: string,
	{tokens, links, events, matched, stale}: Observed,
	rows: readonly string[] | null = null,
) => {
	const client = new pg.Client({connectionString: databaseUrl});
	await client.connect();
	const column = async (sql: string): Promise<string[]> =>
		(await client.query<{value: string}>(sql)).rows.map(({value}) => value);
	const doubled = (values: readonly string[]) => values.length - new Set(values).size;
	try {
		const shown = await column('SELECT click_id AS value FROM match_clicks');
		const clicks = rows ?? (await column('SELECT id AS value FROM clicks'));
		const [counted = '0'] = await column('SELECT sum(clicks)::text AS value FROM click_counts');
		const made = await column("SELECT path AS value FROM links WHERE path LIKE '/made/%'");
		const ids = await column("SELECT id AS value FROM links WHERE path LIKE '/made/%'");
		const kept = await column('SELECT event_id AS value FROM events WHERE event_id IS NOT NULL');
		const consumed = await column('SELECT id AS value FROM match_clicks WHERE consumed_at IS NOT NULL');
		const attempts = await column(
			"SELECT click_id AS value FROM match_attempts WHERE matched AND method = 'CLIPBOARD'",
		);
		const tokenIds = await column('SELECT id AS value FROM match_clicks');
		return {
			'clicks lost': missingOf(shownIn([{tokens}]), new Set(tokenIds)) + missingOf(shown, new Set(clicks)),
			'clicks doubled': doubled(clicks) + doubled(shown),
			'clicks counted wrongly': Math.abs(Number(counted) - clicks.length),
			'links lost': missingOf([...links.values()], new Set(ids)),
			'links doubled': doubled(made),
			'events lost': missingOf(events, new Set(kept)),
			'events doubled': doubled(kept),
			'matches lost': missingOf(shownIn([{tokens: matched}]), new Set(consumed)),
			'matches doubled': doubled(matched) + doubled(attempts),
			'stale answers': stale.length,
		};
	} finally {
		await client.end();
	}
};

const percentile = (values: number[], share: number): number =>
	Math.round(values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ?? 0);

/** How pages were answered from a moment on. */
export const pagesSince = ({pages}: Observed, from: number) => {
	const since = pages.filter(({at, took}) => at + took >= from);
	const took = since.map((one) => one.took);
	return {
		answered: since.filter(({status}) => status === 200).length,
		refused: since.filter(({status}) => status !== 200).length,
		median: percentile(took, 0.5),
		p99: percentile(took, 0.99),
		longest: percentile(took, 1),
	};
};

/** The longest time from a moment on in which no write of a kind was acknowledged, in seconds. */
export const gapSince = ({writes}: Observed, kind: keyof Observed['writes'], from: number): number => {
	const well = kind === 'creates' ? 201 : 200;
	const times = writes[kind].filter(({status}) => status === well).map(({at, took}) => at + took);
	const since = [from, ...times.filter((at) => at >= from)].toSorted((one, other) => one - other);
	return Math.max(...since.slice(1).map((at, index) => at - (since[index] ?? at))) / 1000;
};
