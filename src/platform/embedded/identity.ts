import {execFile} from 'node:child_process';
import {readFile, stat} from 'node:fs/promises';
import {promisify} from 'node:util';

/** The user of a process: ids to change to, or none to stay the current user. */
export type Identity = {uid: number; gid: number} | Record<string, never>;

/** Users dedicated to a database, best first. An administrator adds the first (docs/operating/production.md). */
const USERS = ['oplink', 'postgres'];

/** 'nobody' and its group exist on every system, so the host needs no change. */
const NOBODY: Identity = {uid: 65_534, gid: 65_534};

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
export const canEnter = async (identity: Identity, directory: string): Promise<boolean> => {
	try {
		await promisify(execFile)('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], {...identity, cwd: '/'});
		return true;
	} catch {
		return false;
	}
};
