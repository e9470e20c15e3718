import test from 'ava';
import {guessFormat} from '../../../src/cli/import/formats/read-rows.ts';
import {excerpt} from './_rows.ts';

test('an export of another service is recognized by its content, whatever its name', async (t) => {
	for (const [format, ending] of [
		['firebase', 'csv'],
		['branch', 'json'],
		['bitly', 'json'],
		['dub', 'ndjson'],
	] as const) {
		const file = `${format}.${ending}`;
		const head = await excerpt(file);
		for (const name of [file, `${file}.failed`, 'export.txt', '-']) {
			t.deepEqual(guessFormat(name, head), {name: format, by: 'content'}, `${file} ${name}`);
		}

		t.is(guessFormat('-', head.slice(0, 1500))?.name, format, file);
	}
});

test('our own files are known by their ending, standard input by its content, and others not at all', (t) => {
	for (const [file, head, name, by] of [
		['links.csv', 'path,title\n', 'csv', 'ending'],
		['a/links.CSV', '', 'csv', 'ending'],
		['links.jsonl', '{"path":"/a"}\n', 'ndjson', 'ending'],
		['links.json.failed.failed', '[\n{"path":"/a"}\n]', 'json', 'ending'],
		['links.json', '{"data":[{"path":"/a","shortCode":"a"}],"total":1}', 'json', 'ending'],
		['exported.ndjson', '{"id":"1","url":"http://x.test/a","path":"/a","channel":"email"}\n', 'ndjson', 'ending'],
		['-', 'path,title\n/a,x\n', 'csv', 'content'],
		['-', '{"path":"/a"}\n{"path":"/b"}\n', 'ndjson', 'content'],
		['-', '[{"path":"/a"}]', 'json', 'content'],
		['-', '{"path":\n"/a"}', 'json', 'content'],
	] as const) {
		t.deepEqual(guessFormat(file, head), {name, by}, `${file} ${head}`);
	}

	for (const [file, head] of [
		['links.txt', 'what is this?\n'],
		['-', ''],
		['links', 'a,b,c\n"open'],
	] as const) {
		t.is(guessFormat(file, head), null, `${file} ${head}`);
	}
});
