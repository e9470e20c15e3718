import {createReadStream} from 'node:fs';
import {Readable} from 'node:stream';
import test from 'ava';
import {stringify} from 'csv-stringify/sync';
import fc from 'fast-check';
import {csvRows} from '../../src/cli/import/formats/csv.ts';
import type {ImportRow} from '../../src/cli/import/formats/import-row.ts';
import {jsonRows, ndjsonRows} from '../../src/cli/import/formats/json.ts';
import {decoded} from '../../src/cli/lines.ts';
import {guarded} from '../../src/platform/formula-guard.ts';
import {collect, inPieces} from './_pieces.ts';

test('CSV cells become fields: objects, tags, booleans and numbers, and empty is absent', async (t) => {
	const text = `path,title,tags,og.title,params.coupon,params.a.b,isActive,deferredDeepLinking,matchWindowHours,expiry,id
/a,T,x; y;;z,OT,C0,1,TRUE,false,24,2030-01-01,old
/b,,,,,,,,,,
/c,,,,,,maybe,,1.5,,
`;
	const full = {
		path: '/a',
		title: 'T',
		tags: ['x', 'y', 'z'],
		og: {title: 'OT'},
		params: {coupon: 'C0', 'a.b': '1'},
		isActive: true,
		deferredDeepLinking: false,
		matchWindowHours: 24,
		expiry: '2030-01-01',
	};
	const rows = (await collect(csvRows(inPieces(text)))).map(({row}) => row);
	t.deepEqual(
		rows, // Another value than a boolean or number stays text, for the server to refuse.
		[full, {path: '/b'}, {path: '/c', isActive: 'maybe', matchWindowHours: '1.5'}],
	);
});

test('CSV rows are numbered by their first line, with a byte order mark and line breaks in quotes', async (t) => {
	const text = '\uFEFFpath,title\n/a,"two\nlines ""q"""\n\n\n/b,é 漢 🙂\n/c,5" screen\n/d,"x\n\ny"\n/e,z';
	for (const end of ['\n', '\r\n']) {
		const rows = await collect(csvRows(inPieces(text.replaceAll('\n', end))));
		const found = rows.map(({line, row}) => [line, row?.['path'], row?.['title']]);
		t.deepEqual(found, [
			[2, '/a', `two${end}lines "q"`],
			[6, '/b', 'é 漢 🙂'],
			[7, '/c', '5" screen'],
			[8, '/d', `x${end}${end}y`],
			[11, '/e', 'z'],
		]);
		t.like(rows[0], {raw: `/a,"two${end}lines ""q"""`, wrapping: {open: 'path,title\n'}});
	}
});

test('lines of a CSV end in any way, also where heading and rows differ', async (t) => {
	for (const [first, rest] of [
		['\n', '\r\n'],
		['\r\n', '\n'],
		['\r', '\r'],
	]) {
		const rows = await collect(csvRows(inPieces(`shortCode,path${first}a,/a${rest}b,"/b"${rest}c,/c${rest}`)));
		t.like(rows, [
			{line: 2, row: {shortCode: 'a', path: '/a'}},
			{line: 3, row: {shortCode: 'b', path: '/b'}},
			{line: 4, row: {shortCode: 'c', path: '/c'}},
		]);
		t.is(rows.length, 3);
	}
});

test('a CSV row with too few or too many cells, or a params cell without a JSON object, fails alone', async (t) => {
	const text = 'path,params,params.b\n/a\n/b,,x,y\n/c,"{""a"":""1""}",2\n/d,[1],\n/e,{,\n';
	const rows = await collect(csvRows(inPieces(text)));
	const found = rows.map(({line, error}) => [line, error]);
	t.deepEqual(found, [
		[2, 'has 1 cell where 3 are expected'],
		[3, 'has 4 cells where 3 are expected'],
		[4, undefined],
		[5, 'params is not a JSON object'],
		[6, 'params is not a JSON object'],
	]);
	t.deepEqual(rows[2]?.row, {path: '/c', params: {a: '1', b: '2'}});
});

test('an unknown and a repeated CSV column are refused before any row', async (t) => {
	await t.throwsAsync(collect(csvRows(inPieces('path,colour\n/a,red\n'))), {message: /Unknown column 'colour'/});
	await t.throwsAsync(collect(csvRows(inPieces('path,title,path\n/a,x,/b\n'))), {message: /'path' appears twice/});
});

test('cells are separated by a comma, a semicolon or a tab, whichever gives the heading the most cells', async (t) => {
	for (const [text, expected] of [
		['shortCode;path;title\na;/a;"x;y"\n', {shortCode: 'a', path: '/a', title: 'x;y'}],
		['shortCode\tpath\ttags\na\t/a\tx;y\n', {shortCode: 'a', path: '/a', tags: ['x', 'y']}],
		['shortCode,path,tags\na,/a,x;y;z\n', {shortCode: 'a', path: '/a', tags: ['x', 'y', 'z']}],
		['path\n/a;b\tc\n', {path: '/a;b\tc'}],
		['\uFEFF"path";"title"\r\n/a;x,y\r\n', {path: '/a', title: 'x,y'}],
	] as const) {
		const [row, ...others] = await collect(csvRows(inPieces(text), text.slice(0, 25)));
		t.deepEqual(row?.row, expected, text);
		t.deepEqual(others, []);
		t.true(row?.wrapping.open.includes(text.split(/\r?\n/)[0] ?? '-'));
	}
});

test('flags are read as spreadsheets write them in several languages, and other words are left for the server', async (t) => {
	for (const [cell, value] of [
		['WAHR', true],
		['FALSCH', false],
		['Vrai', true],
		['ONWAAR', false],
		['YANLIŞ', false],
		['1', true],
		['ja', 'ja'],
	] as const) {
		t.deepEqual((await collect(csvRows(inPieces(`path,isActive\n/a,${cell}\n`))))[0]?.row?.['isActive'], value);
	}
});

test('a quote is named by the line where it opens, and rows before it are read', async (t) => {
	for (const end of ['\n', '\r\n']) {
		for (const [lines, rows, fault] of [
			[['/a,x', '/b,"open', '/c,y', '/d,z'], ['2'], 'the quote that opens in line 3 is never closed'],
			[['/a,"x', 'y"', '/b,"ok', 'ok"', '"/c', 'd,e'], ['2', '4'], 'the quote that opens in line 6 is never closed'],
			[['/a,5" x', '/b,"two', '""q"" lines'], ['2'], 'the quote that opens in line 3 is never closed'],
			// The quote of a later row closes it in the middle of a cell.
			[['/a,"open', '/b,"y"', '/c,z'], ['2: has a quote that opens in line 2 and is not closed there', '4'], null],
			[['/a,"x""', 'y"', '/b,z'], ['2', '4'], null],
		] as const) {
			const found: string[] = [];
			const reading = async () => {
				for await (const {line, error} of csvRows(inPieces(`path,title${end}${lines.join(end)}${end}`, 7))) {
					found.push(error === undefined ? String(line) : `${line}: ${error}`);
				}
			};
			await (fault === null ? reading() : t.throwsAsync(reading, {message: `The CSV file cannot be read: ${fault}`}));
			t.deepEqual(found, [...rows], lines.join('|'));
		}
	}
});

test('a quote that is never closed, and an input that breaks off, end the reading with an error', async (t) => {
	const text = `path,title\n/a,"open\n${'/b,x\n'.repeat(300_000)}`;
	await t.throwsAsync(collect(csvRows(Readable.from([Buffer.from(text)]))), {
		message: /the quote that opens in line 2 is never closed/,
	});
	for (const rows of [csvRows, jsonRows, ndjsonRows]) {
		await t.throwsAsync(collect(rows(createReadStream('/nonexistent/links'))), {code: 'ENOENT'});
	}
});

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

test('any texts written as CSV with formula guards are read back unchanged, with their line numbers', async (t) => {
	const cell = fc.string({unit: 'grapheme'}).filter((text) => !/\r(?!\n)/.test(text));
	const check = fc.asyncProperty(
		fc.array(fc.tuple(cell, cell), {minLength: 1, maxLength: 8}),
		fc.integer({min: 1, max: 7}),
		async (cells, size) => {
			const records = cells.map(([title, channel]) => [`/p${title}`, title, channel]);
			const text = stringify([['path', 'title', 'channel'], ...records.map((record) => record.map(guarded))]);
			const rows = await collect(csvRows(inPieces(text, size)));
			const found = rows.map(({row}) => [row?.['path'], row?.['title'] ?? '', row?.['channel'] ?? '']);
			t.deepEqual(found, records);
			let line = 2;
			for (const row of rows) {
				t.is(row.line, line);
				line += row.raw.split(/\r\n|\n/).length;
			}
		},
	);
	await fc.assert(check, {numRuns: 200});
});

test('the line of the first invalid UTF-8 byte is reported, however the bytes arrive', async (t) => {
	const bytes = Buffer.concat([Buffer.from('ü\n漢漢\n🙂'), Buffer.from([0xe4, 0x0a]), Buffer.from('x\n')]);
	for (let size = 1; size <= bytes.length; size += 1) {
		const rows = collect(ndjsonRows(decoded(inPieces(bytes, size), 'utf-8')));
		await t.throwsAsync(rows, {message: 'Line 3 is not UTF-8'});
	}
});
