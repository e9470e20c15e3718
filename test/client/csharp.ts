import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';
import {folderOf} from '../helpers/folder.ts';
import {findProgram} from '../setup/find-program.ts';
import {type Done, faultOf, vectors, vectorsFile} from './_vectors.ts';

const run = promisify(execFile);

/** Mono with its compiler: an installed one, or Debian's, which apt downloads. */
const findMono = async (): Promise<{mono: string; compiler: string}> => {
	const found = await findProgram({
		name: 'mono',
		variable: 'MONO_BIN',
		names: ['mono'],
		packages: ['mono-mcs', 'mono-runtime', 'mono-runtime-common', 'mono-runtime-sgen', 'mono-gac'],
		binary: 'usr/bin/mono-sgen',
		// biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell
		variables: {MONO_PATH: '${root}/usr/lib/mono/4.5', MONO_CFG_DIR: '${root}/etc'},
	});
	if ('reason' in found) {
		throw new Error(`The test needs Mono (apt-get install mono-mcs mono-runtime): ${found.reason}`);
	}

	const compilers = [path.join(path.dirname(found.command), 'usr/lib/mono/4.5/mcs.exe'), '/usr/lib/mono/4.5/mcs.exe'];
	const compiler = compilers.find(existsSync);
	if (compiler === undefined) {
		throw new Error(
			`The test needs Mono's compiler (apt-get install mono-mcs): none of ${compilers.join(', ')} is there`,
		);
	}

	return {mono: found.command, compiler};
};

test('Oplink.cs compiles as C# 7 without a warning, and passes every case of sdk-vectors.json', async (t) => {
	const {mono, compiler} = await findMono();
	const outdir = await folderOf(t);
	const program = path.join(outdir, 'vectors.exe');
	const sources = ['docs/sdk/Oplink.cs', 'test/fixtures/csharp/Vectors.cs'].map((file) => path.join(packageRoot, file));
	const built = await run(mono, [compiler, '-nologo', '-langversion:7', `-out:${program}`, ...sources]);
	t.is(built.stdout + built.stderr, '');
	const {stdout} = await run(mono, [program, vectorsFile], {maxBuffer: 50_000_000});
	const lines = stdout.trimEnd().split('\n');
	t.is(lines.length, vectors.length);
	const faults = vectors.flatMap((vector, index) => {
		const fault = faultOf(vector, JSON.parse(lines[index] ?? '{}') as Done, 'csharp');
		return fault === null ? [] : [`${vector.name}: ${fault}`];
	});
	t.deepEqual(faults, []);
});
