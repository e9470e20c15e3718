import {access, statfs} from 'node:fs/promises';
import path from 'node:path';
import {type Finding, findingsOf} from '../finding.ts';

const {warnIf, fail} = findingsOf('Disk');

const MEBIBYTE = 1024 * 1024;
/** With less, PostgreSQL may be unable to write soon. */
const MIN_BYTES = 256 * MEBIBYTE;
const WARNING_BYTES = 1024 * MEBIBYTE;

const sizeText = (bytes: number): string =>
	bytes >= 1024 * MEBIBYTE ? `${(bytes / 1024 / MEBIBYTE).toFixed(1)} GiB` : `${Math.floor(bytes / MEBIBYTE)} MiB`;

/** The finding for the free space. */
export const judgeSpace = (dataDir: string, freeBytes: number): Finding => {
	const message = `${sizeText(freeBytes)} free for DATA_DIR ${dataDir}`;
	const next = 'Free disk space, or move DATA_DIR to a larger disk';
	return freeBytes < MIN_BYTES
		? fail('disk.space', message, next)
		: warnIf(freeBytes < WARNING_BYTES, 'disk.space', message, next);
};

/** The free space for this user in DATA_DIR, or where it will be created. */
export const checkDisk = async (dataDir: string): Promise<Finding[]> => {
	let folder = dataDir;
	while (
		path.dirname(folder) !== folder &&
		!(await access(folder).then(
			() => true,
			() => false,
		))
	) {
		folder = path.dirname(folder);
	}

	try {
		const {bavail, bsize} = await statfs(folder);
		return [judgeSpace(dataDir, bavail * bsize)];
	} catch (error) {
		return [
			fail(
				'disk.space',
				`DATA_DIR ${dataDir} cannot be read: ${(error as Error).message}`,
				'Correct DATA_DIR, or its mode',
			),
		];
	}
};
