import {copyFileSync, linkSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import type {Logger} from 'pino';
import {type Damage, segmentPath} from './segments.ts';

/** Handles bytes of a journal file that form no complete frame, before the drain skips them. */
export type OnDamage = (folder: string, damage: Damage) => void;

/**
 * The folder for copies of damaged files, beside the journals of all databases. Nothing drains or removes it.
 * @param folder the journal's folder.
 */
export const keptPath = (folder: string, segment: number): string =>
	path.join(folder, '..', '..', 'damaged', `${path.basename(folder)}-${path.basename(segmentPath(folder, segment))}`);

const keep = (from: string, to: string): void => {
	mkdirSync(path.dirname(to), {recursive: true, mode: 0o700});
	try {
		linkSync(from, to);
	} catch (error) {
		// Copied already, for other damage in the same file or by an attempt that failed later.
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
			// File systems without hard links.
			copyFileSync(from, to);
		}
	}
};

/** Keeps a copy of each damaged file and logs each damaged range once. */
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
