import {readdir, readFile, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import test from 'ava';
import {csvRows} from '../../src/cli/import/formats/csv.ts';
import {approvedDomain, organization} from '../helpers/builders.ts';
import {folderOf} from '../helpers/folder.ts';
import {createTerminal} from './_fake-terminal.ts';
import {collect} from './_pieces.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';
import {environment, serviceCli} from './_service-cli.ts';
import {finish, start} from './_spawn-cli.ts';

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
		destinations: {ios: 'https://i.example/', desktop: 'https://d.example/'},
		minimumVersion: {ios: '2.10', android: 210},
	},
];
const linesOf = (rows: object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const ndjson = linesOf(links);
const exporting = (rows: object[] = links) => ({
	'GET /admin/organizations/Ab12/links/export': {body: Buffer.from(linesOf(rows))},
});

/** The bodies that an import reads in a CSV. */
const readBack = async (csv: string) => (await collect(csvRows(Readable.from([Buffer.from(csv)])))).map(({row}) => row);

test('links export prints a line per link as the API gave it; no link is nothing, or an empty array', async (t) => {
	const {cli} = await startRecordingServer(t, exporting());
	ends(t, await cli('links export --org Ab12'), 0, {stdout: ndjson, stderr: ''});
	const empty = await startRecordingServer(t, exporting([]));
	ends(t, await empty.cli('links export --org Ab12'), 0, {stdout: ''});
	ends(t, await empty.cli('links export --org Ab12 --format json'), 0, {stdout: '[]\n'});
});

test('an export with a SERVER key has every link once, also while others are made and deleted', async (t) => {
	const stored = Array.from({length: 450}, (_, index) => ({id: `link-${index}`}));
	// Each between the count of a page and the reading of its rows.
	const changes = [
		() => {},
		() => stored.splice(0, 20),
		() => stored.unshift({id: 'new-1'}, {id: 'new-2'}),
		() => stored.splice(0, 132),
		() => stored.splice(1, 1),
	];
	const {cli} = await startRecordingServer(t, {
		'GET /links': ({url}) => {
			const page = Number(new URL(url, 'http://x').searchParams.get('page'));
			const total = stored.length;
			changes.shift()?.();
			return {body: pageOf(stored.slice((page - 1) * 100, page * 100), {total, page, limit: 100})};
		},
	});
	const {stdout} = await cli('links export --format json', {env: {OPLINK_API_KEY: 'k'}});
	const ids = (JSON.parse(stdout) as Array<{id: string}>).map(({id}) => id);
	t.is(new Set(ids).size, ids.length);
	t.is(changes.length, 0);
	t.true(stored.every(({id}) => ids.includes(id)));
});

test('a CSV export protects from formulas, and is read back as the same bodies', async (t) => {
	const {cli} = await startRecordingServer(t, exporting());
	const {stdout} = await cli('links export --org Ab12 --format csv');
	t.regex(stdout, /^path,shortCode,title,.*,params$/m);
	t.true(stdout.includes("'=1+1"));
	t.is((await cli('links export --org Ab12 --spreadsheet')).stdout, stdout);
	t.true((await cli('links export --org Ab12 --format csv --no-spreadsheet')).stdout.includes('/a,a,=1+1'));
	ends(t, await cli('links export --org Ab12 --format json --spreadsheet'), 2, {stderr: /--spreadsheet is for CSV/});
	t.deepEqual(await readBack(stdout), [
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
		{
			path: '/b',
			shortCode: 'b',
			title: 'ünï 漢',
			isActive: true,
			matchWindowHours: 168,
			destinations: links[1]?.destinations,
			minimumVersion: links[1]?.minimumVersion,
		},
	]);
});

test('an export to a file reports the number of links; a refused one does not touch the file', async (t) => {
	const folder = await folderOf(t);
	const file = path.join(folder, 'links.ndjson');
	await writeFile(file, 'older');
	const {cli} = await startRecordingServer(t, exporting());
	const argv = (org: string) => ['links', 'export', '--org', org, '--output', 'links.ndjson'];
	t.is((await cli(argv('None'), {io: {cwd: folder}})).exitCode, 4);
	t.is(await readFile(file, 'utf8'), 'older');
	ends(t, await cli(argv('Ab12'), {io: {cwd: folder}}), 0, {stdout: '', stderr: '2 links written to links.ndjson\n'});
	t.is(await readFile(file, 'utf8'), ndjson);
});

test('an export that breaks off leaves an older file as it was, and no other', async (t) => {
	const folder = await folderOf(t);
	const file = path.join(folder, 'links.ndjson');
	await writeFile(file, 'older');
	const {cli} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/links/export': {
			raw: (_request, response) => {
				response.write(ndjson.repeat(1000));
				setImmediate(() => response.destroy());
			},
		},
	});
	ends(t, await cli(['links', 'export', '--org', 'Ab12', '--output', file]), 7);
	t.is(await readFile(file, 'utf8'), 'older');
	t.deepEqual(await readdir(folder), ['links.ndjson']);
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
	const {cli} = await startRecordingServer(t, exporting(stored));
	const {stdout} = await cli('links export --org Ab12 --format csv');
	t.deepEqual(await readBack(stdout), stored);
	t.notRegex(stdout, /(?:^|[,\n])"?[=+@-]/);
});

test('lists are cells with semicolons if unambiguous, else JSON', async (t) => {
	const tagged = [['a', 'b'], ['a;b'], [' a'], ['["a"]'], ['a', '']].map((tags) => ({path: '/', tags}));
	const {cli} = await startRecordingServer(t, exporting(tagged));
	const {stdout} = await cli('links export --org Ab12 --format csv');
	t.true(stdout.includes(',a;b,'));
	t.deepEqual(await readBack(stdout), tagged);
});

const {service, cli} = serviceCli(test);

const withUser = async (externalUserId: string) => {
	const acme = await organization(service);
	await acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	await acme.client.post('/sdk/identity', {deviceId: 'device-0001', externalUserId});
	return acme;
};

test('an export goes to standard output, or to a file that only its owner may read', async (t) => {
	const {orgKey} = await withUser('customer 77');
	const printed = ends(t, await cli(['privacy', 'export', '--org', orgKey, '--user', 'customer 77']), 0);
	t.is(JSON.parse(printed.stdout).devices[0].externalUserId, 'customer 77');
	const file = path.join(await folderOf(t), 'customer.json');
	const argv = `privacy export --org ${orgKey} --device device-0001 --output ${file}`;
	ends(t, await finish(start(t, argv, environment(service))), 0, {
		stdout: '',
		stderr: `Data of device device-0001 written to ${file}\n`,
	});
	t.is(JSON.parse(await readFile(file, 'utf8')).devices.length, 1);
	t.is((await stat(file)).mode & 0o777, 0o600);
});

test('erase needs --yes without a terminal, reports what it erased, and ends with 4 the second time', async (t) => {
	const {orgKey} = await withUser('customer-78');
	const erase = `privacy erase --org ${orgKey} --user customer-78`;
	ends(t, await cli(erase), 2, {stderr: /Add --yes/});
	ends(t, await cli(`${erase} --yes --json`), 0, {
		json: {externalUserId: 'customer-78', erased: {devices: 1, events: 0, matchAttempts: 0, clicks: 0}},
	});
	ends(t, await cli(`${erase} --yes`), 4, {stderr: /^Error: Nothing is stored about this user$/m});
});

test('on a terminal erase asks first', async (t) => {
	const {orgKey} = await withUser('customer-79');
	const terminal = createTerminal('y\r');
	ends(t, await cli(`privacy erase --org ${orgKey} --user customer-79`, {io: terminal.io}), 0, {
		stdout: 'Erased the user customer-79: 1 device, 0 events, 0 match attempts, 0 clicks\n',
	});
	t.regex(terminal.text(), /Erase all/);
});

test('whose data it is has to be said, once', async (t) => {
	for (const argv of ['export Ab12', 'erase Ab12 --yes', 'export Ab12 --user a --device b']) {
		t.is((await cli(`privacy ${argv}`)).exitCode, 2, argv);
	}
});

test('an interrupted or refused export does not touch an older file', async (t) => {
	const folder = await folderOf(t);
	const file = path.join(folder, 'data.json');
	await writeFile(file, 'older');
	const broken = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/users/a/data': {
			raw: (_, response) => {
				response.writeHead(200, {'content-type': 'application/json'});
				response.write('{"devices":[');
				setImmediate(() => response.destroy());
			},
		},
	});
	const argv = `privacy export --org Ab12 --output ${file} --user`;
	t.is((await broken.cli(`${argv} a`)).exitCode, 7);
	t.is((await broken.cli(`${argv} b`)).exitCode, 4);
	t.is(await readFile(file, 'utf8'), 'older');
	t.deepEqual(await readdir(folder), ['data.json']);
});

test('links of a custom domain come into another organization from a CSV, too', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const domain = await approvedDomain(acme, 'go.exported.example');
	await acme.server.post('/links', {path: '/own', shortCode: 'own', domainId: domain.id});
	const {stdout: stdin} = await cli(`links export --org ${acme.id} --format csv`);
	const importing = 'links import - --format csv --org';
	ends(t, await cli(`${importing} ${other.id}`, {stdin}), 0);
	t.is((await other.server.get('/links')).body.data[0].shortCode, 'own');
	const again = await cli(`${importing} ${acme.id} --on-conflict update --json`, {stdin});
	t.like(JSON.parse(again.stdout), {skipped: 1, updated: 0});
});
