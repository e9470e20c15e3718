import {type ChildProcess, spawn} from 'node:child_process';
import type {Writable} from 'node:stream';
import type {Identity} from './identity.ts';

export type Tethered = {
	child: ChildProcess;
	/** Lets the process outlive this one. */
	release(): void;
};

/**
 * The shell becomes the command, so that its pid is the command's. Beforehand it leaves a watcher that waits for the
 * other end of fd 3 to close, which the kernel does when this process dies, however it dies; then it signals the group
 * that the command leads. The watcher is orphaned on purpose: PostgreSQL takes the death of a child that it does not
 * know for a crash.
 */
const SCRIPT = '( (read -r released <&3 || kill -s "$0" -- -$$) & ); exec "$@" 3<&-';

/** What a process of ours gets of the environment: nothing that could reach into the database. */
export const plainEnvironment = {PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC'};

/**
 * Starts a process that gets `signal` when this process dies without having stopped it, be it by SIGKILL.
 * It is detached: Ctrl-C in a terminal, which goes to a whole group, does not reach it.
 * @param output file descriptors for its stdout and stderr, or 'inherit'/'pipe'/'ignore'.
 */
export const spawnTethered = (
	[command, ...args]: [string, ...string[]],
	options: {
		signal: 'INT' | 'TERM';
		output: number | 'inherit' | 'pipe' | 'ignore';
		identity?: Identity;
		cwd?: string;
		env?: NodeJS.ProcessEnv;
	},
): Tethered => {
	const {signal, output, identity = {}, cwd = '/', env = plainEnvironment} = options;
	const child = spawn('/bin/sh', ['-c', SCRIPT, signal, command, ...args], {
		...identity,
		cwd,
		env,
		detached: true,
		stdio: ['ignore', output, output, 'pipe'],
	});
	const tether = child.stdio[3] as Writable & {unref(): void};
	// The process may be gone before the watcher is: writing to it then is no fault.
	tether.on('error', () => {});
	const release = () => void tether.end('released\n');
	// Where the process ended first, its pid may belong to another by the time this process dies.
	child.once('exit', release);
	// A process that could not be started has an exit code: whoever waits for it sees that.
	child.on('error', () => {});
	tether.unref();
	child.unref();
	return {child, release};
};
