import type {Page} from 'playwright-core';
import decode from 'qr/decode.js';

/** The text of a QR code in a screenshot. The browser of `page` decodes the picture to pixels, in a separate window. */
export const decodeQR = async (page: Page, screenshot: Buffer): Promise<string> => {
	const blank = await page.context().newPage();
	try {
		const {width, height, pixels} = await blank.evaluate(async (base64) => {
			const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
			const bitmap = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
			const drawing = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
			drawing?.drawImage(bitmap, 0, 0);
			const image = drawing?.getImageData(0, 0, bitmap.width, bitmap.height);
			// As one string: each number of an array would be serialized separately, millions of them.
			const characters = Array.from(image?.data ?? [], (byte) => String.fromCharCode(byte));
			return {width: bitmap.width, height: bitmap.height, pixels: btoa(characters.join(''))};
		}, screenshot.toString('base64'));
		return decode({width, height, data: new Uint8Array(Buffer.from(pixels, 'base64'))}, {timeLimit: 10_000});
	} finally {
		await blank.close();
	}
};
