import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {gridOf} from '../../src/cli/qr-files.ts';
import {link, organization} from '../helpers/builders.ts';
import {folderOf} from '../helpers/folder.ts';
import {pageOf, type Responder, startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';
import {serviceCli, withKey} from './_service-cli.ts';

const {service, cli, json, onScreen} = serviceCli(test);

test('every command takes a short code or a short URL and finds the organization by it', async (t) => {
	const acme = await organization(service);
	const code = `spring-${acme.orgKey}`;
	const {id, url} = await link(acme, {shortCode: code});
	for (const named of [id, code, url, url.replace(/^https?:\/\//, ''), `${url}?ref=7`, `${url}/`]) {
		t.is((await json(`links show ${named}`)).id, id, named);
	}

	t.is((await json(`links update ${code} --title Spring`)).title, 'Spring');
	t.is((await cli(`stats --link ${url}`)).exitCode, 0);
	t.is((await cli(`match simulate ${code}`)).exitCode, 0);
	t.regex((await cli(`qr export ${url} --format svg --output -`)).stdout, /<svg/);
	t.is((await json(`links show ${url}`, withKey(acme))).id, id);
	t.is((await cli(`links delete ${url} --yes`)).exitCode, 0);
	t.is((await cli(`links show ${id}`)).exitCode, 4);
	for (const [foreign, message] of [
		['https://elsewhere.example/a/b', 'Link not found'],
		[`https://elsewhere.example/${acme.orgKey}/b`, 'Unknown link domain'],
	] as const) {
		ends(t, await cli(`links show ${foreign}`), 4, {
			stderr: new RegExp(`^Error: ${message}\\nRequest id: .*\\nNext: oplink `),
		});
	}
});

test('a short code of several organizations asks which, and names their URLs', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const code = `both-${acme.orgKey}`;
	const [ours, theirs] = [await link(acme, {shortCode: code}), await link(other, {shortCode: code})];
	const {stderr} = ends(t, await cli(`links show ${code}`), 2);
	for (const text of [`2 organizations have a link '${code}'`, ours.url, theirs.url]) {
		t.true(stderr.includes(text), text);
	}

	t.is((await json(`links show ${code} --org ${acme.orgKey}`)).id, ours.id);
	t.is((await json(`links show ${theirs.url}`)).id, theirs.id);
});

test('an unknown link ends with 4, and a text that is none with 2', async (t) => {
	const {orgKey} = await organization(service);
	for (const named of ['no-such-code', `no-such-code --org ${orgKey}`]) {
		ends(t, await cli(`links show ${named}`), 4, {stderr: /no link 'no-such-code'/});
	}

	t.is((await cli(['links', 'show', 'no code'])).exitCode, 2);
});

test('a URL on a custom domain, with a prefix too, names its link; a domain is named by its host', async (t) => {
	const {orgKey} = await organization(service);
	const hostname = `go-${orgKey.toLowerCase()}.example`;
	const org = `--org ${orgKey}`;
	await cli(`domains add ${hostname} ${org}`);
	t.is((await cli(`domains approve ${hostname} ${org}`)).exitCode, 0);
	await cli(`domains set ${hostname} --path-prefix promos ${org}`);
	const {id, url, shortCode} = await json(`links create --path /sale --domain ${hostname} ${org}`);
	t.true(url.startsWith(`https://${hostname}/`));
	for (const named of [url, `${hostname}/${shortCode}`, `https://${hostname}/promos/${shortCode}`]) {
		t.is((await json(`links show ${named}`)).id, id, named);
	}

	const {data} = await json(`domains list ${org}`);
	const shared = data.find(({verification}: {verification?: object}) => !verification);
	ends(t, await cli(`domains remove ${shared.hostname} --yes ${org}`), 2, {
		stderr: /is the shared domain, which cannot be removed/,
	});
	const unknown = ends(t, await cli(`links create --path /sale --domain no.example ${org}`), 4);
	t.true(unknown.stderr.includes(hostname));
});

test('links list shows code, path, clicks and state uncut in 80 columns', async (t) => {
	const acme = await organization(service);
	await link(acme, {shortCode: 'autumn-collection-24', path: '/collections/autumn/2026', title: 'A title '.repeat(20)});
	await link(acme, {shortCode: 'ended', isActive: false});
	const {stdout} = ends(t, await onScreen(`links list --org ${acme.orgKey}`), 0, {
		stdout: [
			/^SHORT CODE +PATH +CLICKS 30D +STATE +TITLE\n/,
			/^ended +\/sale +0 +inactive +-$/m,
			/^autumn-collection-24 +\/collections\/autumn\/2026 +0 +active +A t.*…$/m,
		],
	});
	t.true(stdout.split('\n').every((line) => line.length <= 80));
});

test('links create prints the short URL first, alone, or with its QR code', async (t) => {
	const {orgKey} = await organization(service);
	const create = `links create --path /sale --org ${orgKey}`;
	t.regex((await cli(create)).stdout, new RegExp(`^url +http\\S+/${orgKey}/\\S+\n`));
	t.regex((await cli(`${create} --url-only`)).stdout, new RegExp(`^http\\S+/${orgKey}/\\S+\n$`));
	t.regex((await cli(`${create} --qr`)).stdout, /[▀▄█]{7}/);
	t.is((await cli(`${create} --qr --json`)).exitCode, 2);
});

test('a URL as a path is split, a missing slash added, and both are reported', async (t) => {
	const {orgKey} = await organization(service);
	const create = `links create --org ${orgKey} --json --path`;
	const split = await cli(`${create} https://shop.example/sale?coupon=A1&utm_source=mail --param coupon=B2`);
	t.like(JSON.parse(split.stdout), {path: '/sale', params: {coupon: 'B2'}, utmSource: 'mail'});
	t.regex(split.stderr, /path \/sale, coupon A1, utmSource mail of https:\/\/shop\.example/);
	const mended = ends(t, await cli(`${create} sale`), 0, {stderr: 'The path is /sale\n'});
	t.is(JSON.parse(mended.stdout).path, '/sale');
});

test('an expiry in the past and a QR code that nobody can read are refused', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme);
	ends(t, await cli(`links update ${url} --expiry 2020-01-01T00:00:00Z`), 2, {
		stderr: /in the past\nNext: .*--inactive/,
	});
	for (const colors of ['color=ffffff', 'color=000000&bgColor=111111', 'color=fefefe&bgColor=transparent']) {
		const {status, body} = await acme.operator.get(`/links/${id}/qr.svg?${colors}`);
		t.is(status, 400, colors);
		t.is(body.details[0].field, 'color');
	}
});

const drawing = (id: string) => `<path d="${id}"/>`;
const svg = (id: string) =>
	`<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512" viewBox="0 0 33 33">${drawing(id)}</svg>`;

const listed = (id: string, shortCode: string, title: string | null) => ({
	id,
	shortCode,
	title,
	url: `https://go.example/Ab12/${shortCode}`,
});
const links = [
	listed('1', 'Spring', 'Spring <sale> & more'),
	listed('2', 'spring', null),
	listed('3', 'summer', 'Sommer 夏'),
];

/** A server with these links, and a folder that files go to. */
const setup = async (t: ExecutionContext) => {
	const folder = await folderOf(t);
	const codes: Record<string, Responder> = Object.fromEntries(
		links.flatMap(({id, ...rest}) => [
			[`GET /links/${id}/qr.svg`, () => ({body: Buffer.from(svg(id))})],
			[`GET /links/${id}/qr.png`, () => ({body: Buffer.from(`png ${id}`)})],
			[`GET /links/${id}`, () => ({body: {id, ...rest}})],
		]),
	);
	const server = await startRecordingServer(t, {
		...codes,
		'GET /links': ({url}) => {
			const named = new URL(url, 'http://x').searchParams.get('shortCode');
			return {body: pageOf(links.filter(({id, shortCode}) => named === null || [id, shortCode].includes(named)))};
		},
	});
	return {
		requests: server.requests,
		exports: (options: string) => server.cli(`qr export ${options}`, {env: {OPLINK_API_KEY: 'k'}, io: {cwd: folder}}),
		read: (name: string) => readFile(path.join(folder, name), 'utf8'),
		files: () => readdir(folder, {recursive: true}),
	};
};

test('--all writes every code into a folder, under names that differ in more than case', async (t) => {
	const {exports, files, read} = await setup(t);
	const {stdout} = ends(t, await exports('--all --output codes --format png'), 0, {
		stdout: 'codes/Spring.png\ncodes/spring-2.png\ncodes/summer.png\n',
	});
	t.deepEqual((await files()).toSorted(), ['codes', ...stdout.trim().split('\n')]);
	t.is(await read('codes/spring-2.png'), 'png 2');
});

test('codes of named links go into one folder under different names, too', async (t) => {
	const {exports, files, read} = await setup(t);
	const expected = ['codes/Spring.svg', 'codes/spring-2.svg'];
	ends(t, await exports('Spring https://go.example/Ab12/spring --output codes/ --json'), 0, {
		json: expected.map((file, index) => ({id: `${index + 1}`, file, bytes: svg('1').length})),
	});
	t.deepEqual((await files()).toSorted(), ['codes', ...expected]);
	t.is(await read('codes/spring-2.svg'), svg('2'));
});

test('a sheet of HTML has each label with title and short URL, on pages of A4', async (t) => {
	const {exports, read} = await setup(t);
	ends(t, await exports('--all --sheet labels.html --per-page 2 --json'), 0, {
		json: [{sheet: true, file: 'labels.html'}],
	});
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
	const {exports, files, read} = await setup(t);
	t.is((await exports('3 1 --sheet one.svg')).stdout, 'one.svg\n');
	const one = await read('one.svg');
	t.true(one.indexOf(drawing('3')) < one.indexOf(drawing('1')));
	const {stdout} = await exports('--all --output codes/ --sheet many.svg --per-page 2');
	t.deepEqual(stdout.trim().split('\n').slice(-2), ['many-1.svg', 'many-2.svg']);
	t.true((await files()).includes('many-2.svg'));
});

test('a code that is over the rate limit is asked for again', async (t) => {
	const message = 'Rate limit exceeded. Retry after 3 second(s).';
	const answers = [{status: 429, body: {statusCode: 429, message}}, {body: Buffer.from(svg('1'))}];
	const server = await startRecordingServer(t, {
		'GET /links': {body: pageOf([{id: '1'}])},
		'GET /links/1/qr.svg': () => answers.shift() ?? {status: 500},
	});
	const waits: number[] = [];
	const sleep = async (seconds: number) => void waits.push(seconds);
	const {stdout} = await server.cli('qr export 1 --output -', {env: {OPLINK_API_KEY: 'k'}, io: {sleep}});
	t.is(stdout, svg('1'));
	t.deepEqual(waits, [3]);
});

test('options that name no codes, no place or no kind of file are usage errors without a request', async (t) => {
	const {exports, requests} = await setup(t);
	for (const [options, stderr] of [
		['--output x', /No link is given/],
		['1 --all --output x', /Links and --all cannot be combined/],
		['1', /No output is given/],
		['--all --output -', /Only one code can be written/],
		['1 --output one.jpg', /neither \.svg nor \.png/],
		['1 --sheet x.pdf', /neither \.svg nor \.html/],
		['1 --sheet x.svg --per-page 0', /from 1 to 100/],
	] as const) {
		ends(t, await exports(options), 2, {stderr});
	}

	t.deepEqual(requests, []);
});

test('labels are as large as the page allows', (t) => {
	t.like(gridOf(1), {columns: 1, rows: 1});
	t.like(gridOf(2), {columns: 1, rows: 2});
	t.like(gridOf(12), {columns: 3, rows: 4});
	for (let perPage = 1; perPage <= 100; perPage += 1) {
		const {columns, rows, width, height} = gridOf(perPage);
		t.true(columns * rows >= perPage && columns * width <= 190.001 && rows * height <= 277.001);
	}
});

test('a QR code for a place that holds no files is refused at once', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	for (const which of [url, `--all --org ${acme.orgKey}`]) {
		ends(t, await cli(`qr export ${which} --output /proc/x`), 1, {
			stdout: '',
			stderr: 'Error: /proc/x does not exist\nNext: Correct --output\n',
		});
	}
});
