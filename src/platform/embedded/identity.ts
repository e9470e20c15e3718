import {execFile} from 'node:child_process';
import {chmod, mkdir, readFile, stat} from 'node:fs/promises';
import {promisify} from 'node:util';
import {EmbeddedPostgresError, elsewhere, errorCode} from './embedded-errors.ts';

/** The user of a process: ids to change to, or none to stay the current user. */
export type Identity = {uid: number; gid: number} | Record<string, never>;

/** The environment of our processes: no secrets, and no variables that could affect the database. */
export const plainEnvironment = {PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC'};

/** Users dedicated to a database, best first. An administrator adds the first (docs/operating/production.md). */
const USERS = ['oplink', 'postgres'];

/** 'nobody' and its group exist on every system, so the host needs no change. */
const NOBODY: Identity = {uid: 65_534, gid: 65_534};

/** Root's folder for files that PostgreSQL's user could not reach elsewhere, such as below /root; only root writes here. */
const SHARED_BASE = '/var/lib/oplink';

export const isRoot = (): boolean => process.getuid?.() === 0;

/** The owner of a new cluster under root. @param passwd the text of /etc/passwd. */
export const chooseUser = (passwd: string): Identity => {
	const users = passwd.split('\n').map((line) => line.split(':'));
	for (const wanted of USERS) {
		const [, , uid, gid] = users.find(([name]) => name === wanted) ?? [];
		if (Number(uid) > 0) {
			return {uid: Number(uid), gid: Number(gid)};
		}
	}

	return NOBODY;
};

/** The owner of a new cluster: PostgreSQL refuses to run as root. */
export const newClusterIdentity = async (): Promise<Identity> =>
	isRoot() ? chooseUser(await readFile('/etc/passwd', 'utf8').catch(() => '')) : {};

/** The user for an existing cluster: root can act as any owner, others only as themselves. */
export const clusterIdentity = async (directory: string): Promise<Identity> => {
	const {uid, gid} = await stat(directory);
	return isRoot() ? {uid, gid} : {};
};

/** Whether `identity` can enter the directory, which depends on the modes of all its parents. */
export const canEnter = (identity: Identity, directory: string): Promise<boolean> =>
	promisify(execFile)('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], {
		...identity,
		cwd: '/',
		env: plainEnvironment,
	}).then(
		() => true,
		() => false,
	);

/** The shared folder, which is made if it is missing. */
export const makeSharedBase = async (): Promise<string> => {
	try {
		if ((await mkdir(SHARED_BASE, {recursive: true})) !== undefined) {
			await chmod(SHARED_BASE, 0o755);
		}
	} catch (error) {
		throw new EmbeddedPostgresError(
			`PostgreSQL does not run as root, and ${SHARED_BASE}, where another user could reach it, could not be made ` +
				`(${errorCode(error)}). Run as an ordinary user, or with a DATA_DIR that others may enter. ${elsewhere}`,
		);
	}

	return SHARED_BASE;
};
