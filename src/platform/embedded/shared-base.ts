import {chmod, mkdir} from 'node:fs/promises';
import {EmbeddedPostgresError, elsewhere, errorCode} from './embedded-errors.ts';

/**
 * Root's folder for files that an unprivileged PostgreSQL could not reach elsewhere, such as below /root. Only root
 * writes here; everyone may traverse it.
 */
export const sharedBase = '/var/lib/oplink';

export const makeSharedBase = async (): Promise<string> => {
	try {
		const created = await mkdir(sharedBase, {recursive: true});
		if (created !== undefined) {
			await chmod(sharedBase, 0o755);
		}
	} catch (error) {
		throw new EmbeddedPostgresError(
			`PostgreSQL does not run as root, and ${sharedBase}, where another user could reach it, could not be made ` +
				`(${errorCode(error)}). Run as an ordinary user, or with a DATA_DIR that others may enter. ${elsewhere}`,
		);
	}

	return sharedBase;
};
