import {execFile} from 'node:child_process';
import {copyFile, mkdir, mkdtemp, readdir, rm, symlink} from 'node:fs/promises';
import {createRequire} from 'node:module';
import path from 'node:path';
import {promisify} from 'node:util';
import {packageRoot} from '../../src/package-root.ts';
import {isGone} from './run-folder.ts';
import type {Teardown} from './teardown.ts';

const run = promisify(execFile);
const typescript = path.dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
const NAME = /^tests-(\d+)-/;

/**
 * Compiles sources and tests once for all processes of the run, which takes a third of what it costs to have each of
 * them translate what it loads. The folder belongs to this run alone, so that several can go on at once; it lies in the
 * package, as the programs in it look for their packages and for `config/` from where they are. `bin/oplink.js` stands
 * in it as it does in the package.
 * @returns the folder.
 * @throws Error with the compiler's words where the types do not fit.
 */
export const compile = async (teardown: Teardown): Promise<string> => {
	const cache = path.join(packageRoot, '.cache');
	await mkdir(cache, {recursive: true});
	for (const name of await readdir(cache)) {
		const pid = Number(NAME.exec(name)?.[1]);
		if (pid > 0 && isGone(pid)) {
			await rm(path.join(cache, name), {recursive: true, force: true});
		}
	}

	const folder = await mkdtemp(path.join(cache, `tests-${process.pid}-`));
	teardown.add(() => rm(folder, {recursive: true, force: true, maxRetries: 5}));
	const options = ['-p', packageRoot, '--outDir', folder, '--sourceMap'];
	try {
		await run(process.execPath, [path.join(typescript, 'bin/tsc'), ...options], {cwd: packageRoot});
	} catch (error) {
		throw new Error((error as {stdout?: string}).stdout || String(error));
	}

	await mkdir(path.join(folder, 'bin'));
	await copyFile(path.join(packageRoot, 'bin/oplink.js'), path.join(folder, 'bin/oplink.js'));
	await symlink('src', path.join(folder, 'dist'));
	return folder;
};

/** Ava's arguments: a file or pattern below `test/` is meant as it was compiled, and without any all tests are. */
export const compiledArgs = (args: string[], folder: string): string[] => {
	const below = path.relative(packageRoot, folder);
	const found = args.map((arg) => {
		const name = path.normalize(arg);
		return name.startsWith('test/') ? path.join(below, name).replace(/\.tsx?$/, '.js') : arg;
	});
	return found.some((arg) => arg.startsWith(below)) ? found : [...found, path.join(below, 'test/**/*.js')];
};
