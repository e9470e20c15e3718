import type {IncomingHttpHeaders} from 'node:http';
import {crc32, deflateSync} from 'node:zlib';
import Joi from 'joi';
import {validationFailed} from '../../../platform/errors.ts';
import {etagOf, isKnown} from '../../../platform/http/headers.ts';
import {type Reply, reply} from '../../../platform/http/route.ts';
import {integerQuery} from '../../../platform/http/validate.ts';
import {hexOf, loadQrCode, plain, type QrOptions, qrSvg, TRANSPARENT} from './qr-svg.ts';

/** 0 to 255 each; alpha 0 is transparent. */
export type Rgba = readonly [red: number, green: number, blue: number, alpha: number];

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

const chunk = (type: string, data: Buffer): Buffer => {
	const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const frame = Buffer.alloc(8);
	frame.writeUInt32BE(data.length, 0);
	frame.writeUInt32BE(crc32(body), 4);
	return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
};

/**
 * A square image of two colours as a PNG of one bit a pixel (ISO/IEC 15948): a hundredth of the work and of the bytes
 * that four channels take.
 * @param rows one per line of pixels, from the top; a line is `ceil(size / 8)` bytes, the leftmost pixel in the highest
 * bit, 1 for `dark`.
 */
export const bitmapPng = (
	rows: readonly Buffer[],
	{size, light, dark}: {size: number; light: Rgba; dark: Rgba},
): Buffer => {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(size, 0);
	header.writeUInt32BE(size, 4);
	header.set([1, 3, 0, 0, 0], 8);
	const unfiltered = Buffer.alloc(1);
	return Buffer.concat([
		SIGNATURE,
		chunk('IHDR', header),
		chunk('PLTE', Buffer.from([...light.slice(0, 3), ...dark.slice(0, 3)])),
		chunk('tRNS', Buffer.from([light[3], dark[3]])),
		chunk('IDAT', deflateSync(Buffer.concat(rows.flatMap((row) => [unfiltered, row])))),
		chunk('IEND', Buffer.alloc(0)),
	]);
};

const DEFAULT_SIZE = 512;

const color = Joi.string()
	.pattern(/^#?[0-9a-fA-F]{6}$/)
	.messages({'string.pattern.base': '{{#label}} must be a colour as RRGGBB'});

/** The query of both images (contract/links 7). */
export const qrQuery = Joi.object<QrOptions>({
	size: integerQuery({min: 64, max: 2048}),
	margin: integerQuery({min: 0, max: 16}).default(4),
	color: color.default('000000'),
	bgColor: color.allow(TRANSPARENT).default('ffffff'),
	ecc: Joi.valid('L', 'M', 'Q', 'H').default('M'),
});

const rgba = (text: string): Rgba => {
	const [red = 0, green = 0, blue = 0, alpha = 255] = Buffer.from(hexOf(text), 'hex');
	return [red, green, blue, alpha];
};

/**
 * The QR code of `url` as a PNG of exactly `size` pixels. Modules are whole pixels: the margin takes
 * the rest, and shrinks if the symbol needs its space.
 * @throws 400 if `size` has less than a pixel for each module.
 */
export const qrPng = async (
	url: string,
	{size = DEFAULT_SIZE, margin, color, bgColor, ecc}: QrOptions = plain,
): Promise<Buffer> => {
	const {modules} = (await loadQrCode()).create(url, {errorCorrectionLevel: ecc});
	if (size < modules.size) {
		throw validationFailed([
			{message: `size must be greater than or equal to ${modules.size} for this link`, field: 'size'},
		]);
	}

	const scale = Math.max(1, Math.floor(size / (modules.size + 2 * margin)));
	const start = Math.floor((size - modules.size * scale) / 2);
	const empty = Buffer.alloc(Math.ceil(size / 8));
	const rows = Array.from({length: size}, () => empty);
	for (let y = 0; y < modules.size; y += 1) {
		const row = Buffer.alloc(empty.length);
		for (let x = start; x < start + modules.size * scale; x += 1) {
			if (modules.get(y, Math.floor((x - start) / scale))) {
				row[x >> 3] = (row[x >> 3] ?? 0) | (128 >> (x & 7));
			}
		}

		rows.fill(row, start + y * scale, start + (y + 1) * scale);
	}

	return bitmapPng(rows, {size, light: rgba(bgColor), dark: rgba(color)});
};

const SVG_HEADERS = {
	'Content-Type': 'image/svg+xml',
	'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
};
const PNG_HEADERS = {'Content-Type': 'image/png'};

type Image = 'svg' | 'png';

/** Contrast (WCAG) that readers can distinguish. */
const MIN_CONTRAST = 2;

/** Relative luminance of RRGGBB, with a gamma of 2.2; a transparent background counts as paper. */
const luminance = (color: string): number => {
	const [red = 0, green = 0, blue = 0] = Buffer.from(hexOf(color), 'hex').map(Number);
	const linear = (channel: number) => (channel / 255) ** 2.2;
	return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
};

/** @throws 400 for colours that readers cannot distinguish. */
const requireContrast = ({color, bgColor}: QrOptions): void => {
	const [darker = 0, lighter = 0] = [luminance(color), luminance(bgColor)].toSorted((a, b) => a - b);
	if ((lighter + 0.05) / (darker + 0.05) < MIN_CONTRAST) {
		throw validationFailed([{message: 'color must differ from bgColor, or nobody can read the code', field: 'color'}]);
	}
};

/** The image of a link's short URL as a response: a private one, since it needs a credential (contract/links 7). */
export const qrReply = async (
	image: Image,
	{url}: {url: string},
	options: QrOptions,
	headers: IncomingHttpHeaders,
): Promise<Reply> => {
	requireContrast(options);
	const etag = etagOf(JSON.stringify([image, url, options]));
	const cache = {'Cache-Control': 'private, max-age=300', ETag: etag};
	if (isKnown(etag, headers['if-none-match'])) {
		return reply({status: 304, headers: cache});
	}

	return image === 'svg'
		? reply({
				headers: {...cache, ...SVG_HEADERS},
				body: await qrSvg(url, {...options, size: options.size ?? DEFAULT_SIZE}),
			})
		: reply({headers: {...cache, ...PNG_HEADERS}, body: await qrPng(url, options)});
};
