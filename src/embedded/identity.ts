import {execFile} from 'node:child_process';
import {readFile, stat} from 'node:fs/promises';
import {promisify} from 'node:util';

/** Who a process runs as: ids to change to, or nothing to stay who we are. */
export type Identity = {uid: number; gid: number} | Record<string, never>;

/** Users that have a database to themselves, best first. An administrator adds the first (docs/operating/production.md). */
const USERS = ['oplink', 'postgres'];

/** 'nobody' and its group: on every system, so that nothing has to be added to the host. */
const NOBODY: Identity = {uid: 65_534, gid: 65_534};

export const isRoot = (): boolean => process.getuid?.() === 0;

/** Who a new cluster of root belongs to. @param passwd the text of /etc/passwd. */
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

/** Who a new cluster belongs to: PostgreSQL refuses to run as root. */
export const newClusterIdentity = async (): Promise<Identity> =>
	isRoot() ? chooseUser(await readFile('/etc/passwd', 'utf8').catch(() => '')) : {};

/** Who an existing cluster belongs to: root can act for any owner, anyone else only as themselves. */
export const clusterIdentity = async (directory: string): Promise<Identity> => {
	const {uid, gid} = await stat(directory);
	return isRoot() ? {uid, gid} : {};
};

/** Whether `identity` can enter the directory, which the modes of every folder above it decide. */
export const canEnter = async (identity: Identity, directory: string): Promise<boolean> => {
	try {
		await promisify(execFile)('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], {...identity, cwd: '/'});
		return true;
	} catch {
		return false;
	}
};
