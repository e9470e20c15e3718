import {createHash, createHmac, pbkdf2Sync, randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {chown, link, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {Binaries} from './binaries.ts';
import {EmbeddedPostgresError, errorCode, isAlive, orWhereExists, useExternal} from './embedded-errors.ts';
import {canEnter, clusterEntry, type Identity, isRoot, makeSharedBase, newClusterIdentity} from './location.ts';
import {spawnTethered} from './tether.ts';

/** The superuser of a cluster and owner of everything in it. */
export const CLUSTER_USER = 'oplink';

/** Written to the cluster's postgresql.conf, where an operator may change them. */
const SETTINGS = ['max_connections=200', 'jit=off', 'log_checkpoints=off', 'log_min_messages=log', 'log_timezone=UTC'];

// The socket is in a folder of the owner alone, but another process of that user, who may be `nobody`, can open it; the
// password keeps it out. C.UTF-8 sorts by code point and folds the case of every script, equally on all machines.
const INITDB_ARGUMENTS = [
	['-U', CLUSTER_USER, '--auth-local=scram-sha-256', '--auth-host=reject', '-E', 'UTF8'],
	['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
	SETTINGS.flatMap((setting) => ['-c', setting]),
].flat();

/** Accepted by every PostgreSQL client. A password of 256 random bits needs only one iteration. */
const ITERATIONS = 4096;

/** Name pattern of an unfinished cluster or password, with its creator's pid. */
const DRAFT = /^\.postgres-(\d+)-/;
const draftPrefix = `.postgres-${process.pid}-`;

const passwordFile = (dataDir: string): string => path.join(dataDir, 'postgres-password');

/**
 * Creates the embedded database's password if DATA_DIR has none. The file gets its name when it is complete, and of
 * two first starts the second keeps the first's. Its owner is Oplink's user, not PostgreSQL's.
 */
const makePassword = async (dataDir: string): Promise<void> => {
	const draft = path.join(dataDir, `${draftPrefix}${randomBytes(6).toString('hex')}`);
	try {
		// A database that survived a power cut without its password could never be opened again.
		await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, {mode: 0o600, flag: 'wx', flush: true});
		await orWhereExists(link(draft, passwordFile(dataDir)));
	} finally {
		await rm(draft, {force: true});
	}
};

/** The embedded database's password. Throws an EmbeddedPostgresError that names the file if it cannot be read. */
export const readPassword = async (dataDir: string): Promise<string> => {
	const file = passwordFile(dataDir);
	const text = await readFile(file, 'utf8').catch((error) => {
		throw new EmbeddedPostgresError(
			errorCode(error) === 'ENOENT'
				? `${file} with the password of the database is missing. Bring it back from a copy of DATA_DIR. ${useExternal}`
				: `${file} with the password of the database cannot be read by this user (${errorCode(error)}).`,
		);
	});
	return text.trim();
};

/** The error for a rejected password, naming its file. */
export const wrongPassword = (dataDir: string): EmbeddedPostgresError =>
	new EmbeddedPostgresError(
		`The database refuses the password in ${passwordFile(dataDir)}. Bring back the file that belongs to this database.`,
	);

/**
 * The SCRAM-SHA-256 verifier that PostgreSQL stores (RFC 5803). It does not allow a login, so processes of another user
 * may see it.
 */
const createVerifier = (password: string): string => {
	const salt = randomBytes(16);
	const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
	const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
	const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
	return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
};

/**
 * Runs initdb, which dies with this process or at the interruption: by SIGKILL, because its last step, which syncs all
 * files, ignores other signals for seconds.
 * @param pwfile a file with the superuser's password verifier.
 */
const initdb = async (
	binaries: Binaries,
	directory: string,
	{identity, pwfile, interruption}: {identity: Identity; pwfile: string; interruption: AbortSignal | undefined},
): Promise<void> => {
	interruption?.throwIfAborted();
	const {child} = spawnTethered([binaries.initdb, '-D', directory, `--pwfile=${pwfile}`, ...INITDB_ARGUMENTS], {
		signal: 'KILL',
		output: 'pipe',
		identity,
		...(interruption && {interruption}),
	});
	child.ref();
	child.stdout?.resume();
	let stderr = '';
	child.stderr?.setEncoding('utf8').on('data', (text) => {
		stderr += text;
	});
	// The children of initdb write to the same pipes: once these are closed, no child is left.
	const [code] = await once(child, 'close');
	interruption?.throwIfAborted();
	if (code !== 0) {
		throw new EmbeddedPostgresError(
			stderr.includes('could not look up effective user ID')
				? `The embedded PostgreSQL needs a user with a name, and the user with id ${identity.uid ?? process.getuid?.()} ` +
						`is not in /etc/passwd. Run as a user that is. ${useExternal}`
				: `The database could not be created in ${directory}: ${stderr.trim() || `initdb ended with ${code}`}`,
		);
	}
};

/** Removes unfinished clusters of dead processes. In a container each process may have the same pid as the one before. */
const removeAbandonedDrafts = async (parent: string): Promise<void> => {
	for (const name of await readdir(parent)) {
		const pid = Number(DRAFT.exec(name)?.[1]);
		// This process has no draft yet.
		if (pid === process.pid || (pid > 0 && !isAlive(pid))) {
			// A leftover initdb may still write; the rest is removed at the next start.
			await rm(path.join(parent, name), {recursive: true, force: true, maxRetries: 3}).catch(() => {});
		}
	}
};

/**
 * Creates the cluster of a DATA_DIR that has none. It is created aside and moved into place atomically: a killed
 * process leaves no partial cluster, and of two first starts the second finds the first's. At the interruption it removes
 * the draft and rejects.
 */
export const initCluster = async (
	binaries: Binaries,
	dataDir: string,
	interruption: AbortSignal | undefined,
): Promise<void> => {
	const identity = await newClusterIdentity();
	await makePassword(dataDir);
	const isReachable = !isRoot() || (await canEnter(identity, dataDir));
	const parent = isReachable ? dataDir : await makeSharedBase();
	await removeAbandonedDrafts(parent);
	const draft = await mkdtemp(path.join(parent, draftPrefix));
	const verifier = `${draft}-verifier`;
	let made = draft;
	let isOurs = false;
	try {
		await writeFile(verifier, `${createVerifier(await readPassword(dataDir))}\n`, {mode: 0o600, flag: 'wx'});
		if (identity.uid !== undefined) {
			await chown(draft, identity.uid, identity.gid);
			await chown(verifier, identity.uid, identity.gid);
		}

		await initdb(binaries, draft, {identity, pwfile: verifier, interruption});
		if (isReachable) {
			isOurs = await orWhereExists(rename(draft, clusterEntry(dataDir)));
		} else {
			// A new name each time, because removing DATA_DIR must yield an empty database.
			made = path.join(parent, `${path.basename(dataDir)}-${randomBytes(6).toString('hex')}`);
			await rename(draft, made);
			isOurs = await orWhereExists(symlink(made, clusterEntry(dataDir)));
		}
	} finally {
		await rm(verifier, {force: true});
		if (!isOurs) {
			await rm(made, {recursive: true, force: true});
		}
	}
};
