/** How a QR code is drawn: `margin` in modules, colours as RRGGBB. `size` in pixels. */
export type QrOptions = {
	size?: number;
	margin: number;
	color: string;
	bgColor: string;
	ecc: 'L' | 'M' | 'Q' | 'H';
};

/** Loaded with the first code that is drawn. */
export const loadQrCode = async () => (await import('qrcode')).default;

export const TRANSPARENT = 'transparent';

export const plain: QrOptions = {margin: 4, color: '000000', bgColor: 'ffffff', ecc: 'M'};

/** A colour of the options as RRGGBBAA. */
export const hexOf = (text: string): string =>
	(text === TRANSPARENT ? 'ffffff00' : `${text.replace('#', '')}ff`).toLowerCase();

/** The QR code of `url` as an SVG element. */
export const qrSvg = async (url: string, {size, margin, color, bgColor, ecc}: QrOptions = plain): Promise<string> =>
	(await loadQrCode()).toString(url, {
		type: 'svg',
		errorCorrectionLevel: ecc,
		margin,
		color: {dark: `#${hexOf(color)}`, light: `#${hexOf(bgColor)}`},
		...(size === undefined ? {} : {width: size}),
	});
