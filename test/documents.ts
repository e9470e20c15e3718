import {readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {Command} from 'commander';
import {environmentTopic} from '../src/cli/help.ts';
import {createProgram} from '../src/cli/program.ts';
import {processIo} from '../src/cli/terminal/io.ts';
import {daysOf, retentionRules} from '../src/operations/jobs/retention.ts';
import {retention} from '../src/platform/config/policies.ts';
import {configTable, secretNames} from '../src/platform/config/variables.ts';
import {packageRoot} from '../src/platform/package-root.ts';
import {routes} from '../src/routes.ts';
import {below, found, isThere, read} from './_files.ts';

/** A document: its text without blocks of code, and every line or span of code in it. */
type Document = {name: string; prose: string; code: string[]};

const FENCE = /^([ \t]*)```.*\n([\s\S]*?)^\1```$/gm;

const names = [
	'README.md',
	'CHANGELOG.md',
	'CONTRIBUTING.md',
	'SECURITY.md',
	...below('docs').filter((name) => name.endsWith('.md')),
];

const documents: Document[] = names.map((name) => {
	const text = read(name);
	const prose = text.replace(FENCE, '');
	const fenced = [...text.matchAll(FENCE)].flatMap(([, , code = '']) => code.split('\n'));
	return {name, prose, code: [...fenced, ...found(prose, /`([^`\n]+)`/g)]};
});

/** The anchor that a heading has on the sites that show Markdown: lower case, without punctuation, dashes for spaces. */
const anchorOf = (heading: string): string =>
	heading
		.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
		.toLowerCase()
		.replace(/[^\p{L}\p{N}\s_-]/gu, '')
		.trim()
		.replaceAll(' ', '-');

const anchorsOf = (name: string): string[] => found(read(name).replace(FENCE, ''), /^#{1,6} (.+)$/gm).map(anchorOf);

/** The fault of a document's link, or nothing. */
const brokenLink = (from: string, to: string): string[] => {
	const [file = '', anchor] = to.split('#');
	const target = file === '' ? from : path.join(path.dirname(from), file);
	if (!isThere(target)) {
		return [`${from}: ${to}: there is no ${target}`];
	}

	return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [`${from}: ${to}: no such heading`];
};

test('every relative link of a document leads to an existing file and heading', (t) => {
	t.true(documents.length > 25);
	const broken = documents.flatMap(({name, prose}) =>
		found(prose, /\]\(([^)\s]+)\)/g)
			.filter((to) => !/^[a-z]+:/.test(to))
			.flatMap((to) => brokenLink(name, to)),
	);
	t.deepEqual(broken, []);
});

test('docs/privacy.md describes the contents of every table', (t) => {
	const tables = below('migrations').flatMap((name) => found(read(name), /^CREATE TABLE (\w+)/gm));
	t.true(tables.length > 30);
	const missing = tables.filter((name) => !read('docs/privacy.md').includes(`\`${name}\``));
	t.deepEqual(missing, []);
});

test('docs/privacy.md and config/retention.json agree with the table of retention', (t) => {
	const rows = read('docs/privacy.md').split('\n');
	for (const rule of retentionRules) {
		const row = rows.find((line) => line.split('|')[1]?.includes(`\`${rule.table}\``)) ?? '';
		t.regex(row, new RegExp(`\\b${daysOf(rule)} days?\\b`), rule.table);
		t.true(typeof rule.days === 'number' || row.includes(`\`${rule.days}\``), `${rule.table}: ${rule.days}`);
	}

	const used = retentionRules.map(({days}) => days).filter((days) => days !== 'visitDeviceDays');
	const named = new Set(used.filter((days) => typeof days === 'string'));
	t.deepEqual([...named].toSorted(), Object.keys(retention()).toSorted());
});

test('docs/README.md leads to every document, and README.md to it', (t) => {
	const linked = found(read('docs/README.md'), /\]\(([^)#\s]+)/g).map((to) => path.join('docs', to));
	const missing = names.slice(1).filter((name) => name !== 'docs/README.md' && !linked.includes(name));
	t.deepEqual(missing, []);
	t.regex(read('README.md'), /\]\(docs\/README\.md\)/);
});

test('docs/internals.md names every room of src with its features, and every file directly in src', (t) => {
	const [, tree = ''] = /^## The code\n[\s\S]*?```\n([\s\S]*?)^```$/m.exec(read('docs/internals.md')) ?? [];
	const named = new Set(tree.match(/[\w-]+(?:\.ts\b|\/)/g));
	const entriesOf = (folder: string): string[] =>
		readdirSync(path.join(packageRoot, folder), {withFileTypes: true}).map((entry) =>
			entry.isDirectory() ? `${entry.name}/` : entry.name,
		);
	const isFolder = (name: string) => name.endsWith('/');
	const rooms = entriesOf('src');
	const features = rooms.filter(isFolder).flatMap((room) => entriesOf(path.join('src', room)).filter(isFolder));
	t.true(features.length > 40);
	const missing = [...rooms, ...features].filter((name) => !named.has(name));
	t.deepEqual(missing, []);
});

test('every path of src, test, config or migrations that a document names is there', (t) => {
	const missing = documents.flatMap(({name, code}) =>
		code
			.filter((span) => /^(?:src|test|config|migrations|bench|scripts)\/[\w./-]+$/.test(span))
			.filter((span) => !isThere(span))
			.map((span) => `${name}: ${span}`),
	);
	t.deepEqual(missing, []);
});

/** What each file of src exports by a capital name, and `services`, with the text that declares its members. */
const declarations = new Map([
	...below('src')
		.filter((name) => name.endsWith('.ts'))
		.map(read)
		.flatMap((text) =>
			found(text, /^export (?:type|class|const|interface) ([A-Z]\w+)/gm).map((name) => [name, text] as const),
		),
	['services', read('src/services.ts')] as const,
]);

/** `Oplink.swift` is a file, and `Platform` React Native's in the documents for apps. */
const OF_APPS = /^(?:Oplink\.(?:swift|kt)$|Platform\.)/;

/** The faults of a span such as `services.clock.now()`: a member that its type's file does not name. */
const unknownMembers = (span: string): string[] => {
	const [, type = '', member = ''] = /^(\w+)\.(\w+)(?:\.\w+)*(?:\(\))?$/.exec(span) ?? [];
	const text = declarations.get(type);
	return text === undefined || OF_APPS.test(span) || new RegExp(`\\b${member}\\b`).test(text) ? [] : [span];
};

test('every member of the services or of a type that a document names is there', (t) => {
	t.deepEqual(unknownMembers('services.clock.now()'), []);
	t.deepEqual(unknownMembers('services.sundial.now()'), ['services.sundial.now()']);
	const unknown = documents.flatMap(({name, code}) => code.flatMap(unknownMembers).map((span) => `${name}: ${span}`));
	t.deepEqual(unknown, []);
});

const composeVariables = found(read('docker-compose.yml'), /(?:\$\{?|\/run\/secrets\/)([A-Z][A-Z_]+)/g);
const secretFiles = secretNames.map((name) => `${name}_FILE`);
const programVariables = found(environmentTopic, /^ {2}([A-Z][A-Z_]+) /gm);
/** Of shells, of Node, of pipelines, of the tests, and those of examples that a shell sets for itself. */
const others = [
	'TERM NODE_EXTRA_CA_CERTS GITHUB_OUTPUT MALLOC_ARENA_MAX TEST_REDIS_URL TEST_CHROMIUM OPLINK_FUZZ_REQUESTS',
	'OPLINK_FUZZ_SEED CREDENTIALS_DIRECTORY API KEY JSON ID V TOKEN GUID BITLY NAME SECRET',
].flatMap((words) => words.split(' '));
const variables = new Set([
	...configTable.map(({name}) => name),
	...composeVariables,
	...secretFiles,
	...programVariables,
	...others,
]);
/** Prefixes of the server's variables, to recognize names without values. */
const families = new Set(configTable.flatMap(({name}) => (name.includes('_') ? [`${name.split('_')[0]}_`] : [])));

test('every environment variable of a document is one that is read', (t) => {
	const unknown = documents.flatMap(({name, code}) =>
		code.flatMap((line) =>
			[...line.matchAll(/(?<![\w<"'.-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)(=(?!=)|\b(?!\*|_))/g)]
				.filter(([, variable = '', after]) => {
					const isNamed = families.has(`${variable.split('_')[0]}_`) && variable.includes('_');
					return (after === '=' || isNamed) && !variables.has(variable);
				})
				.map(([, variable]) => `${name}: ${variable} in ${line}`),
		),
	);
	t.deepEqual(unknown, []);
});

const program = createProgram(processIo(new AbortController().signal));

/** The fault of a command line after `oplink`: an unknown command or option. */
const wrongCommand = (line: string): string[] => {
	const words = line.split(/\s+/).filter((word) => word !== '');
	const chain: Command[] = [program];
	let isTaken = false;
	for (const word of words) {
		const command = chain.at(-1) ?? program;
		const below = command.commands.find((one) => one.name() === word);
		if (/^(?:[|&;>#<)(]|--$|2>)/.test(word)) {
			break;
		}

		if (isTaken) {
			isTaken = false;
		} else if (word.startsWith('--')) {
			const [flag = ''] = word.split('=');
			const option = chain.flatMap((one) => one.options).find(({long}) => long === flag);
			if (option === undefined && flag !== '--help') {
				return [`${command.name()} has no ${flag}`];
			}

			isTaken = option?.required === true && !word.includes('=');
		} else if (below !== undefined) {
			chain.push(below);
		} else if (command.commands.length > 0 && /^[a-z][a-z-]*$/.test(word) && chain.length < 3) {
			return word === 'help' ? [] : [`${command.name()} has no ${word}`];
		} else if (chain.length === 1) {
			return [];
		}
	}

	return [];
};

test('every oplink command of a document is one of the program, with its options', (t) => {
	const wrong = documents.flatMap(({name, code}) =>
		code.flatMap((line) =>
			[...line.matchAll(/(?<![\w/.=-])oplink (?!oplink )([^`"]*)/g)].flatMap(([, rest = '']) =>
				wrongCommand(rest.replace(/oplink .*/, '')).map((what) => `${name}: ${what}: ${line}`),
			),
		),
	);
	t.deepEqual(wrong, []);
});

test('every line of the threat model names a test, and each of them is there', (t) => {
	const lines = read('SECURITY.md')
		.split('\n')
		.filter((line) => line.startsWith('| ') && !/^\| (?:threat|routes) /.test(line));
	t.true(lines.length > 30);
	for (const line of lines) {
		const named = found(line, /`(test\/[\w./-]+)`/g);
		t.true(named.length > 0 && named.every(isThere), line);
	}
});

test('each route has a limit, or a line in security.md that says what its dearest request costs', (t) => {
	const [, table = ''] = read('SECURITY.md').split('## Routes without a limit');
	const patterns = table
		.split('\n## ', 1)[0]
		?.split('\n')
		.filter((line) => line.startsWith('| `'))
		.flatMap((line) => found(line.split(' | ', 1)[0] ?? '', /`([^`]+)`/g));
	const fits = (pattern: string, {path: of}: {path: string}) =>
		pattern.endsWith('*') ? of.startsWith(pattern.slice(0, -1)) : of === pattern;
	const unlimited = routes.filter(({limit}) => limit === null);
	const unsaid = unlimited.filter((route) => !patterns?.some((pattern) => fits(pattern, route)));
	const seen = unsaid.map(({method, path: of}) => `${method} ${of}`);
	t.deepEqual(seen, []);
	const given = patterns?.filter((pattern) => !unlimited.some((route) => fits(pattern, route)));
	t.deepEqual(given, []);
});
