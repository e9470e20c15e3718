import type {Db} from '../../platform/db/db.ts';
import {migrationStatus} from '../../platform/db/migrate.ts';
import {byCursor, run, sql} from '../../platform/db/sql.ts';
import {createArchiveWriter, nothingToBackUp} from './archive-format.ts';
import {listTables, rowsAsJson} from './backup-tables.ts';

const BATCH = 1000;

type BackupSource = {
	program: string;
	now: Date;
	/** The rows of `clicks` if they are outside PostgreSQL, else null. Called once the database is known to have tables. */
	clicksOutside: () => Promise<AsyncIterable<string[]> | null>;
};

/** The text of a backup, streamed with backpressure: a consistent snapshot of all tables while others write. */
export async function* backupText(db: Db, {program, now, clicksOutside}: BackupSource): AsyncGenerator<string> {
	const trx = await db.transaction({isolationLevel: 'repeatable read', readOnly: true});
	try {
		const archive = createArchiveWriter();
		const versions = await run<{version: string}>(trx, sql`SELECT current_setting('server_version') AS version`);
		const applied = (await migrationStatus(trx)).filter(({appliedAt}) => appliedAt !== null);
		if (applied.length === 0) {
			throw nothingToBackUp();
		}

		const clicks = await clicksOutside();

		yield archive.head({
			program,
			madeAt: now.toISOString(),
			postgres: versions[0]?.version ?? '',
			migrations: applied.map(({name}) => name),
		});
		for (const table of await listTables(trx)) {
			const {name, columns} = table;
			yield archive.table(name, columns);
			const elsewhere = name === 'clicks' ? clicks : null;
			for await (const rows of elsewhere ?? byCursor(trx, rowsAsJson(table), BATCH)) {
				yield archive.rows(rows);
			}

			yield archive.endOfTable();
		}

		yield archive.end();
	} finally {
		await trx.rollback();
	}
}
