import {execFile} from 'node:child_process';
import {constants} from 'node:fs';
import {open, readFile} from 'node:fs/promises';
import {promisify} from 'node:util';
import {errorCode} from './embedded-errors.ts';
import {plainEnvironment} from './location.ts';

/** A running PostgreSQL according to its lock file `postmaster.pid`. */
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

	const {stdout} = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
		env: plainEnvironment,
	});
	return stdout;
};

/**
 * Whether the process is this cluster's PostgreSQL, judged by its command line, which other users can read. A zombie
 * has none, another process with a reused pid has a different one, and so has the shell before exec.
 */
export const isPostmasterOf = async (pid: number, directory: string): Promise<boolean> => {
	const command = await commandLine(pid).catch(() => '');
	return command.includes(`/bin/postgres -D ${directory} `) && !command.startsWith('/bin/sh ');
};

const openLockFile = async (file: string) => {
	try {
		// Under root the folder belongs to another user: do not follow a link in it.
		return await open(file, constants.O_RDWR | constants.O_NOFOLLOW);
	} catch (error) {
		if (errorCode(error) === 'ENOENT') {
			return null;
		}

		throw error;
	}
};

/** Above any pid on Linux and macOS, and as long as the longest. */
const NO_PID = 4_194_304;

/**
 * Invalidates the lock file of a dead PostgreSQL. Its pid may belong to another process, which PostgreSQL would take for a
 * running one, or in a restarted container to the PostgreSQL that starts, which the old file would call ready. The file is
 * kept, because its other lines let PostgreSQL detect shared memory still in use by an earlier process. Writing through
 * the open handle cannot hit the file of a PostgreSQL that is just starting.
 */
export const disownLockFile = async (file: string, directory: string): Promise<void> => {
	const handle = await openLockFile(file);
	if (handle === null) {
		return;
	}

	try {
		const [first = '', ...rest] = (await handle.readFile('utf8')).split('\n');
		const pid = Number(first);
		if (pid > 0 && !(await isPostmasterOf(pid, directory))) {
			await handle.write([NO_PID, ...rest].join('\n'), 0);
		}
	} finally {
		await handle.close();
	}
};

/** The PostgreSQL running on this cluster, or null; the lock file of a dead one is ignored. */
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
