import {createRequire} from 'node:module';
import test from 'ava';
import fc from 'fast-check';
import QRCode from 'qrcode';
import {qrPng} from '../../../src/links/links/qr/qr.ts';
import {approvedDomain, link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {fieldsOf, linesOf} from '../_answers.ts';

const service = serviceOf(test);

type Pixels = {width: number; height: number; data: Buffer};
// The decoder that the QR library has under it: another one than wrote the image.
const requireOfLibrary = createRequire(createRequire(import.meta.url).resolve('qrcode'));
const {PNG} = requireOfLibrary('pngjs') as {PNG: {sync: {read(bytes: Buffer): Pixels}}};

const colorAt = ({width, data}: Pixels, x: number, y: number) =>
	data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4).toString('hex');

test('the SVG is that of the short URL, with headers that keep it harmless and private, and takes options', async (t) => {
	const acme = await organization(service);
	const {id, url} = await link(acme);
	const {status, headers, text} = await acme.server.get(`/links/${id}/qr.svg`);
	t.is(status, 200);
	t.like(headers, {
		'content-type': 'image/svg+xml',
		'x-content-type-options': 'nosniff',
		'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
		'cache-control': 'private, max-age=300',
	});
	t.is(text, await QRCode.toString(url, {type: 'svg', errorCorrectionLevel: 'M', margin: 4, width: 512}));
	t.regex(text, /<svg[^>]* viewBox=/);
	const query = 'size=300&margin=0&color=%23112233&bgColor=transparent&ecc=H';
	const chosen = await acme.server.get(`/links/${id}/qr.svg?${query}`);
	t.regex(chosen.text, /width="300" height="300"/);
	t.regex(chosen.text, /stroke="#112233"/);
	t.notRegex(chosen.text, /fill=/);
});

test('the PNG is 512 pixels wide by default; size and colours can be chosen', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const plain = await acme.server.get(`/links/${id}/qr.png`);
	t.is(plain.headers['content-type'], 'image/png');
	const first = PNG.sync.read(plain.bytes);
	t.deepEqual([first.width, first.height, colorAt(first, 0, 0)], [512, 512, 'ffffffff']);

	const second = PNG.sync.read(
		(await acme.operator.get(`/links/${id}/qr.png?size=333&margin=0&color=aa0000&bgColor=transparent`)).bytes,
	);
	t.is(second.width, 333);
	t.is(colorAt(second, 0, 0), 'ffffff00');
	t.is(colorAt(second, 12, 12), 'aa0000ff');
});

test('an image that the caller has is 304, and another one is not', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const first = await acme.server.get(`/links/${id}/qr.png`);
	const etag = String(first.headers.etag);
	t.regex(etag, /^W\/"[\w-]+"$/);
	for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
		const again = await acme.server.get(`/links/${id}/qr.png`, {'If-None-Match': known});
		t.deepEqual([again.status, again.bytes.length, again.headers.etag], [304, 0, etag]);
	}

	t.is((await acme.server.get(`/links/${id}/qr.png?ecc=H`, {'If-None-Match': etag})).status, 200);
	t.is((await acme.server.get(`/links/${id}/qr.svg`, {'If-None-Match': etag})).status, 200);
	await acme.server.patch(`/links/${id}`, {shortCode: 'renamed'});
	t.is((await acme.server.get(`/links/${id}/qr.png`, {'If-None-Match': etag})).status, 200);
});

test('a PNG of any size has every module in whole pixels, in the middle', async (t) => {
	const options = fc.record({
		url: fc.stringMatching(/^https:\/\/[a-z]{1,60}\.com\/[A-Za-z0-9]{4}\/[A-Za-z0-9]{1,64}$/),
		size: fc.integer({min: 64, max: 700}),
		margin: fc.integer({min: 0, max: 16}),
		ecc: fc.constantFrom('L' as const, 'M' as const, 'Q' as const, 'H' as const),
	});
	await fc.assert(
		fc.asyncProperty(options, async ({url, ...rest}) => {
			const {modules} = QRCode.create(url, {errorCorrectionLevel: rest.ecc});
			const image = PNG.sync.read(await qrPng(url, {...rest, color: '000000', bgColor: 'ffffff'}));
			const scale = Math.max(1, Math.floor(rest.size / (modules.size + 2 * rest.margin)));
			const start = Math.floor((rest.size - modules.size * scale) / 2);
			for (let y = 0; y < rest.size; y += 1) {
				for (let x = 0; x < rest.size; x += 1) {
					const [column, row] = [Math.floor((x - start) / scale), Math.floor((y - start) / scale)];
					const isInside = Math.min(column, row) >= 0 && Math.max(column, row) < modules.size;
					const isDark = isInside && Boolean(modules.get(row, column));
					if ((image.data[(y * rest.size + x) * 4] === 0) !== isDark) {
						return false;
					}
				}
			}

			return image.width === rest.size && image.height === rest.size;
		}),
		{numRuns: 25},
	);
	t.pass();
});

test('a bad option is 400, all of them at once, and so is a size below one pixel a module', async (t) => {
	const acme = await organization(service);
	const hostname = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example.com`;
	const {id: domainId} = await approvedDomain(acme, hostname);
	const {id} = await link(acme, {domainId, shortCode: 'x'.repeat(64)});
	const bad = 'size=63&margin=17&color=red&bgColor=fff&ecc=X';
	for (const [image, ...fields] of [
		[`qr.svg?${bad}`, 'bgColor', 'color', 'ecc', 'margin', 'size'],
		[`qr.png?${bad}`, 'bgColor', 'color', 'ecc', 'margin', 'size'],
		['qr.png?size=64&ecc=H', 'size'],
	] as const) {
		const {status, body} = await acme.server.get(`/links/${id}/${image}`);
		t.is(status, 400);
		t.deepEqual(fieldsOf(body), fields);
	}

	t.is((await acme.server.get(`/links/${id}/qr.png?size=200&ecc=H`)).status, 200);
});

const codes = ({body}: {body: {data: Array<{shortCode: string}>}}) => body.data.map(({shortCode}) => shortCode);

test.serial('a list is a page, the newest first, and an export has one line per link, oldest first', async (t) => {
	const acme = await organization(service);
	for (const shortCode of ['a', 'b', 'c']) {
		await link(acme, {shortCode, title: 'line\nbreak'});
		service.clock.advance(60);
	}

	const page = await acme.server.get('/links?limit=2');
	t.like(page.body, {total: 3, page: 1, limit: 2});
	t.deepEqual(codes(page), ['c', 'b']);
	t.deepEqual(codes(await acme.server.get('/links?limit=2&page=2')), ['a']);
	t.deepEqual(codes(await acme.server.get('/links?page=9')), []);
	const [{id, domainId, domain}] = page.body.data;
	const hostname = service.services.addresses.linkDomain;
	t.deepEqual(domain, {id: domainId, hostname, status: 'VERIFIED', isDefault: true});

	const {status, headers, text} = await admin(service).get(`/admin/organizations/${acme.orgKey}/links/export`);
	t.is(status, 200);
	t.is(headers['content-type'], 'application/x-ndjson');
	t.true(text.endsWith('\n'));
	const lines = linesOf(text);
	const shortCodes = lines.map(({shortCode}) => shortCode);
	t.deepEqual(shortCodes, ['a', 'b', 'c']);
	t.deepEqual(lines[2], (await acme.server.get(`/links/${id}`)).body);
});

test('filters leave only the links that are meant, and none of another organization; invalid ones are 400', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	await link(other, {shortCode: 'theirs'});
	await link(acme, {shortCode: 'off', isActive: false});
	await link(acme, {shortCode: 'tagged', tags: ['spring', 'sale']});
	await link(acme, {shortCode: 'mail', channel: 'email'});
	await link(acme, {shortCode: 'named', externalId: 'crm-7'});
	for (const [query, ...expected] of [
		['', 'mail', 'named', 'off', 'tagged'],
		['isActive=false', 'off'],
		['isActive=true', 'mail', 'named', 'tagged'],
		['tag=sale', 'tagged'],
		['tag=sal'],
		['channel=email', 'mail'],
		['externalId=crm-7', 'named'],
		['externalId=crm-7&isActive=false'],
	] as const) {
		t.deepEqual(codes(await acme.server.get(`/links?${query}`)).sort(), expected, query);
		const asOperator = await admin(service).get(`/admin/organizations/${acme.orgKey}/links?${query}`);
		t.deepEqual(codes(asOperator).sort(), expected, query);
	}

	const {status, body} = await acme.server.get('/links?limit=101&page=0&isActive=yes&clicks=maybe');
	t.is(status, 400);
	t.deepEqual(fieldsOf(body), ['clicks', 'isActive', 'limit', 'page']);
});

test('q searches title, path and short code without case, % and _ being literal', async (t) => {
	const acme = await organization(service);
	await link(acme, {shortCode: 'per_cent', title: '50% off'});
	await link(acme, {shortCode: 'other', title: '500 off', path: '/perXcent'});
	const found = async (q: string) => codes(await acme.server.get(`/links?q=${encodeURIComponent(q)}`)).sort();
	t.deepEqual(await found('0% O'), ['per_cent']);
	t.deepEqual(await found('R_C'), ['per_cent']);
	t.deepEqual(await found('PERX'), ['other']);
	t.deepEqual(await found('off'), ['other', 'per_cent']);
	t.deepEqual(await found('\\'), []);
});

test('every link is exported once, also over many batches with the same time', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	await link(other);
	const rows = Array.from({length: 1203}, (_, index) => `{"path":"/${index}","shortCode":"c${index}"}\n`).join('');
	const operator = admin(service);
	const empty = await acme.operator.get('/links/export');
	t.deepEqual([empty.status, empty.text], [200, '']);
	t.is((await operator.get('/admin/organizations/0000/links/export')).status, 404);
	await acme.operator.post('/links/import', rows, {'Content-Type': 'application/x-ndjson'});
	const first = await acme.operator.get('/links/export');
	const lines = linesOf(first.text);
	t.is(lines.length, 1203);
	t.is(new Set(lines.map(({shortCode}) => shortCode)).size, 1203);
	t.true(lines.every(({organizationId}) => organizationId === acme.id));
	t.is((await acme.operator.get('/links/export')).text, first.text);
});
