import {type ChildProcess, spawn} from 'node:child_process';
import type {Writable} from 'node:stream';
import {type Identity, plainEnvironment} from './location.ts';

export type TetheredProcess = {
	child: ChildProcess;
	/** Detaches the process, which then outlives this one. */
	release(): void;
};

/**
 * The shell execs the command, so both have the same pid. First it leaves a watcher that waits for the other end of fd
 * 3 to close, which the kernel does however this process dies. Then the watcher signals the command's process group. It
 * is an orphan on purpose: PostgreSQL treats the death of an unknown child as a crash.
 */
const SCRIPT = '( (read -r released <&3 || kill -s "$0" -- -$$) & ); exec "$@" 3<&-';

/**
 * Starts a process whose group gets `signal` when this process dies without stopping it, even by SIGKILL, or when
 * `interruption` is aborted. It is detached: Ctrl-C in a terminal, which goes to the process group, does not reach it.
 * @param output file descriptors for its stdout and stderr, or 'inherit'/'pipe'/'ignore'.
 */
export const spawnTethered = (
	[command, ...args]: [string, ...string[]],
	options: {
		signal: 'INT' | 'TERM' | 'KILL';
		output: number | 'inherit' | 'pipe' | 'ignore';
		identity?: Identity;
		cwd?: string;
		env?: NodeJS.ProcessEnv;
		interruption?: AbortSignal;
	},
): TetheredProcess => {
	const {signal, output, identity = {}, cwd = '/', env = plainEnvironment, interruption} = options;
	const child = spawn('/bin/sh', ['-c', SCRIPT, signal, command, ...args], {
		...identity,
		cwd,
		env,
		detached: true,
		stdio: ['ignore', output, output, 'pipe'],
	});
	const tether = child.stdio[3] as Writable & {unref(): void};
	// The process may end before the watcher; a write to it then is harmless.
	tether.on('error', () => {});
	const release = () => void tether.end('released\n');
	interruption?.addEventListener('abort', () => tether.destroy(), {once: true});
	// If the process ended first, its pid may be reused by the time this process dies.
	child.once('exit', release);
	// A process that failed to start has an exit code, which the caller waits for.
	child.on('error', () => {});
	tether.unref();
	child.unref();
	return {child, release};
};
