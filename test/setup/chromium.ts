import {findProgram} from './find-program.ts';

/** Of the unpacked fonts alone, so that a page is laid out alike wherever Chromium was downloaded. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir prefix="relative">usr/share/fonts</dir></fontconfig>
`;

/**
 * The path of a Chromium that runs without a screen.
 * Throws, with what to do, where there is none: tests of the pages that people see are never passed over.
 */
export const findChromium = async (): Promise<string> => {
	const found = await findProgram({
		name: 'chromium',
		variable: 'TEST_CHROMIUM',
		names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
		// Latin, Cyrillic and Arabic letters come with the one font, Chinese, Japanese and Korean with the other.
		packages: ['chromium-headless-shell', 'chromium-common', 'fonts-dejavu-core', 'fonts-wqy-microhei'],
		binary: 'usr/lib/chromium/chromium-headless-shell',
		files: {'fonts.conf': FONTS},
		variables: {FONTCONFIG_FILE: '$root/fonts.conf'},
	});
	if ('command' in found) {
		return found.command;
	}

	throw new Error(
		[
			`The tests need a Chromium, and none could be had (${found.reason}). Provide one in one of three ways:`,
			'  1. set TEST_CHROMIUM to the path of a Chromium, a Chrome or their headless shell;',
			'  2. install chromium or google-chrome, so that it is on PATH;',
			'  3. on Debian, let apt-get reach its mirrors: the tests download the package by themselves.',
		].join('\n'),
	);
};
