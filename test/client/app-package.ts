import {execFile} from 'node:child_process';
import {existsSync, realpathSync, statSync} from 'node:fs';
import {mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {getLibFiles, ts} from '@ts-morph/common';
import test from 'ava';
import {buildClientPackage, clientExports, packFolder} from '../../scripts/client-package.ts';
import {packageRoot} from '../../src/platform/package-root.ts';

const run = promisify(execFile);

/** An app that has installed the package of the client, and nothing else. */
let app: string;
let installed: string;
let archive: string;
test.serial.before(async () => {
	app = realpathSync(await mkdtemp(path.join(tmpdir(), 'app-')));
	const folder = path.join(app, 'package');
	await buildClientPackage(packageRoot, folder);
	archive = await packFolder(folder, app);
	await rm(folder, {recursive: true});
	await writeFile(path.join(app, 'package.json'), '{"name": "app", "private": true}');
	await run('npm', ['install', archive, '--offline', '--no-audit', '--no-fund'], {cwd: app});
	installed = path.join(app, 'node_modules', 'oplink');
});
test.after.always(() => app && rm(app, {recursive: true}));

/** What each entry gives, and the file that it is in. */
const entries = {
	client: {file: 'oplink', names: 'Oplink,OplinkApiError,OplinkConnectionError'},
	'react-navigation': {file: 'react-navigation', names: 'createLinking'},
	'expo-router': {file: 'expo-router', names: 'createNativeIntent'},
	expo: {file: 'expo', names: 'default,withOplink'},
};

const script = async (name: string, text: string): Promise<string> => {
	await writeFile(path.join(app, name), text);
	const {stdout} = await run(process.execPath, [path.join(app, name)]);
	return stdout.trim();
};

test('it brings no other package, and kilobytes', async (t) => {
	const found = (await readdir(path.join(app, 'node_modules'))).filter((name) => !name.startsWith('.'));
	t.deepEqual(found, ['oplink']);
	const files = await readdir(installed, {recursive: true, withFileTypes: true});
	const sizes = await Promise.all(
		files.filter((one) => one.isFile()).map(async (one) => (await stat(path.join(one.parentPath, one.name))).size),
	);
	const unpacked = sizes.reduce((sum, size) => sum + size, 0);
	t.log(`${(await stat(archive)).size} bytes packed, ${unpacked} bytes in ${sizes.length} files`);
	t.true(unpacked < 300_000);
	t.true((await stat(archive)).size < 40_000);
});

test('nothing of it imports from outside the package', async (t) => {
	const files = (await readdir(installed, {recursive: true})).filter((name) => /\.(?:js|d\.ts)$/.test(name));
	t.true(files.length > 8);
	for (const file of files) {
		const source = await readFile(path.join(installed, file), 'utf8');
		for (const [, imported = ''] of source.matchAll(/\b(?:from|import|require)\s*\(?\s*['"]([^'"]+)['"]/g)) {
			t.regex(imported, /^\.\/[a-z-]+\.(js|ts)$/, `${file} imports ${imported}`);
		}
	}
});

test('each entry is imported as a module', async (t) => {
	for (const [entry, {names}] of Object.entries(entries)) {
		const text = `import * as all from 'oplink/${entry}'; console.log(Object.keys(all).sort().join())`;
		t.is(await script('use.mjs', text), names);
	}
});

test('each entry is required as CommonJS', async (t) => {
	for (const [entry, {names}] of Object.entries(entries)) {
		t.is(await script('use.cjs', `console.log(Object.keys(require('oplink/${entry}')).sort().join())`), names);
	}

	const made = "new (require('oplink/client').Oplink)({baseUrl: 'https://api.example.com'}).links.create";
	t.is(await script('make.cjs', `console.log(typeof ${made})`), 'function');
});

test('it says the same as the package of the server', async (t) => {
	const {exports} = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8'));
	t.deepEqual(exports, {...clientExports('./dist/client'), './package.json': './package.json'});
	const own = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'));
	t.deepEqual(Object.keys(own.exports), Object.keys(exports));
	t.is(own.dependencies, undefined);
});

/** Its newer versions ask for a later Node.js than Debian has; this one's types are not those of its code. */
const {resolve} = createRequire(import.meta.url)('metro-resolver') as {
	resolve(context: object, name: string, platform: string): unknown;
};

/** Metro's module resolution without `exports`, the default before React Native 0.79. */
const inMetro = (mainFields: string[]): object => ({
	allowHaste: false,
	assetExts: new Set(),
	customResolverOptions: {},
	disableHierarchicalLookup: false,
	doesFileExist: (name: string) => existsSync(name) && statSync(name).isFile(),
	extraNodeModules: {},
	dev: true,
	fileSystemLookup: (name: string) =>
		existsSync(name)
			? {exists: true, type: statSync(name).isFile() ? 'f' : 'd', realPath: realpathSync(name)}
			: {exists: false},
	getPackage: (name: string) => (existsSync(name) ? createRequire(import.meta.url)(name) : null),
	getPackageForModule: () => null,
	mainFields,
	nodeModulesPaths: [],
	originModulePath: path.join(app, 'index.js'),
	preferNativePlatform: true,
	redirectModulePath: (name: string) => name,
	resolveAsset: () => [],
	resolveHasteModule: () => null,
	resolveHastePackage: () => null,
	sourceExts: ['js', 'json', 'ts', 'tsx'],
	unstable_conditionNames: [],
	unstable_conditionsByPlatform: {},
	unstable_enablePackageExports: false,
	unstable_incrementalResolution: false,
	unstable_logWarning: () => {},
});

for (const mainFields of [
	['react-native', 'browser', 'main'],
	['module', 'main'],
]) {
	test(`Metro finds each entry without exports, by ${mainFields.join(', ')}`, (t) => {
		for (const [entry, {file}] of Object.entries(entries)) {
			const found = resolve(inMetro(mainFields), `oplink/${entry}`, 'ios');
			const folder = mainFields.includes('module') ? 'client/esm' : 'client';
			t.deepEqual(found, {type: 'sourceFile', filePath: path.join(installed, folder, `${file}.js`)});
		}
	});
}

const consumer = `
import {Oplink, OplinkApiError, OplinkConnectionError, type Link, type LinkData, type Match} from 'oplink/client';
import withOplink, {type ExpoConfig} from 'oplink/expo';
import {createNativeIntent, type NativeIntent} from 'oplink/expo-router';
import {createLinking} from 'oplink/react-navigation';

const oplink = new Oplink({baseUrl: 'https://api.example.com', clientKey: undefined});
export const end: () => void = oplink.onLink((link: LinkData, {matchConfidence}) => void [link.path, matchConfidence === 'exact']);
export const match: Promise<Match> = oplink.match({platform: 'iOS'});
const device = () => ({deviceId: 'device-0001', platform: 'iOS' as const});
const Linking = {getInitialURL: async () => null, addEventListener: (_type: 'url', _listener: (event: {url: string}) => void) => ({})};
export const prefixes: string[] = createLinking({oplink, Linking, scheme: 'acmeshop', device}).linking.prefixes;
export const intent: NativeIntent = createNativeIntent({oplink, device, open: (path: string) => void path});
const config = withOplink({name: 'shop', ios: {}}, {links: ['go.example.com']});
export const name: string = config.name;
export const domains = (one: ExpoConfig): string[] => one.ios?.associatedDomains ?? [];
export const link: Promise<Link> = oplink.links.create({path: '/sale'});
export const status = (error: unknown) =>
	error instanceof OplinkApiError ? error.status : error instanceof OplinkConnectionError ? error.cause : null;
// @ts-expect-error a link without a path needs a template
oplink.links.create({title: 'Sale'});
`;

const withOwnFetch = `
export const own = new Oplink({baseUrl: 'https://api.example.com', fetch, storage: new Map<string, string>()});
`;

/** TypeScript's own types, parsed once for all programs of this file. */
const libraries = new Map(
	getLibFiles().map(({fileName, text}) => [
		`/lib/${fileName}`,
		ts.createSourceFile(`/lib/${fileName}`, text, ts.ScriptTarget.ES2022, undefined, ts.ScriptKind.TS),
	]),
);

/** The errors of TypeScript 6, the last version that knows node10, for a file of the app. */
const faultsIn = (file: string, options: ts.CompilerOptions): string[] => {
	const all: ts.CompilerOptions = {
		strict: true,
		exactOptionalPropertyTypes: true,
		noUncheckedIndexedAccess: true,
		noEmit: true,
		target: ts.ScriptTarget.ES2022,
		lib: ['lib.es2022.d.ts'],
		types: [],
		// Those of TypeScript itself; the package's own are checked.
		skipDefaultLibCheck: true,
		ignoreDeprecations: '6.0',
		...options,
	};
	const host = ts.createCompilerHost(all);
	const readFromDisk = host.getSourceFile.bind(host);
	const exists = host.fileExists.bind(host);
	host.getDefaultLibLocation = () => '/lib';
	host.fileExists = (name) => libraries.has(name) || exists(name);
	host.getSourceFile = (name, language, ...rest) => libraries.get(name) ?? readFromDisk(name, language, ...rest);
	return ts
		.getPreEmitDiagnostics(ts.createProgram([file], all, host))
		.map(({messageText}) => ts.flattenDiagnosticMessageText(messageText, '\n'));
};

const {Node16} = ts.ModuleKind;
const dom = ['lib.es2022.d.ts', 'lib.dom.d.ts'];
const ofNode = {types: ['node'], typeRoots: [path.join(packageRoot, 'node_modules/@types')], lib: ['lib.es2024.d.ts']};

for (const [project, file, text, options] of [
	['node10', 'a.ts', consumer, {module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10}],
	['node16, as a module', 'b.mts', consumer, {module: Node16}],
	['node16, as CommonJS', 'c.cts', consumer, {module: Node16}],
	['bundler', 'd.ts', consumer, {module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler}],
	['the types of browsers', 'e.mts', consumer + withOwnFetch, {module: Node16, lib: dom}],
	['the types of Node', 'f.mts', consumer + withOwnFetch, {module: Node16, ...ofNode, skipLibCheck: true}],
] as const) {
	test(`TypeScript finds its types with ${project}`, async (t) => {
		await writeFile(path.join(app, file), text);
		t.deepEqual(faultsIn(path.join(app, file), options as ts.CompilerOptions), []);
	});
}
