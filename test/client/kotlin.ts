import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';
import {folderOf} from '../helpers/folder.ts';

const run = promisify(execFile);

/** Debian's compiler, where it is installed. It takes ten seconds of CPU. */
const COMPILER = '/usr/bin/kotlinc';
const withKotlin = existsSync(COMPILER) ? test : test.skip;

withKotlin('Oplink.kt compiles for Kotlin 1.3, against declarations of what it uses of Android', async (t) => {
	const declarations = path.join(packageRoot, 'test/fixtures/kotlin');
	const outdir = await folderOf(t);
	const sources = (await readdir(declarations)).map((name) => path.join(declarations, name));
	const client = path.join(packageRoot, 'docs/sdk/Oplink.kt');
	const {stderr} = await run(COMPILER, ['-d', outdir, client, ...sources]);
	t.notRegex(stderr, /error:/);
	t.true((await readdir(outdir)).includes('Oplink.class'));
});
