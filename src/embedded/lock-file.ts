import {execFile} from 'node:child_process';
import {constants} from 'node:fs';
import {open, readFile} from 'node:fs/promises';
import {promisify} from 'node:util';
import {errorCode} from './embedded-errors.ts';

/** A running PostgreSQL, as its lock file `postmaster.pid` describes it. */
export type Postmaster = {
	pid: number;
	port: number;
	socketDir: string;
	/** False while it starts, recovers or stops. */
	isReady: boolean;
};

const commandLine = async (pid: number): Promise<string> => {
	if (process.platform === 'linux') {
		return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
	}

	const {stdout} = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
	return stdout;
};

/**
 * Whether the process is the PostgreSQL of this cluster. Its command line tells, which others may read too; a zombie
 * has none, another process that got the pid has another, and the shell that has not become PostgreSQL yet is not it.
 */
export const isPostmasterOf = async (pid: number, directory: string): Promise<boolean> => {
	const command = await commandLine(pid).catch(() => '');
	return command.includes(`/bin/postgres -D ${directory} `) && !command.startsWith('/bin/sh ');
};

const openLockFile = async (file: string) => {
	try {
		// The folder belongs to another user where we are root: a link in it must not lead us elsewhere.
		return await open(file, constants.O_RDWR | constants.O_NOFOLLOW);
	} catch (error) {
		if (errorCode(error) === 'ENOENT') {
			return null;
		}

		throw error;
	}
};

/** Above every pid that Linux or macOS gives. */
const NO_PID = 4_194_304;

const isTaken = (pid: number): boolean => {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
};

/**
 * Makes a lock file name no process where the pid in it was given to another one meanwhile, which PostgreSQL would take
 * for itself. The file is not removed: its other lines let PostgreSQL see whether an earlier process still has the
 * cluster's memory. Writing through the handle that was read cannot hit the file of a PostgreSQL that starts just now.
 */
export const disownLockFile = async (file: string, directory: string): Promise<void> => {
	const handle = await openLockFile(file);
	if (handle === null) {
		return;
	}

	try {
		const [first = '', ...rest] = (await handle.readFile('utf8')).split('\n');
		const pid = Number(first);
		if (pid > 0 && isTaken(pid) && !(await isPostmasterOf(pid, directory))) {
			const text = [NO_PID, ...rest].join('\n');
			await handle.truncate(0);
			await handle.write(text, 0);
		}
	} finally {
		await handle.close();
	}
};

/** The PostgreSQL that runs on this cluster, or null; what a dead one left behind does not count. */
export const readPostmaster = async (directory: string): Promise<Postmaster | null> => {
	const handle = await openLockFile(`${directory}/postmaster.pid`);
	const lines = handle === null ? [] : (await handle.readFile('utf8')).split('\n');
	await handle?.close();
	const [pid, , , port, socketDir = '', , , status = ''] = lines;
	if (!Number(pid) || !(await isPostmasterOf(Number(pid), directory))) {
		return null;
	}

	return {pid: Number(pid), port: Number(port), socketDir, isReady: status.trim() === 'ready'};
};
