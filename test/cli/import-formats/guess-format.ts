import test from 'ava';
import {guessFormat} from '../../../src/cli/import/formats/guess-format.ts';
import {excerpt} from './_rows.ts';

for (const [file, format] of [
	['firebase.csv', 'firebase'],
	['branch.json', 'branch'],
	['bitly.json', 'bitly'],
	['dub.ndjson', 'dub'],
] as const) {
	test(`${file} is recognized by its content, whatever its name`, async (t) => {
		const head = await excerpt(file);
		for (const name of [file, `${file}.failed`, 'export.txt', '-']) {
			t.deepEqual(guessFormat(name, head), {name: format, by: 'content'});
		}

		t.is(guessFormat('-', head.slice(0, 1500))?.name, format);
	});
}

for (const [file, head, format] of [
	['links.csv', 'path,title\n', 'csv'],
	['a/links.CSV', '', 'csv'],
	['links.jsonl', '{"path":"/a"}\n', 'ndjson'],
	['links.json.failed.failed', '[\n{"path":"/a"}\n]', 'json'],
	['links.json', '{"data":[{"path":"/a","shortCode":"a"}],"total":1}', 'json'],
	['exported.ndjson', '{"id":"1","url":"http://x.test/a","path":"/a","channel":"email"}\n', 'ndjson'],
] as const) {
	test(`${file} that begins with ${head.slice(0, 20)} is our own ${format}, by its ending`, (t) => {
		t.deepEqual(guessFormat(file, head), {name: format, by: 'ending'});
	});
}

for (const [head, format] of [
	['path,title\n/a,x\n', 'csv'],
	['{"path":"/a"}\n{"path":"/b"}\n', 'ndjson'],
	['[{"path":"/a"}]', 'json'],
	['{"path":\n"/a"}', 'json'],
] as const) {
	test(`standard input that begins with ${head.slice(0, 12)} is our own ${format}, by its content`, (t) => {
		t.deepEqual(guessFormat('-', head), {name: format, by: 'content'});
	});
}

test('a format is not guessed without evidence in name or content', (t) => {
	t.is(guessFormat('links.txt', 'what is this?\n'), null);
	t.is(guessFormat('-', ''), null);
	t.is(guessFormat('links', 'a,b,c\n"open'), null);
});

test('an export of Firebase Dynamic Links without a heading is recognized by its 29 columns', async (t) => {
	const [, ...lines] = (await excerpt('firebase.csv')).split('\r\n');
	t.is(guessFormat('x.csv', lines.join('\r\n'))?.name, 'firebase');
});
