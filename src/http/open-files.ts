import {readFileSync} from 'node:fs';

/** Files that a process has open beside its connections: the database, Redis, the journal, what Node itself needs. */
const OTHER_FILES = 128;

/** How many files the system lets this process have open; null where it does not say. Node raises it to what is allowed. */
const openFilesLimit = (): number | null => {
	try {
		const [, limit = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
		return limit === '' ? null : Number(limit);
	} catch {
		// Linux alone has this file.
		return null;
	}
};

/** Of the connections that are wanted as many as this process can have: without a file for it none is accepted. */
export const connectionsWithin = (wanted: number, limit = openFilesLimit()): number =>
	limit === null ? wanted : Math.max(1, Math.min(wanted, limit - OTHER_FILES));
