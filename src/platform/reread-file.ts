import type {Stats} from 'node:fs';
import {stat} from 'node:fs/promises';
import type {Logger} from 'pino';

/** A text that differs between two contents of a file, and once it may be read. */
export const stampOf = ({ino, mtimeMs, ctimeMs, size}: Stats): string => `${ino} ${mtimeMs} ${ctimeMs} ${size}`;

type Options<T extends object> = {
	/** The variable that names the file. */
	variable: string;
	file: string;
	/** @throws for a file that cannot be used. */
	load: (file: string) => Promise<T>;
	log: Pick<Logger, 'warn'>;
	/** The contents of an earlier read. */
	first?: {contents: T; stamp: string};
};

/**
 * The contents of a file that is read again when it has changed. While the file cannot be used, its former contents stay
 * in use; each fault is logged once.
 */
export const createRereadFile = <T extends object>({variable, file, load, log, first}: Options<T>) => {
	let contents: T | null = first?.contents ?? null;
	let seen = first?.stamp ?? null;
	let fault: string | null = null;

	/** A file that changes while it is read, such as an incomplete copy, is read again the next time. */
	const read = async (): Promise<void> => {
		const stamp = await stat(file).then(stampOf, (error: unknown) => {
			// A file that is moved away and back is read again.
			seen = null;
			throw error;
		});
		if (stamp === seen) {
			return;
		}

		const loaded: T = await load(file).finally(async () => {
			seen = stampOf(await stat(file)) === stamp ? stamp : null;
		});
		if (seen !== null) {
			contents = loaded;
			fault = null;
		}
	};

	return {
		/** Null before it is first read. */
		contents: (): T | null => contents,
		/** The fault of the file as it is now; null if it is in use. */
		fault: (): string | null => fault,
		refresh: async (): Promise<void> => {
			try {
				await read();
			} catch (error) {
				const {message} = error as Error;
				if (message !== fault) {
					log.warn({err: error}, `${variable} could not be used; its former contents stay in use`);
				}

				fault = message;
			}
		},
	};
};
