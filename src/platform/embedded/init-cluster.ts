import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {chown, mkdtemp, rename, rm, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {Binaries} from './binaries.ts';
import {EmbeddedPostgresError, elsewhere, orWhereExists} from './embedded-errors.ts';
import {type Identity, newClusterIdentity} from './identity.ts';
import {CLUSTER_NAME, chooseParent, draftPrefix, relocatedPath, removeAbandonedDrafts} from './location.ts';
import {createVerifier, makePassword, readPassword} from './password.ts';
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
	// Its children write to the same pipes: once these are closed, none of them is left.
	const [code] = await once(child, 'close');
	interruption?.throwIfAborted();
	if (code === 0) {
		return;
	}

	if (stderr.includes('could not look up effective user ID')) {
		throw new EmbeddedPostgresError(
			`The embedded PostgreSQL needs a user with a name, and the user with id ${identity.uid ?? process.getuid?.()} ` +
				`is not in /etc/passwd. Run as a user that is. ${elsewhere}`,
		);
	}

	throw new EmbeddedPostgresError(
		`The database could not be created in ${directory}: ${stderr.trim() || `initdb ended with ${code}`}`,
	);
};

/**
 * Creates the cluster of a DATA_DIR that has none. It is created aside and moved into place atomically: a killed
 * process leaves no partial cluster, and of two first starts the second finds the first's. At the interruption it removes
 * what there is and rejects.
 */
export const initCluster = async (
	binaries: Binaries,
	dataDir: string,
	interruption: AbortSignal | undefined,
): Promise<void> => {
	const identity = await newClusterIdentity();
	await makePassword(dataDir);
	const parent = await chooseParent(dataDir);
	await removeAbandonedDrafts(parent);
	const draft = await mkdtemp(path.join(parent, draftPrefix()));
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
		const entry = path.join(dataDir, CLUSTER_NAME);
		if (parent === dataDir) {
			isOurs = await orWhereExists(rename(draft, entry));
		} else {
			made = relocatedPath(dataDir, randomBytes(6).toString('hex'));
			await rename(draft, made);
			isOurs = await orWhereExists(symlink(made, entry));
		}
	} finally {
		await rm(verifier, {force: true});
		if (!isOurs) {
			await rm(made, {recursive: true, force: true});
		}
	}
};
