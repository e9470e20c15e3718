import {execFile} from 'node:child_process';
import {createRequire} from 'node:module';
import path from 'node:path';
import {packageRoot} from '../../src/platform/package-root.ts';

/** Runs a package's program. @returns its output if it fails, else null. */
const run = (name: string, program: string, args: readonly string[]): Promise<string | null> => {
	const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
	return new Promise((resolve) => {
		const command = [path.join(path.dirname(manifest), program), ...args];
		execFile(process.execPath, command, {cwd: packageRoot}, (error, stdout, stderr) => {
			resolve(error === null ? null : `${stdout}${stderr}` || String(error));
		});
	});
};

/** The compiler caches its state, so that the next run checks only changes. */
const types = ['-p', packageRoot, '--noEmit', '--incremental', '--tsBuildInfoFile', '.cache/types.tsbuildinfo'];

/**
 * Checks the types of sources and tests, their style and formatting. The compiler has one thread, because each thread
 * would read Node's and the packages' types, and tests run at the same time.
 * @returns the messages of the first check that fails, or null.
 */
export const checkSources = async (): Promise<string | null> =>
	(await run('typescript', 'bin/tsc', [...types, '--singleThreaded'])) ??
	(await run('@biomejs/biome', 'bin/biome', ['check']));
