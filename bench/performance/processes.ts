import {type ChildProcess, execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync} from 'node:fs';
import os from 'node:os';

/** Servers and the database have the first core, the load the second; where there is no taskset, or one core, all have all. */
export const canPin = os.cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0;
const cores = {servers: '0', load: '1'};
const ALL = `0-${os.cpus().length - 1}`;

const ticksPerSecond = 100;

/** Numbers from /proc/PID/stat, from the parent's process id on (proc(5), field 4). */
const statOf = (pid: number): number[] => {
	const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
	return text
		.slice(text.lastIndexOf(')') + 4)
		.split(' ')
		.map(Number);
};

const running = (): number[] => readdirSync('/proc').map(Number).filter(Number.isInteger);

/** A process and its children. */
export const familyOf = (pid: number): number[] =>
	running().filter((one) => {
		try {
			return one === pid || statOf(one)[0] === pid;
		} catch {
			return false;
		}
	});

/** CPU seconds of a process until now; of one that has ended 0. `withEnded`: those of its children that have ended, too. */
const secondsOf = (pid: number, withEnded: boolean): number => {
	try {
		const fields = statOf(pid);
		const ticks = fields.slice(10, withEnded ? 14 : 12).reduce((sum, one) => sum + one, 0);
		return ticks / ticksPerSecond;
	} catch {
		return 0;
	}
};

/** CPU seconds that these processes and the PostgreSQL of this postmaster have used. */
export const cpuSeconds = (pids: number[], postmaster: number | null): number =>
	pids.reduce((sum, pid) => sum + secondsOf(pid, false), 0) +
	(postmaster === null ? 0 : familyOf(postmaster).reduce((sum, pid) => sum + secondsOf(pid, pid === postmaster), 0));

/** Bytes of memory that a process has now. */
export const residentBytes = (pid: number): number =>
	Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;

const pin = (pid: number, core: string): void => {
	if (canPin) {
		execFileSync('taskset', ['-a', '-p', '-c', core, String(pid)], {stdio: 'ignore'});
	}
};

export const pinLoad = (): void => pin(process.pid, cores.load);

/** Puts a PostgreSQL that runs onto the servers' core; what it starts later follows. */
export const pinPostmaster = (postmaster: number): void => {
	for (const pid of familyOf(postmaster)) {
		pin(pid, cores.servers);
	}
};

/** Runs work with all cores for the load, the database and the servers that it starts. */
export const unpinned = async <T>(postmaster: number, work: () => Promise<T>): Promise<T> => {
	const pinned = {...cores};
	const place = (given: typeof cores): void => {
		Object.assign(cores, given);
		pinLoad();
		pinPostmaster(postmaster);
	};
	place({servers: ALL, load: ALL});
	try {
		return await work();
	} finally {
		place(pinned);
	}
};

export type Started = {child: ChildProcess; pid: number; ready: RegExpExecArray; startedAt: number};

/** Runs node on the servers' core, and resolves when it prints what `ready` says. */
export const startNode = async (args: string[], env: Record<string, string>, ready: RegExp): Promise<Started> => {
	const command: [string, ...string[]] = canPin
		? ['taskset', '-c', cores.servers, process.execPath, ...args]
		: [process.execPath, ...args];
	const startedAt = performance.now();
	const child = spawn(command[0], command.slice(1), {
		env: {PATH: process.env.PATH, HOME: process.env.HOME, ...env},
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	// Whatever ends this process ends it.
	const end = () => child.kill('SIGKILL');
	process.once('exit', end);
	child.once('exit', () => process.removeListener('exit', end));
	let printed = '';
	return new Promise((resolve, reject) => {
		const look = (chunk: Buffer) => {
			printed += chunk;
			const found = ready.exec(printed);
			if (found !== null) {
				child.stdout.off('data', look).resume();
				resolve({child, pid: child.pid ?? 0, ready: found, startedAt});
			}
		};
		child.stdout.on('data', look);
		child.once('close', (code) => reject(new Error(`${args.join(' ')} ended with ${code}: ${printed}`)));
	});
};

/** Ends a process and waits for its end. */
export const stop = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
	if (child.exitCode === null && child.signalCode === null) {
		const ended = once(child, 'close');
		child.kill(signal);
		await ended;
	}
};
