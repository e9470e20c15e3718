import {loadQrCode} from '../../links/qr/qr-svg.ts';
import {type Io, isLively} from './io.ts';
import {styled} from './printable.ts';

const BLACK = [30, 39] as const;
const ON_WHITE = [107, 49] as const;

/** A QR code of half blocks, black on white where the terminal has colours: readers expect it on dark screens too. */
export const terminalQr = async (url: string, {stdout, env}: Pick<Io, 'stdout' | 'env'>): Promise<string> => {
	const text = await (await loadQrCode()).toString(url, {type: 'utf8', errorCorrectionLevel: 'M', margin: 2});
	const lines = text.split('\n').filter((line) => line !== '');
	return isLively(stdout, env)
		? lines.map((line) => styled(styled(line, ...BLACK), ...ON_WHITE)).join('\n')
		: lines.join('\n');
};
