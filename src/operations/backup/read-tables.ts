import type {Table} from '../../platform/db/migrate.ts';
import {required} from '../../platform/errors.ts';
import {altered, type BackupHead, type BackupTotals, MAX_MONTHS, otherTables} from './archive-format.ts';
import type {ArchivePart} from './read-archive.ts';

type Parts = AsyncIterator<ArchivePart, undefined>;

/** @throws BackupError. */
export const readHead = async (parts: Parts): Promise<BackupHead> => {
	const first = await parts.next();
	if (first.done || first.value.kind !== 'head') {
		throw altered('its beginning');
	}

	return first.value.head;
};

/** Finds the months of `clicks` rows. @returns the first day of each month not seen before. @throws BackupError. */
export const createMonths = () => {
	const seen = new Set<string>();
	return (rows: readonly string[]): string[] => {
		const before = seen.size;
		for (const row of rows) {
			const {occurred_at: at} = JSON.parse(row) as {occurred_at?: unknown};
			const [month] = (typeof at === 'string' && /^\d{4}-(?:0[1-9]|1[0-2])(?=-)/.exec(at)) || [];
			seen.add(`${required(month, () => altered('a row of the table clicks'))}-01`);
		}

		if (seen.size > MAX_MONTHS) {
			throw altered('the time of clicks');
		}

		return [...seen].slice(before);
	};
};

/**
 * Reads the tables behind the head of a backup.
 * @param tables all that it must have, and no others. @param onRows gets their rows.
 * @returns the trailer. @throws BackupError, and what `onRows` throws.
 */
export const readTables = async <Own extends Table>(
	parts: Parts,
	tables: readonly Own[],
	onRows: (table: Own, rows: string[]) => Promise<void>,
): Promise<BackupTotals> => {
	const missing = new Map(tables.map((table) => [table.name, table]));
	let table: Own | undefined;
	for (let next = await parts.next(); !next.done; next = await parts.next()) {
		const part = next.value;
		if (part.kind === 'table') {
			table = missing.get(part.name);
			if (!missing.delete(part.name) && tables.some(({name}) => name === part.name)) {
				throw altered(`the table ${part.name}`);
			}

			if (table?.columns.toSorted().join() !== part.columns.toSorted().join()) {
				throw otherTables(part.name);
			}
		} else if (part.kind === 'rows' && table !== undefined) {
			await onRows(table, part.rows);
		} else if (part.kind === 'end') {
			const [lost] = missing.keys();
			if (lost !== undefined) {
				throw otherTables(lost);
			}

			// Also verifies that nothing follows the end.
			await parts.next();
			return part.totals;
		}
	}

	throw altered('its end');
};
