import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {buildClient} from '../../.build/client-package.ts';
import {packageRoot} from '../../src/platform/package-root.ts';

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

const consumer = `
import {Oplink, OplinkApiError, OplinkConnectionError, type Link, type LinkData, type Match} from 'oplink/client';

const oplink = new Oplink({baseUrl: 'https://api.example.com', clientKey: undefined});
const end: () => void = oplink.onLink((link: LinkData, {matchConfidence}) => matchConfidence === 'exact' && link.path ? undefined : undefined);
export const link: Promise<Link> = oplink.links.create({path: '/sale', tags: ['spring']});
export const match: Promise<Match> = oplink.match({platform: 'iOS'});
export const status = (error: unknown) => error instanceof OplinkApiError ? error.status : error instanceof OplinkConnectionError ? error.cause : end;
// @ts-expect-error a link without a path needs a template
oplink.links.create({title: 'Sale'});
`;

const withOwnFetch = `
export const own = new Oplink({baseUrl: 'https://api.example.com', fetch, storage: new Map<string, string>()});
`;

const compilerOptions = {
	strict: true,
	exactOptionalPropertyTypes: true,
	noUncheckedIndexedAccess: true,
	module: 'nodenext',
	moduleResolution: 'nodenext',
	target: 'es2022',
	types: [],
};

/** The client compiled on its own, as a package that can be installed beside its users. */
const build = async () => {
	const cache = path.join(packageRoot, 'node_modules/.cache');
	await mkdir(cache, {recursive: true});
	const folder = await mkdtemp(path.join(cache, 'client-'));
	const compile = async (name: string, config: object): Promise<string> => {
		await writeFile(path.join(folder, name), JSON.stringify(config));
		return run(process.execPath, [tsc, '-p', path.join(folder, name)]).then(
			({stdout}) => stdout,
			({stdout}: {stdout: string}) => stdout,
		);
	};
	await writeFile(path.join(folder, 'platform.d.ts'), platform);
	const output = await compile('build.json', {
		extends: path.join(packageRoot, 'src/client/tsconfig.json'),
		compilerOptions: {lib: ['es2022'], types: [], rootDir: packageRoot, noEmit: true},
		include: ['platform.d.ts', path.join(packageRoot, 'src/client')],
	});
	await buildClient(packageRoot, path.join(folder, 'package/dist/client'));
	const {name, type, exports} = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8'));
	await writeFile(path.join(folder, 'package/package.json'), JSON.stringify({name, type, exports}));
	await mkdir(path.join(folder, 'node_modules'));
	await symlink('../package', path.join(folder, 'node_modules/oplink'));
	return {folder, output, compile, dist: path.join(folder, 'package/dist')};
};

let built: Awaited<ReturnType<typeof build>>;
test.serial.before(async () => {
	built = await build();
});
test.after.always(() => built && rm(built.folder, {recursive: true}));

const emitted = async (suffix: string) =>
	(await readdir(built.dist, {recursive: true, withFileTypes: true}))
		.filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
		.map((entry) => path.join(entry.parentPath, entry.name));

test('the client compiles with nothing but the globals that Node, browsers and React Native share', (t) => {
	t.is(built.output, '');
});

test('the compiled client imports nothing from outside its own folder', async (t) => {
	const files = [...(await emitted('.js')), ...(await emitted('.d.ts'))];
	for (const name of ['oplink', 'react-navigation', 'expo-router', 'expo']) {
		t.true(files.includes(path.join(built.dist, `client/esm/${name}.js`)));
	}

	for (const file of files) {
		const source = await readFile(file, 'utf8');
		for (const [, imported = ''] of source.matchAll(/\b(?:from|import|require)\s*\(?\s*['"]([^'"]+)['"]/g)) {
			t.regex(imported, /^\.\/[a-z-]+\.(js|ts)$/, `${file} imports ${imported}`);
		}
	}
});

test('the package gives each entry to modules and to CommonJS', async (t) => {
	const all = ['client', 'react-navigation', 'expo-router', 'expo'];
	const list = 'console.log(Object.keys(client).filter((name) => name !== "default").sort().join())';
	for (const [file, load] of [
		['use.mjs', (name: string) => `import * as client from 'oplink/${name}'; ${list}`],
		['use.cjs', (name: string) => `const client = require('oplink/${name}'); ${list}`],
	] as const) {
		const names = all.map(async (name) => {
			const script = path.join(built.folder, `${name}-${file}`);
			await writeFile(script, load(name));
			return (await run(process.execPath, [script])).stdout.trim();
		});
		t.deepEqual(await Promise.all(names), [
			'Oplink,OplinkApiError,OplinkConnectionError',
			'createLinking',
			'createNativeIntent',
			'withOplink',
		]);
	}
});

for (const [environment, lib, source] of [
	['no platform types', ['es2022'], consumer],
	['DOM types', ['es2022', 'dom'], consumer + withOwnFetch],
] as const) {
	test(`its types serve a project with ${environment}`, async (t) => {
		const name = environment.replaceAll(' ', '-');
		await writeFile(path.join(built.folder, `${name}.mts`), source);
		const output = await built.compile(`${name}.json`, {
			compilerOptions: {...compilerOptions, lib, noEmit: true},
			files: [`${name}.mts`],
		});
		t.is(output, '');
	});
}

test('its types serve a project with those of Node', async (t) => {
	await writeFile(path.join(built.folder, 'node.mts'), consumer + withOwnFetch);
	const output = await built.compile('node.json', {
		compilerOptions: {...compilerOptions, skipLibCheck: true, lib: ['es2024'], types: ['node'], noEmit: true},
		files: ['node.mts'],
	});
	t.is(output, '');
});
