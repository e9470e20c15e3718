import type {Background} from '../../platform/background.ts';
import {DAY_MS} from '../../platform/clock.ts';
import type {Db} from '../../platform/db/db.ts';
import {execute, run, sql} from '../../platform/db/sql.ts';

/** An alias of the shared link domain with its visits of the last 30 days. */
type Alias = {hostname: string; visits: number; lastVisitAt: Date | null};

type AliasCount = {hostname: string; day: string; visits: number; last_at: Date};

const SHOWN_DAYS = 30;

/** Counts visits at aliases after their answer: visits that arrive during a statement are counted by the next one. */
export class AliasVisits {
	readonly #db: Db;
	readonly #background: Background;
	#waiting = new Map<string, AliasCount>();
	#storing: Promise<void> | null = null;

	constructor({db, background}: {db: Db; background: Background}) {
		this.#db = db;
		this.#background = background;
	}

	count(hostname: string, at: Date): void {
		const day = at.toISOString().slice(0, 10);
		const key = `${hostname} ${day}`;
		const visits = 1 + (this.#waiting.get(key)?.visits ?? 0);
		this.#waiting.set(key, {hostname, day, visits, last_at: at});
		if (this.#storing === null) {
			this.#storing = this.#storeAll();
			this.#background.run('count visits at aliases', this.#storing);
		}
	}

	/** The aliases in the order of the configuration. */
	async list(aliases: readonly string[], now: Date): Promise<{data: Alias[]}> {
		// `background` logs a failure.
		await this.#storing?.catch(() => {});
		const since = new Date(now.getTime() - SHOWN_DAYS * DAY_MS).toISOString().slice(0, 10);
		const data = await run<Alias>(
			this.#db,
			sql`SELECT alias AS hostname, CAST(coalesce(sum(visits) FILTER (WHERE day > ${since}::date), 0) AS float8) AS visits,
				max(last_at) AS "lastVisitAt"
				FROM unnest(${aliases}::text[]) WITH ORDINALITY AS wanted (alias, place)
				LEFT JOIN alias_visits ON hostname = alias GROUP BY alias, place ORDER BY place`,
		);
		return {data};
	}

	async #storeAll(): Promise<void> {
		try {
			while (this.#waiting.size > 0) {
				const counts = [...this.#waiting.values()];
				this.#waiting = new Map();
				await execute(
					this.#db,
					sql`INSERT INTO alias_visits SELECT * FROM json_to_recordset(${JSON.stringify(counts)}) AS sent
						(hostname text, day date, visits bigint, last_at timestamptz) ORDER BY hostname, day
						ON CONFLICT (hostname, day) DO UPDATE SET visits = alias_visits.visits + excluded.visits,
							last_at = greatest(alias_visits.last_at, excluded.last_at)`,
				);
			}
		} finally {
			this.#storing = null;
		}
	}
}
