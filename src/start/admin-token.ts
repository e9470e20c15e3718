import {randomBytes} from 'node:crypto';
import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {type Config, ConfigError} from '../platform/config/config.ts';

/**
 * The admin bearer secret: the configured one, else the one in `DATA_DIR/admin-token`, which the first start creates
 * (mode 0600). The flag `wx` lets one of two first starts write it; the other reads.
 * @throws ConfigError if the file holds no valid token.
 */
export const readAdminToken = async ({
	adminToken,
	dataDir,
}: Pick<Config, 'adminToken' | 'dataDir'>): Promise<string> => {
	if (adminToken !== null) {
		return adminToken;
	}

	const file = path.join(dataDir, 'admin-token');
	await writeFile(file, `${randomBytes(32).toString('base64url')}\n`, {mode: 0o600, flag: 'wx'}).catch(
		(error: unknown) => {
			if ((error as {code?: string}).code !== 'EEXIST') {
				throw error;
			}
		},
	);
	const token = (await readFile(file, 'utf8')).trim();
	if (!/^[\x21-\x7e]{32,}$/.test(token)) {
		throw new ConfigError([
			`${file} contains no admin token of at least 32 characters; remove it to generate a new one`,
		]);
	}

	return token;
};
