import {readdir, readFile} from 'node:fs/promises';
import test from 'ava';
import {cliPages} from '../../docs/cli-pages.ts';

const folder = new URL('../../docs/cli/', import.meta.url);

test('docs/cli is what the program says today; otherwise run npm run docs:cli', async (t) => {
	const pages = cliPages();
	t.deepEqual((await readdir(folder)).toSorted(), [...pages.keys()].toSorted());
	for (const [name, text] of pages) {
		t.is(await readFile(new URL(name, folder), 'utf8'), text, name);
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
