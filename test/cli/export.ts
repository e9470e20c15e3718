import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {Readable} from 'node:stream';
import test from 'ava';
import {csvRows} from '../../src/cli/import/formats/csv.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {runCli} from './_run-cli.ts';

const links = [
	{
		id: 'a',
		url: 'http://localhost:3000/Ab12/a',
		path: '/a',
		shortCode: 'a',
		title: '=1+1',
		tags: ['x', 'y'],
		og: {title: 'line\nbreak', description: null, imageUrl: null},
		params: {coupon: 'C,0'},
		isActive: false,
		matchWindowHours: 24,
		expiry: null,
	},
	{
		id: 'b',
		path: '/b',
		shortCode: 'b',
		title: 'ünï 漢',
		tags: [],
		og: null,
		params: null,
		isActive: true,
		matchWindowHours: 168,
	},
];
const ndjson = links.map((link) => `${JSON.stringify(link)}\n`).join('');
const exporting = {'GET /admin/organizations/Ab12/links/export': () => ({body: Buffer.from(ndjson)})};

test('links export prints a line per link as the API gave it', async (t) => {
	const {env} = await startRecordingServer(t, exporting);
	const {exitCode, stdout, stderr} = await runCli(['links', 'export', '--org', 'Ab12'], {env});
	t.is(exitCode, 0);
	t.is(stdout, ndjson);
	t.is(stderr, '');
});

test('with a SERVER key the export walks the list', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'GET /links': ({url}) => {
			const page = Number(new URL(url, 'http://x').searchParams.get('page'));
			const data = Array.from({length: page === 1 ? 100 : 1}, (_, index) => ({id: `${page}-${index}`}));
			return {body: pageOf(data, {total: 101, page, limit: 100})};
		},
	});
	const {stdout} = await runCli(['links', 'export', '--format', 'json'], {env: {...env, OPLINK_API_KEY: 'k'}});
	t.is(JSON.parse(stdout).length, 101);
	t.is(requests.length, 2);
});

test('a CSV export protects from formulas, and is read back as the same bodies', async (t) => {
	const {env} = await startRecordingServer(t, exporting);
	const {stdout} = await runCli(['links', 'export', '--org', 'Ab12', '--format', 'csv'], {env});
	t.regex(stdout, /^path,shortCode,title,.*,params$/m);
	t.true(stdout.includes("'=1+1"));
	const bodies: unknown[] = [];
	for await (const {row} of csvRows(Readable.from([Buffer.from(stdout)]))) {
		bodies.push(row);
	}

	t.deepEqual(bodies, [
		{
			path: '/a',
			shortCode: 'a',
			title: '=1+1',
			tags: ['x', 'y'],
			og: {title: 'line\nbreak'},
			params: {coupon: 'C,0'},
			isActive: false,
			matchWindowHours: 24,
		},
		{path: '/b', shortCode: 'b', title: 'ünï 漢', isActive: true, matchWindowHours: 168},
	]);
});

test('an export to a file reports the number of links; a refused one does not touch the file', async (t) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-export-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const file = path.join(folder, 'links.ndjson');
	await writeFile(file, 'older');
	const {env} = await startRecordingServer(t, exporting);
	const argv = (org: string) => ['links', 'export', '--org', org, '--output', 'links.ndjson'];
	t.is((await runCli(argv('None'), {env, io: {cwd: folder}})).exitCode, 4);
	t.is(await readFile(file, 'utf8'), 'older');
	const {exitCode, stdout, stderr} = await runCli(argv('Ab12'), {env, io: {cwd: folder}});
	t.is(exitCode, 0);
	t.is(stdout, '');
	t.is(stderr, '2 link(s) written to links.ndjson\n');
	t.is(await readFile(file, 'utf8'), ndjson);
});

test('an export of no link is an empty file, or an empty array', async (t) => {
	const {env} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links/export': () => ({body: Buffer.from('')}),
	});
	t.is((await runCli(['links', 'export', '--org', 'Ab12'], {env})).stdout, '');
	t.is((await runCli(['links', 'export', '--org', 'Ab12', '--format', 'json'], {env})).stdout, '[]\n');
});

test('every text comes back from a CSV as it went in', async (t) => {
	const beginnings = ['', "'", "''", "'''"].flatMap((marks) =>
		['=', '+', '-', '@', '\t', '\r', '＝', '"', ';', ',', '\n', ' ', 'x', '[', '{', "x'"].map(
			(sign) => `${marks}${sign}`,
		),
	);
	const texts = beginnings.flatMap((beginning) => [beginning, `${beginning}rest`, `${beginning}a\rb "c", d\n`]);
	const stored = texts.map((text, index) => ({
		path: text,
		shortCode: String(index),
		title: text,
		tags: [text, 'x'],
		og: {title: text},
		params: {[text]: text},
	}));
	const {env} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links/export': () => ({
			body: Buffer.from(stored.map((link) => `${JSON.stringify(link)}\n`).join('')),
		}),
	});
	const {stdout} = await runCli(['links', 'export', '--org', 'Ab12', '--format', 'csv'], {env});
	const rows: unknown[] = [];
	for await (const {row} of csvRows(Readable.from([Buffer.from(stdout)]))) {
		rows.push(row);
	}

	t.deepEqual(rows, stored);
	t.notRegex(stdout, /(?:^|[,\n])"?[=+@-]/);
});

test('lists are cells with semicolons if unambiguous, else JSON', async (t) => {
	const tags = [['a', 'b'], ['a;b'], [' a'], ['["a"]'], ['a', '']];
	const {env} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links/export': () => ({
			body: Buffer.from(tags.map((one) => `${JSON.stringify({path: '/', tags: one})}\n`).join('')),
		}),
	});
	const {stdout} = await runCli(['links', 'export', '--org', 'Ab12', '--format', 'csv'], {env});
	t.true(stdout.includes(',a;b,'));
	const rows: unknown[] = [];
	for await (const {row} of csvRows(Readable.from([Buffer.from(stdout)]))) {
		rows.push(row?.['tags']);
	}

	t.deepEqual(rows, tags);
});
