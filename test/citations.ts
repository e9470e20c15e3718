import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {packageRoot} from '../src/package-root.ts';

const read = (name: string): string => readFileSync(path.join(packageRoot, name), 'utf8');

const below = (folder: string): string[] =>
	readdirSync(path.join(packageRoot, folder), {recursive: true, encoding: 'utf8'}).map((name) =>
		path.join(folder, name),
	);

/** All files written by hand, except this one, which contains the patterns. */
const files = [
	'README.md',
	'.env.example',
	'Dockerfile',
	'docker-compose.yml',
	...['src', 'test', 'docs', 'bench', 'migrations', 'config', 'bin', '.build', '.ci'].flatMap(below),
].filter(
	(name) => /\.(?:[cm]?[jt]sx?|md|sql|json|yml|example|sh)$|Dockerfile$/.test(name) && name !== 'test/citations.ts',
);

/** Joins the lines of comments, so that citations with line breaks are found too. */
const textOf = (name: string): string => read(name).replaceAll(/[ \t]*\n[ \t]*(?:\*(?!\/)|\/\/|--|#)?[ \t]*/g, ' ');

/** The numbers of a page's sections. */
const sections = new Map(
	below('docs/contract').map((name) => [
		path.basename(name, '.md'),
		[...read(name).matchAll(/^## (\d+)\. /gm)].map(([, number]) => Number(number)),
	]),
);

/** `contract/links 3`, or `contract/match 2 to 5`. */
const CITATION = /\bcontract\/([a-z-]+) (\d+)(?: to (\d+))?/g;

test('the sections of a page of the contract are numbered from 1, each once', (t) => {
	t.true(sections.size > 15);
	for (const [page, numbers] of sections) {
		t.deepEqual(
			numbers,
			[...numbers.keys()].map((index) => index + 1),
			page,
		);
	}
});

test('every citation leads to a section of docs/contract', (t) => {
	const cited = files.flatMap((name) =>
		[...textOf(name).matchAll(CITATION)].map(([citation, page = '', first, last]) => ({
			where: `${name}: ${citation}`,
			leads: [first, last ?? first].every((number) => sections.get(page)?.includes(Number(number))),
		})),
	);
	t.true(cited.length > 250);
	t.deepEqual(
		cited.filter(({leads}) => !leads).map(({where}) => where),
		[],
	);
});

test('nothing cites a document that is not in the repository', (t) => {
	const old =
		/\bfacts\/[a-z-]+\.md|\bspec\/[a-z]+\.md|\binterface\.md|\b(?:decisions|interface|facts)(?: section)? \d|\bfacts on providers|\bsection \d[\d.]* of the interface/g;
	t.deepEqual(
		files.flatMap((name) => [...textOf(name).matchAll(old)].map(([citation]) => `${name}: ${citation}`)),
		[],
	);
});
