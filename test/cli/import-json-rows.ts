import test from 'ava';
import {csvRows} from '../../src/cli/import/formats/csv.ts';
import type {ImportRow} from '../../src/cli/import/formats/import-row.ts';
import {jsonRows, ndjsonRows} from '../../src/cli/import/formats/json.ts';
import {decoded} from '../../src/cli/lines.ts';
import {collect, inPieces} from './_pieces.ts';

test('NDJSON has a row per line, also with U+2028 in a string and without a last line end', async (t) => {
	const rows = await collect(ndjsonRows(inPieces('\uFEFF{"path":"/a\u2028b"}\r\n\r\n[1]\n{"path":\n{"path":"/c"}')));
	const found = rows.map(({line, row}) => [line, row]);
	t.deepEqual(found, [
		[1, {path: '/a\u2028b'}],
		[3, undefined],
		[4, undefined],
		[5, {path: '/c'}],
	]);
	t.is(rows[1]?.error, 'is not a JSON object');
	t.regex(rows[2]?.error ?? '', /^is not valid JSON: /);
});

test('a JSON array is read element by element, whatever its strings hold', async (t) => {
	const elements = [{path: '/a', title: 'q" ] } , \\ \\" é', og: {title: '[{'}, tags: ['a', ']']}, {path: '/b'}];
	for (const text of [
		JSON.stringify(elements),
		JSON.stringify(elements, null, 2),
		` [${elements.map((e) => JSON.stringify(e)).join(' ,\n')}] \n`,
	]) {
		const rows = await collect(jsonRows(inPieces(text, 1)));
		t.deepEqual(
			rows.map(({item, row}) => [item, row]),
			elements.map((element, index) => [index + 1, element]),
		);
	}

	t.deepEqual(await collect(jsonRows(inPieces('[]'))), []);
});

test('an element has the number of its first line, and its source text is preserved', async (t) => {
	const text = '\uFEFF[\n{"path":"/a",\n "n": 12345678901234567890},\n\n  {"path":"/b"}\n]\n';
	for (const size of [1, 5, 1000]) {
		const rows = await collect(jsonRows(inPieces(text, size)));
		const found = rows.map(({line, item, raw}) => [line, item, raw]);
		t.deepEqual(found, [
			[2, 1, '{"path":"/a",\n "n": 12345678901234567890}'],
			[5, 2, '{"path":"/b"}'],
		]);
	}
});

test('a list as APIs answer it is read, page after page, and failed rows are such a list again', async (t) => {
	const page = (path: string) => `{"total": 2, "data": [{"path":"${path}","og":{"data":[1]}}], "page": 1}`;
	const rows = await collect(jsonRows(inPieces(`${page('/a')}\n${page('/b')}`)));
	const found = rows.map(({line, item, row}) => [line, item, row?.['path']]);
	t.deepEqual(found, [
		[1, 1, '/a'],
		[2, 2, '/b'],
	]);
	t.deepEqual(rows[0]?.wrapping, {open: '{"data": [\n', between: ',\n', close: '\n]}\n'});
});

test('consecutive objects are read, over several lines too', async (t) => {
	const rows = await collect(jsonRows(inPieces('{"path":"/a",\n"tags":["x"]}\n{"path":"/b"}{"path":"/c"}')));
	t.is(rows.length, 3);
	t.like(rows, [
		{line: 1, item: undefined, row: {path: '/a'}},
		{line: 3, item: undefined, row: {path: '/b'}},
		{line: 3, item: undefined, row: {path: '/c'}},
	]);
});

test('a row that is nested too deep to be written fails alone', async (t) => {
	const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
	const lines = ndjsonRows(inPieces(`{"path":"/a"}\n${deep}\n{"path":"/c"}`, 2 ** 16));
	const cells = csvRows(inPieces(`path,params\n/a,{}\n/b,"${deep.replaceAll('"', '""')}"\n`, 2 ** 16));
	const errorsOf = async (rows: AsyncIterable<ImportRow>) => (await collect(rows)).map(({error}) => error);
	t.deepEqual(await errorsOf(lines), [undefined, 'is nested too deep', undefined]);
	t.deepEqual(await errorsOf(cells), [undefined, 'params is not a JSON object']);
});

test('a row with a number that would become null fails alone', async (t) => {
	const lines = ndjsonRows(inPieces('{"path":"/a"}\n{"path":"/b","matchWindowHours":1e309}\n{"x":[{"y":-1e400}]}\n'));
	const huge = 'has a number that is too large';
	const errors = (await collect(lines)).map(({error}) => error);
	t.deepEqual(errors, [undefined, huge, huge]);
});

test('a fault in JSON is named by the line of its character', async (t) => {
	const errorOf = async (rows: AsyncIterable<ImportRow>) => {
		try {
			return (await collect(rows)).find(({error}) => error !== undefined)?.error;
		} catch (error) {
			return (error as Error).message;
		}
	};
	const beyond = 'The JSON file cannot be read beyond line';
	for (const [text, expected] of [
		['[\n{"path":"/a"},\n{"path":nope},\n\n\n]', `${beyond} 3: Unexpected "o"`],
		['[\n{"path":"/a",\n"title":"x\ny"},\n\n]', `${beyond} 3: Unexpected "\n"`],
		['[\n{"path":"/a",\n"title" "x"},\n\n]', 'is not valid JSON in line 3: Unexpected string'],
		['[\n{"path":"/a",\n"title":"x",\n},\n\n]', 'is not valid JSON in line 4: Expected double-quoted property name'],
		['[{"path":"/a"},{"path" 1}]', "is not valid JSON: Expected ':' after property name"],
	] as const) {
		for (const size of [1, 6, 1000]) {
			t.is(await errorOf(jsonRows(inPieces(text, size))), expected, `${size}`);
		}
	}

	const found = await errorOf(ndjsonRows(inPieces('{"path":"/a"}\n{"path":nope}\n')));
	t.is(found, "is not valid JSON: Unexpected token 'o'");
});

test('a malformed element, or one that is not an object, fails alone', async (t) => {
	const text = '[1,{"path":"/a"},{"path" "/b"},{"path":"/c"}{"path":"/d"},[2],{"path":"/e"},]';
	const found = (await collect(jsonRows(inPieces(text)))).map(({row, error}) => row?.['path'] ?? error?.slice(0, 17));
	t.deepEqual(found, ['is not a JSON obj', '/a', 'is not valid JSON', 'is not valid JSON', 'is not a JSON obj', '/e']);
});

test('a file that becomes invalid, is truncated, or is empty fails after its valid rows', async (t) => {
	const rows: unknown[] = [];
	const reading = async () => {
		for await (const {row} of jsonRows(inPieces('[{"path":"/a"},\n{"path":nope}]', 100))) {
			rows.push(row);
		}
	};
	await t.throwsAsync(reading, {message: 'The JSON file cannot be read beyond line 2: Unexpected "o"'});
	t.deepEqual(rows, [{path: '/a'}]);
	for (const [text, message] of [
		['', /contains no JSON/],
		['"text"', /Line 1 .* neither an object nor an array/],
		['[{"path":"/a"}', /array has no end/],
		['{"path":"/a"', /object has no end/],
		['[]]', /Line 1/],
		[`[{"path":"${'x'.repeat(2 ** 26 + 2 ** 18)}"}]`, /The value that begins in line 1 .* is longer than/],
	] as const) {
		await t.throwsAsync(collect(jsonRows(inPieces(text, 2 ** 16))), {message}, text.slice(0, 20));
	}
});

test('the line of the first invalid UTF-8 byte is reported, however the bytes arrive', async (t) => {
	const bytes = Buffer.concat([Buffer.from('ü\n漢漢\n🙂'), Buffer.from([0xe4, 0x0a]), Buffer.from('x\n')]);
	for (let size = 1; size <= bytes.length; size += 1) {
		const rows = collect(ndjsonRows(decoded(inPieces(bytes, size), 'utf-8')));
		await t.throwsAsync(rows, {message: 'Line 3 is not UTF-8'});
	}
});
