import {readFileSync} from 'node:fs';

/** Open files besides connections: the database, Redis, the journal, those of Node itself. */
const OTHER_FILES = 128;

/** The limit of open files of this process; null if unknown. Node raises it to the hard limit. */
const openFilesLimit = (): number | null => {
	try {
		const [, limit = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
		return limit === '' ? null : Number(limit);
	} catch {
		// Only Linux has this file.
		return null;
	}
};

/** The wanted number of connections, bounded by the limit of open files, of which each connection needs one. */
export const connectionsWithin = (wanted: number, limit = openFilesLimit()): number =>
	limit === null ? wanted : Math.max(1, Math.min(wanted, limit - OTHER_FILES));
