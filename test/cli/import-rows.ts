import {createReadStream} from 'node:fs';
import {Readable} from 'node:stream';
import test from 'ava';
import {stringify} from 'csv-stringify/sync';
import fc from 'fast-check';
import {csvRows} from '../../src/cli/import/formats/csv.ts';
import {jsonRows, ndjsonRows} from '../../src/cli/import/formats/json.ts';
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
