import {createHash} from 'node:crypto';
import {type BackupHead, type BackupTotals, FORMAT} from './archive-format.ts';

/** Formats the lines of a backup, and computes their counts and checksums. */
export const createArchiveWriter = () => {
	const contents = createHash('sha256');
	let table = {name: '', rows: 0, hash: createHash('sha256')};
	const totals = {tables: 0, rows: 0};
	const line = (mark: unknown[]): string => {
		const text = `${JSON.stringify(mark)}\n`;
		contents.update(text);
		return text;
	};

	return {
		head: (head: BackupHead): string => line(['oplink backup', FORMAT, head]),
		table: (name: string, columns: string[]): string => {
			table = {name, rows: 0, hash: createHash('sha256')};
			return line(['table', name, columns]);
		},
		/** @param rows each a JSON object without a line break. */
		rows: (rows: string[]): string => {
			const text = rows.map((row) => `${row}\n`).join('');
			table.rows += rows.length;
			table.hash.update(text);
			contents.update(text);
			return text;
		},
		endOfTable: (): string => {
			totals.tables += 1;
			totals.rows += table.rows;
			return line(['end of table', table.name, {rows: table.rows, sha256: table.hash.digest('hex')}]);
		},
		end: (): string => {
			const all: BackupTotals = {...totals, sha256: contents.digest('hex')};
			return `${JSON.stringify(['end of backup', all])}\n`;
		},
	};
};
