import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {cliPages} from '../../.build/docs/cli-pages.ts';
import {packageRoot} from '../../src/package-root.ts';

const folder = path.join(packageRoot, 'docs/cli');

test('docs/cli is what the program says today; otherwise run npm run docs:cli', async (t) => {
	const pages = cliPages();
	t.deepEqual((await readdir(folder)).toSorted(), [...pages.keys()].toSorted());
	for (const [name, text] of pages) {
		t.is(await readFile(path.join(folder, name), 'utf8'), text, name);
	}
});

test('every link between the pages leads to one', (t) => {
	const pages = cliPages();
	const links = [...pages.values()].flatMap((text) => [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to ?? ''));
	t.true(links.length > 15);
	t.deepEqual(
		links.filter((to) => !pages.has(to)),
		[],
	);
});
