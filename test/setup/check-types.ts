import {execFile} from 'node:child_process';
import {createRequire} from 'node:module';
import path from 'node:path';
import {promisify} from 'node:util';
import {packageRoot} from '../../src/package-root.ts';

const typescript = path.dirname(createRequire(import.meta.url).resolve('typescript/package.json'));

/**
 * Checks the types of sources and tests. What it found is kept, so that the next run looks at what has changed since
 * alone. One thread, because several look at Node's and the packages' types each for itself, and the tests run meanwhile.
 * @returns the compiler's words where the types do not fit, else null.
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
