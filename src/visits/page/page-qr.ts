import encodeQR from 'qr';

/** Modules of light ground around a symbol (ISO/IEC 18004 5.3.8). */
const QUIET_ZONE = 4;

/** Modules in a row of the largest symbol, version 40 (ISO/IEC 18004 5.3.1), and its quiet zone. */
const MAX_MODULES = 177 + 2 * QUIET_ZONE;

// Most of the time of a path would go into writing its numbers.
const numbered = (command: string): string[] =>
	Array.from({length: MAX_MODULES}, (_, modules) => command.replace('#', String(modules)));
const [gaps, lines] = [numbered('m# 0'), numbered('h#')];

/**
 * Choosing among the eight masks takes half of the time of a code. Readers find the mask in the symbol (ISO/IEC 18004
 * 7.9.1), and the texts of URLs leave no large even areas under this one, a chessboard.
 */
const MASK = 0;

/**
 * The QR code of `url` as an SVG element: error correction M, black on white, as the API's (`qrcode`). Desktop visitors
 * with a query wait for it, so the encoder is the one that takes a tenth of the time.
 */
export const pageQr = (url: string): string => {
	const modules = encodeQR(url, 'raw', {ecc: 'medium', border: QUIET_ZONE, mask: MASK});
	let path = '';
	for (const [y, row] of modules.entries()) {
		let end = -1;
		for (let start = row.indexOf(true); start !== -1; start = row.indexOf(true, end)) {
			path += end === -1 ? `M${start} ${y}.5` : gaps[start - end];
			// A line ends within its quiet zone at the latest.
			end = row.indexOf(false, start);
			path += lines[end - start];
		}
	}

	const size = modules.length;
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#ffffff" d="M0 0h${size}v${size}H0z"/><path stroke="#000000" d="${path}"/></svg>\n`;
};
