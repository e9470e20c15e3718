import {execFile} from 'node:child_process';
import {createRequire} from 'node:module';
import path from 'node:path';
import {promisify} from 'node:util';
import {packageRoot} from '../../src/package-root.ts';

const typescript = path.dirname(createRequire(import.meta.url).resolve('typescript/package.json'));

/**
 * Checks the types of sources and tests. Its state is cached, so that the next run checks only changes. It uses one
 * thread, because each thread would read Node's and the packages' types, and tests run at the same time.
 * @returns the compiler's messages, or null.
 */
export const checkTypes = async (): Promise<string | null> => {
	const kept = path.join(packageRoot, '.cache', 'types.tsbuildinfo');
	const options = ['-p', packageRoot, '--noEmit', '--singleThreaded', '--incremental', '--tsBuildInfoFile', kept];
	try {
		await promisify(execFile)(process.execPath, [path.join(typescript, 'bin/tsc'), ...options], {cwd: packageRoot});
		return null;
	} catch (error) {
		return (error as {stdout?: string}).stdout || String(error);
	}
};
