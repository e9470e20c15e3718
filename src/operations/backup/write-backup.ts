import type {Db} from '../../platform/db/db.ts';
import {migrationStatus} from '../../platform/db/migrate.ts';
import {type BackupTotals, nothingToBackUp} from './archive-format.ts';
import {listTables} from './backup-tables.ts';
import {createArchiveWriter} from './write-archive.ts';

const BATCH = 1000;

/** Rows as JSON, one per line; PostgreSQL's line breaks occur only between values. */
const readRows = async (trx: Db): Promise<string[]> => {
	const {rows} = await trx.raw<{rows: Array<{line: string}>}>(`FETCH ${BATCH} FROM backup`);
	return rows.map(({line}) => line);
};

type Facts = {
	program: string;
	now: Date;
	/** Rows of `clicks` that are outside PostgreSQL; null: it has them. Asked once the database is known to have tables. */
	clicksElsewhere: () => Promise<AsyncIterable<string[]> | null>;
	onEnd: (totals: BackupTotals) => void;
};

/**
 * The text of a backup, streamed with backpressure: a consistent snapshot of all tables while others write.
 * @param onEnd receives the counts at the end.
 */
export async function* backupText(db: Db, {program, now, clicksElsewhere, onEnd}: Facts): AsyncGenerator<string> {
	const trx = await db.transaction({isolationLevel: 'repeatable read', readOnly: true});
	try {
		const archive = createArchiveWriter();
		const {rows: versions} = await trx.raw<{rows: Array<{version: string}>}>(
			"SELECT current_setting('server_version') AS version",
		);
		const applied = (await migrationStatus(trx)).filter(({appliedAt}) => appliedAt !== null);
		if (applied.length === 0) {
			throw nothingToBackUp();
		}

		const clicks = await clicksElsewhere();

		yield archive.head({
			program,
			madeAt: now.toISOString(),
			postgres: versions[0]?.version ?? '',
			migrations: applied.map(({name}) => name),
		});
		for (const {name, columns} of await listTables(trx)) {
			yield archive.table(name, columns);
			if (name === 'clicks' && clicks !== null) {
				for await (const rows of clicks) {
					yield archive.rows(rows);
				}

				yield archive.endOfTable();
				continue;
			}

			await trx.raw(
				`DECLARE backup NO SCROLL CURSOR FOR
				SELECT replace(CAST(row_to_json(one) AS text), chr(10), ' ') AS line FROM ?? AS one`,
				[name],
			);
			for (let rows = await readRows(trx); rows.length > 0; rows = await readRows(trx)) {
				yield archive.rows(rows);
			}

			await trx.raw('CLOSE backup');
			yield archive.endOfTable();
		}

		const {text, totals} = archive.end();
		yield text;
		onEnd(totals);
	} finally {
		await trx.rollback();
	}
}
