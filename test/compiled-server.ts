import {cp, mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Script} from 'node:vm';
import test from 'ava';
import {packageRoot} from '../src/package-root.ts';
import {dataDirectory, oplink} from './helpers/process.ts';

const DIGESTS = 128;
const built = path.join(packageRoot, 'dist', 'server.cjs');

test('what the build had V8 compile is taken by the V8 that it is for', async (t) => {
	const source = await readFile(built, 'latin1');
	const compiled = await readFile(`${built}.compiled`);
	t.is(compiled.toString('latin1', 0, 64), source.slice(2, 66));
	t.false(new Script(source, {filename: built, cachedData: compiled.subarray(DIGESTS)}).cachedDataRejected);
});

test('the server has no line that would fill the log of an error, and its functions have their names', async (t) => {
	const source = await readFile(built, 'latin1');
	t.deepEqual(
		source.split('\n').filter((line) => line.length > 2000),
		[],
	);
	t.regex(source, /\bopenMigrated\b/);
});

test('a server whose compiled form is damaged, of another build or missing starts as one that was never compiled', async (t) => {
	const folder = await dataDirectory(t);
	for (const name of ['package.json', 'bin', 'dist/cli', 'dist/chunks', 'dist/server.cjs', 'config']) {
		await mkdir(path.dirname(path.join(folder, name)), {recursive: true});
		await cp(path.join(packageRoot, name), path.join(folder, name), {recursive: true});
	}

	const file = path.join(folder, 'dist/server.cjs.compiled');
	const whole = await readFile(`${built}.compiled`);
	const flipped = Buffer.from(whole);
	flipped.fill(0xa5, whole.length >> 1, (whole.length >> 1) + 400);
	const ofAnother = Buffer.concat([Buffer.from('0'.repeat(64)), whole.subarray(64)]);
	for (const content of [whole, flipped, whole.subarray(0, whole.length >> 1), ofAnother, Buffer.alloc(0), null]) {
		await (content === null ? rm(file) : writeFile(file, content));
		// It is the server that reads the configuration.
		const {ended, stderr} = oplink(t, ['serve'], {PORT: 'x', DATA_DIR: folder}, folder);
		t.is(await ended, 78);
		t.regex(stderr(), /^PORT /);
	}
});
