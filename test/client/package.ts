import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';
import {folderOf} from '../helpers/folder.ts';

const run = promisify(execFile);
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

/** Every global that the client may use: the common ones of Node, browsers and React Native. */
const platform = `
interface AbortSignal {readonly aborted: boolean}
declare var AbortSignal: {prototype: AbortSignal};
declare class AbortController {readonly signal: AbortSignal; abort(): void}
declare function fetch(url: string, init: {method: string; headers: Record<string, string>; body?: string; signal: AbortSignal}):
	Promise<{status: number; headers: {get(name: string): string | null}; text(): Promise<string>}>;
declare function setTimeout(then: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;
declare const console: {warn(...values: unknown[]): void};
`;

test('the client compiles with only the globals that Node, browsers and React Native share', async (t) => {
	const folder = await folderOf(t);
	await writeFile(path.join(folder, 'platform.d.ts'), platform);
	const config = {
		extends: path.join(packageRoot, 'src/client/tsconfig.json'),
		compilerOptions: {lib: ['es2022'], types: [], rootDir: '/', noEmit: true},
		include: ['platform.d.ts', path.join(packageRoot, 'src/client')],
	};
	await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
	const compiled = await run(process.execPath, [tsc, '-p', folder]).catch((error: {stdout: string}) => error);
	t.is(compiled.stdout, '');
	t.false(compiled instanceof Error);
});
