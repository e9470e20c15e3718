import {once} from 'node:events';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {packageRoot} from '../../src/platform/package-root.ts';
import type {Installation} from './installation.ts';
import {cpuSeconds, startNode, stop} from './processes.ts';

/** Rows a second, and µs of CPU a row with PostgreSQL's. */
export type Inserted = {rate: number; cpu: number; inserted: number};

/** Durable single-row INSERTs by a process like the server's. */
export type Inserts = {run(seconds: number): Promise<Inserted>; stop(): Promise<void>};

export const startInserts = async (
	{databaseUrl}: Installation,
	postmaster: number,
	{connections, sql, values}: {connections: number; sql: string; values: Array<string | null>},
): Promise<Inserts> => {
	const program = path.join(packageRoot, 'bench', 'performance', 'inserter.js');
	const args = [program, databaseUrl, String(connections), sql, JSON.stringify(values)];
	const {child, pid} = await startNode(args, {}, /ready\n/);
	if (child.stdout === null) {
		throw new Error('the process has no output');
	}

	const lines = createInterface({input: child.stdout});
	return {
		run: async (seconds) => {
			const before = cpuSeconds([pid], postmaster);
			const answer = once(lines, 'line');
			child.stdin?.write(`${seconds}\n`);
			const [line] = await answer;
			const {inserted, seconds: took} = JSON.parse(line) as {inserted: number; seconds: number};
			const used = cpuSeconds([pid], postmaster) - before;
			return {inserted, rate: inserted / took, cpu: (used * 1e6) / inserted};
		},
		stop: () => stop(child, 'SIGTERM'),
	};
};
