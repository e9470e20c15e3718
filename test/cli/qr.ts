import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {gridOf} from '../../src/cli/qr-sheet.ts';
import {pageOf, type Responder, startRecordingServer} from './_recording-server.ts';
import {runCli} from './_run-cli.ts';

const drawing = (id: string) => `<path d="${id}"/>`;
const svg = (id: string) =>
	`<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512" viewBox="0 0 33 33">${drawing(id)}</svg>`;

const link = (id: string, shortCode: string, title: string | null) => ({
	id,
	shortCode,
	title,
	url: `https://go.example/Ab12/${shortCode}`,
});
const links = [
	link('1', 'Spring', 'Spring <sale> & more'),
	link('2', 'spring', null),
	link('3', 'summer', 'Sommer 夏'),
];

/** A server with these links, and a folder that files go to. */
const setup = async (t: ExecutionContext) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-qr-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const codes: Record<string, Responder> = Object.fromEntries(
		links.flatMap(({id, ...rest}) => [
			[`GET /links/${id}/qr.svg`, () => ({body: Buffer.from(svg(id))})],
			[`GET /links/${id}/qr.png`, () => ({body: Buffer.from(`png ${id}`)})],
			[`GET /links/${id}`, () => ({body: {id, ...rest}})],
		]),
	);
	const {env, requests} = await startRecordingServer(t, {...codes, 'GET /links': () => ({body: pageOf(links)})});
	return {
		requests,
		cli: (...argv: string[]) =>
			runCli(['qr', 'export', ...argv], {env: {...env, OPLINK_API_KEY: 'k'}, io: {cwd: folder}}),
		read: (name: string) => readFile(path.join(folder, name), 'utf8'),
		files: () => readdir(folder, {recursive: true}),
	};
};

test('--all writes every code into a folder, under names that differ in more than case', async (t) => {
	const {cli, files, read} = await setup(t);
	const {exitCode, stdout} = await cli('--all', '--output', 'codes', '--format', 'png');
	t.is(exitCode, 0);
	t.is(stdout, 'codes/Spring.png\ncodes/spring-2.png\ncodes/summer.png\n');
	t.deepEqual((await files()).toSorted(), ['codes', ...stdout.trim().split('\n')]);
	t.is(await read('codes/spring-2.png'), 'png 2');
});

test('a sheet of HTML has each label with title and short URL, on pages of A4', async (t) => {
	const {cli, read} = await setup(t);
	const {exitCode, stdout} = await cli('--all', '--sheet', 'labels.html', '--per-page', '2', '--json');
	t.is(exitCode, 0);
	t.deepEqual(JSON.parse(stdout), [{sheet: true, file: 'labels.html'}]);
	const html = await read('labels.html');
	t.regex(html, /^<!doctype html>/);
	t.true(html.includes('@page {size: A4; margin: 0}'));
	t.is(html.split('width="210mm" height="297mm"').length - 1, 2);
	for (const {id, shortCode} of links) {
		t.true(html.includes(drawing(id)));
		t.true(html.includes(`>go.example/Ab12/${shortCode}</text>`));
	}

	t.true(html.includes('>Spring &#60;sale&#62; &#38; more</text>'));
	t.true(html.includes('>Sommer 夏</text>'));
});

test('a sheet of SVG is a file per page', async (t) => {
	const {cli, files, read} = await setup(t);
	t.is((await cli('3', '1', '--sheet', 'one.svg')).stdout, 'one.svg\n');
	const one = await read('one.svg');
	t.true(one.indexOf(drawing('3')) < one.indexOf(drawing('1')));
	const {stdout} = await cli('--all', '--output', 'codes/', '--sheet', 'many.svg', '--per-page', '2');
	t.deepEqual(stdout.trim().split('\n').slice(-2), ['many-1.svg', 'many-2.svg']);
	t.true((await files()).includes('many-2.svg'));
});

test('a code that is over the rate limit is asked for again', async (t) => {
	let tries = 0;
	const {env} = await startRecordingServer(t, {
		'GET /links/1/qr.svg': () => {
			tries += 1;
			return tries === 1
				? {status: 429, body: {statusCode: 429, message: 'Rate limit exceeded. Retry after 3 second(s).'}}
				: {body: Buffer.from(svg('1'))};
		},
	});
	const waits: number[] = [];
	const {stdout} = await runCli(['qr', 'export', '1', '--output', '-'], {
		env: {...env, OPLINK_API_KEY: 'k'},
		io: {
			sleep: async (seconds) => {
				waits.push(seconds);
			},
		},
	});
	t.is(stdout, svg('1'));
	t.deepEqual(waits, [3]);
});

for (const [what, argv, says] of [
	['no link', ['--output', 'x'], /No link is given/],
	['a link and --all', ['1', '--all', '--output', 'x'], /Links and --all cannot be combined/],
	['nowhere to write', ['1'], /No output is given/],
	['every code on standard output', ['--all', '--output', '-'], /Only one code can be written/],
	['a file of another kind', ['1', '--output', 'one.jpg'], /neither \.svg nor \.png/],
	['a sheet of another kind', ['1', '--sheet', 'x.pdf'], /neither \.svg nor \.html/],
	['no label on a page', ['1', '--sheet', 'x.svg', '--per-page', '0'], /from 1 to 100/],
] as const) {
	test(`${what} is a usage error without a request`, async (t) => {
		const {cli, requests} = await setup(t);
		const {exitCode, stderr} = await cli(...argv);
		t.is(exitCode, 2);
		t.regex(stderr, says);
		t.deepEqual(requests, []);
	});
}

test('labels are as large as the page allows', (t) => {
	const shape = (perPage: number) => {
		const {columns, rows} = gridOf(perPage);
		return [columns, rows];
	};
	t.deepEqual(shape(1), [1, 1]);
	t.deepEqual(shape(2), [1, 2]);
	t.deepEqual(shape(12), [3, 4]);
	for (let perPage = 1; perPage <= 100; perPage += 1) {
		const {columns, rows, width, height} = gridOf(perPage);
		t.true(columns * rows >= perPage && columns * width <= 190.001 && rows * height <= 277.001);
	}
});
