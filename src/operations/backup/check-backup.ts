import {knownMigrations, tablesOf} from '../../platform/db/migrate.ts';
import {required} from '../../platform/errors.ts';
import {altered, type BackupHead, type BackupTotals, requireKnown} from './archive-format.ts';
import {isData} from './backup-tables.ts';
import {type ArchivePart, readArchive} from './read-archive.ts';
import {createMonths, readHead, readTables} from './read-tables.ts';

/** Whether a line is a JSON object of these columns. */
const isRow = (line: string, columns: ReadonlySet<string>): boolean => {
	try {
		const names = Object.keys(JSON.parse(line) as object);
		return names.length === columns.size && names.every((name) => columns.has(name));
	} catch {
		// Not JSON, so not a row.
		return false;
	}
};

/** The parts of a backup, each row of which has the columns of its table. @throws BackupError. */
async function* withValidRows(lines: AsyncIterable<string>): AsyncGenerator<ArchivePart, undefined> {
	let table = {name: '', columns: new Set<string>(), rows: 0};
	for await (const part of readArchive(lines)) {
		if (part.kind === 'table') {
			table = {name: part.name, columns: new Set(part.columns), rows: 0};
		} else if (part.kind === 'rows') {
			for (const line of part.rows) {
				table.rows += 1;
				if (!isRow(line, table.columns)) {
					throw altered(`row ${table.rows} of the table ${table.name}`);
				}
			}
		}

		yield part;
	}
}

/** Verifies a backup that was just written. @returns its trailer. @throws BackupError. */
export const readBack = async (lines: AsyncIterable<string>): Promise<BackupTotals> => {
	let totals: BackupTotals | undefined;
	for await (const part of withValidRows(lines)) {
		totals = part.kind === 'end' ? part.totals : undefined;
	}

	return required(totals, () => altered('its end'));
};

export type CheckedBackup = BackupTotals & Pick<BackupHead, 'program' | 'madeAt'>;

/**
 * Checks a backup without a database: this version must know its migrations, and it must have their tables. Values
 * and constraints are PostgreSQL's to judge. @throws BackupError.
 */
export const checkBackup = async (lines: AsyncIterable<string>): Promise<CheckedBackup> => {
	const parts = withValidRows(lines);
	const head = await readHead(parts);
	requireKnown(head, await knownMigrations());
	const newMonths = createMonths();
	const tables = (await tablesOf(head.migrations)).filter(isData);
	const totals = await readTables(parts, tables, async ({name}, rows) => {
		if (name === 'clicks') {
			newMonths(rows);
		}
	});
	return {...totals, program: head.program, madeAt: head.madeAt};
};
