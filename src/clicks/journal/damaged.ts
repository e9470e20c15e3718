import {copyFileSync, linkSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import type {Logger} from 'pino';
import {type Damage, segmentPath} from './segments.ts';

/** What is done with bytes of a journal's file that are no whole frame, before they are left out. */
export type OnDamage = (folder: string, damage: Damage) => void;

/**
 * Where a damaged file is kept: beside the journals of all databases, where nothing drains or removes it.
 * @param folder that of its journal.
 */
export const keptPath = (folder: string, segment: number): string =>
	path.join(folder, '..', '..', 'damaged', `${path.basename(folder)}-${path.basename(segmentPath(folder, segment))}`);

const keep = (from: string, to: string): void => {
	mkdirSync(path.dirname(to), {recursive: true, mode: 0o700});
	try {
		linkSync(from, to);
	} catch (error) {
		// Kept already, for other bytes of the same file or by an attempt that failed later.
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
			// File systems without links.
			copyFileSync(from, to);
		}
	}
};

/** Keeps each damaged file, and logs each of its damaged parts once. */
export const createDamageKeeper = (log: Logger): OnDamage => {
	const logged = new Set<string>();
	return (folder, damage) => {
		const file = keptPath(folder, damage.segment);
		keep(segmentPath(folder, damage.segment), file);
		const part = `${file}:${damage.position}`;
		if (!logged.has(part)) {
			logged.add(part);
			const {position: offset, bytes} = damage;
			log.error({file, offset, bytes}, 'part of a click journal is unreadable; skipping it and keeping the file');
		}
	};
};
