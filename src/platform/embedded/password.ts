import {createHash, createHmac, pbkdf2Sync, randomBytes} from 'node:crypto';
import {link, readFile, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {EmbeddedPostgresError, elsewhere, errorCode} from './embedded-errors.ts';
import {draftPrefix} from './location.ts';

const fileOf = (dataDir: string): string => path.join(dataDir, 'postgres-password');

/** Accepted by every PostgreSQL client. A password of 256 random bits needs only one iteration. */
const ITERATIONS = 4096;

/**
 * Creates the embedded database's password if DATA_DIR has none. The file gets its name when it is complete, and of
 * two first starts the second keeps the first's. Its owner is Oplink's user, not PostgreSQL's.
 */
export const makePassword = async (dataDir: string): Promise<void> => {
	const draft = path.join(dataDir, `${draftPrefix()}${randomBytes(6).toString('hex')}`);
	const text = `${randomBytes(32).toString('base64url')}\n`;
	try {
		// A database that survived a power cut without its password could never be opened again.
		await writeFile(draft, text, {mode: 0o600, flag: 'wx', flush: true});
		await link(draft, fileOf(dataDir));
	} catch (error) {
		if (errorCode(error) !== 'EEXIST') {
			throw error;
		}
	} finally {
		await rm(draft, {force: true});
	}
};

/** The embedded database's password. Throws an EmbeddedPostgresError that names the file if it cannot be read. */
export const readPassword = async (dataDir: string): Promise<string> => {
	const file = fileOf(dataDir);
	const text = await readFile(file, 'utf8').catch((error) => {
		throw new EmbeddedPostgresError(
			errorCode(error) === 'ENOENT'
				? `${file} with the password of the database is missing. Bring it back from a copy of DATA_DIR. ${elsewhere}`
				: `${file} with the password of the database cannot be read by this user (${errorCode(error)}).`,
		);
	});
	return text.trim();
};

/** The message for a rejected password, naming its file. */
export const wrongPassword = (dataDir: string): EmbeddedPostgresError =>
	new EmbeddedPostgresError(
		`The database refuses the password in ${fileOf(dataDir)}. Bring back the file that belongs to this database.`,
	);

/**
 * The SCRAM-SHA-256 verifier that PostgreSQL stores (RFC 5803). It does not allow a login, so processes of another user
 * may see it.
 */
export const createVerifier = (password: string): string => {
	const salt = randomBytes(16);
	const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
	const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
	const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
	return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
};
