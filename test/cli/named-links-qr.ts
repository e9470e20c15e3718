import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {gridOf} from '../../src/cli/qr-files.ts';
import {link, organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {serviceOf} from '../helpers/service.ts';
import {folderOf} from './_folder.ts';
import {pageOf, type Responder, startRecordingServer} from './_recording-server.ts';
import {createSink, ends, runCli} from './_run-cli.ts';

const service = serviceOf(test);

const cli = (...argv: string[]) =>
	runCli(argv, {env: {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken}});

const onTerminal = async (...argv: string[]) => {
	const screen = createSink();
	const stdout = Object.assign(screen.stream, {isTTY: true, columns: 80});
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken, NO_COLOR: '1'};
	await runCli(argv, {env, io: {stdout}});
	return screen.text();
};

test('every command takes a short code or a short URL and finds the organization by it', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme, {shortCode: `spring-${acme.orgKey}`});
	const code = `spring-${acme.orgKey}`;
	for (const named of [id, code, url, url.replace(/^https?:\/\//, ''), `${url}?ref=7`, `${url}/`]) {
		const {stdout} = ends(t, await cli('links', 'show', named, '--json'), 0);
		t.is(JSON.parse(stdout).id, id);
	}

	t.is(JSON.parse((await cli('links', 'update', code, '--title', 'Spring', '--json')).stdout).title, 'Spring');
	t.is((await cli('stats', '--link', url)).exitCode, 0);
	t.is((await cli('match', 'simulate', code)).exitCode, 0);
	const {stdoutBytes} = await cli('qr', 'export', url, '--format', 'svg', '--output', '-');
	t.regex(stdoutBytes.toString(), /<svg/);
	const withKey = await runCli(`links show ${url} --json --api-key ${acme.serverKey}`, {
		env: {OPLINK_URL: service.url},
	});
	t.is(JSON.parse(withKey.stdout).id, id);
	t.is((await cli('links', 'delete', url, '--yes')).exitCode, 0);
	t.is((await cli('links', 'show', id)).exitCode, 4);
	for (const [foreign, message] of [
		['https://elsewhere.example/a/b', 'Link not found'],
		[`https://elsewhere.example/${acme.orgKey}/b`, 'Unknown link domain'],
	] as const) {
		ends(t, await cli('links', 'show', foreign), 4, {
			stderr: new RegExp(`^Error: ${message}\\nRequest id: .*\\nNext: oplink `),
		});
	}
});

test('a short code of several organizations asks which, and names their URLs', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const code = `both-${acme.orgKey}`;
	const [ours, theirs] = [await link(acme, {shortCode: code}), await link(other, {shortCode: code})];
	const {stderr} = ends(t, await cli('links', 'show', code), 2);
	t.true(stderr.includes(`2 organizations have a link '${code}'`));
	t.true([ours.url, theirs.url].every((url) => stderr.includes(url)));
	t.is(JSON.parse((await cli('links', 'show', code, '--org', acme.orgKey, '--json')).stdout).id, ours.id);
	t.is(JSON.parse((await cli('links', 'show', theirs.url, '--json')).stdout).id, theirs.id);
});

test('an unknown link ends with 4, and a text that is none with 2', async (t) => {
	const acme = await organization(service);
	for (const argv of [['no-such-code'], ['no-such-code', '--org', acme.orgKey]]) {
		ends(t, await cli('links', 'show', ...argv), 4, {stderr: /no link 'no-such-code'/});
	}

	t.is((await cli('links', 'show', 'https://elsewhere.example/Ab12/x')).exitCode, 4);
	t.is((await cli('links', 'show', 'no code')).exitCode, 2);
});

test('a URL on a custom domain, with a prefix too, names its link; a domain is named by its host', async (t) => {
	const acme = await organization(service);
	const hostname = `go-${acme.orgKey.toLowerCase()}.example`;
	const org = ['--org', acme.orgKey];
	await cli('domains', 'add', hostname, ...org);
	t.is((await cli('domains', 'approve', hostname, ...org)).exitCode, 0);
	await cli('domains', 'set', hostname, '--path-prefix', 'promos', ...org);
	const created = await cli('links', 'create', '--path', '/sale', '--domain', hostname, ...org, '--json');
	const {id, url, shortCode} = JSON.parse(created.stdout);
	t.true(url.startsWith(`https://${hostname}/`));
	for (const named of [url, `${hostname}/${shortCode}`, `https://${hostname}/promos/${shortCode}`]) {
		t.is(JSON.parse((await cli('links', 'show', named, '--json')).stdout).id, id, named);
	}

	const {data} = JSON.parse((await cli('domains', 'list', ...org, '--json')).stdout);
	const shared = data.find(({verification}: {verification?: object}) => !verification);
	ends(t, await cli('domains', 'remove', shared.hostname, '--yes', ...org), 2, {
		stderr: /is the shared domain, which cannot be removed/,
	});
	const unknown = ends(t, await cli('links', 'create', '--path', '/sale', '--domain', 'no.example', ...org), 4);
	t.true(unknown.stderr.includes(hostname));
});

test('links list shows code, path, clicks and state uncut in 80 columns', async (t) => {
	const acme = await organization(service);
	await link(acme, {shortCode: 'autumn-collection-24', path: '/collections/autumn/2026', title: 'A title '.repeat(20)});
	await link(acme, {shortCode: 'ended', isActive: false});
	const lines = (await onTerminal('links', 'list', '--org', acme.orgKey)).trimEnd().split('\n');
	t.true(
		lines.every((line) => line.length <= 80),
		lines.join('\n'),
	);
	t.regex(lines[0] ?? '', /^SHORT CODE +PATH +CLICKS 30D +STATE +TITLE$/);
	t.true(lines.some((line) => /^ended +\/sale +0 +inactive +-$/.test(line)));
	t.true(lines.some((line) => /^autumn-collection-24 +\/collections\/autumn\/2026 +0 +active +A t.*…$/.test(line)));
});

test('links create prints the short URL first, alone, or with its QR code', async (t) => {
	const {orgKey} = await organization(service);
	const create = ['links', 'create', '--path', '/sale', '--org', orgKey];
	t.regex((await cli(...create)).stdout, new RegExp(`^url +http\\S+/${orgKey}/\\S+\n`));
	t.regex((await cli(...create, '--url-only')).stdout, new RegExp(`^http\\S+/${orgKey}/\\S+\n$`));
	t.regex((await cli(...create, '--qr')).stdout, /[▀▄█]{7}/);
	t.is((await cli(...create, '--qr', '--json')).exitCode, 2);
});

test('a URL as a path is split, a missing slash added, and both are reported', async (t) => {
	const {orgKey} = await organization(service);
	const create = (path: string, ...more: string[]) =>
		cli('links', 'create', '--path', path, '--org', orgKey, '--json', ...more);
	const split = await create('https://shop.example/sale?coupon=A1&utm_source=mail', '--param', 'coupon=B2');
	const {path, params, utmSource} = JSON.parse(split.stdout);
	t.deepEqual({path, params, utmSource}, {path: '/sale', params: {coupon: 'B2'}, utmSource: 'mail'});
	t.regex(split.stderr, /path \/sale, coupon A1, utmSource mail of https:\/\/shop\.example/);
	const mended = await create('sale');
	t.is(JSON.parse(mended.stdout).path, '/sale');
	t.is(mended.stderr, 'The path is /sale\n');
});

test('an expiry in the past and a QR code that nobody can read are refused', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme);
	ends(t, await cli('links', 'update', url, '--expiry', '2020-01-01T00:00:00Z'), 2, {
		stderr: /in the past\nNext: .*--inactive/,
	});
	for (const colors of ['color=ffffff', 'color=000000&bgColor=111111', 'color=fefefe&bgColor=transparent']) {
		const {status, body} = await admin(service).get(`/admin/organizations/${acme.id}/links/${id}/qr.svg?${colors}`);
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
	const {env, requests} = await startRecordingServer(t, {
		...codes,
		'GET /links': ({url}) => {
			const named = new URL(url, 'http://x').searchParams.get('shortCode');
			return {body: pageOf(links.filter(({id, shortCode}) => named === null || [id, shortCode].includes(named)))};
		},
	});
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
	const {stdout} = ends(t, await cli('--all', '--output', 'codes', '--format', 'png'), 0, {
		stdout: 'codes/Spring.png\ncodes/spring-2.png\ncodes/summer.png\n',
	});
	t.deepEqual((await files()).toSorted(), ['codes', ...stdout.trim().split('\n')]);
	t.is(await read('codes/spring-2.png'), 'png 2');
});

test('codes of named links go into one folder under different names, too', async (t) => {
	const {cli, files, read} = await setup(t);
	const {stdout} = ends(t, await cli('Spring', 'https://go.example/Ab12/spring', '--output', 'codes/'), 0, {
		stdout: 'codes/Spring.svg\ncodes/spring-2.svg\n',
	});
	t.deepEqual((await files()).toSorted(), ['codes', ...stdout.trim().split('\n')]);
	t.is(await read('codes/spring-2.svg'), svg('2'));
});

test('a sheet of HTML has each label with title and short URL, on pages of A4', async (t) => {
	const {cli, read} = await setup(t);
	ends(t, await cli('--all', '--sheet', 'labels.html', '--per-page', '2', '--json'), 0, {
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
		'GET /links': () => ({body: pageOf([{id: '1'}])}),
		'GET /links/1/qr.svg': () => {
			tries += 1;
			return tries === 1
				? {status: 429, body: {statusCode: 429, message: 'Rate limit exceeded. Retry after 3 second(s).'}}
				: {body: Buffer.from(svg('1'))};
		},
	});
	const waits: number[] = [];
	const {stdout} = await runCli('qr export 1 --output -', {
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
		ends(t, await cli(...argv), 2, {stderr: says});
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

test('a QR code for a place that holds no files is refused at once', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	for (const argv of [
		[url, '--output', '/proc/x'],
		['--all', '--org', acme.orgKey, '--output', '/proc/x'],
	]) {
		ends(t, await cli('qr', 'export', ...argv), 1, {
			stdout: '',
			stderr: 'Error: /proc/x does not exist\nNext: Correct --output\n',
		});
	}
});
