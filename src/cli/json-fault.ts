import {parse} from '@humanwhocodes/momoa';

const lineEndsBefore = (text: string, at: number): number => text.slice(0, at).split('\n').length - 1;

/**
 * Where a text is not valid JSON and why: `line` counts from 0.
 * @param error that of JSON.parse, which names a place in some versions and for some faults only.
 */
export const jsonFault = (text: string, error: unknown): {line: number; reason: string} => {
	const message = error instanceof Error ? error.message : String(error);
	const [, at] = /at position (\d+)/.exec(message) ?? [];
	const said = message.replace(/ (?:in JSON )?at position \d+.*$/s, '');
	const reason = said.endsWith(' is not valid JSON') && said.includes(', ') ? said.slice(0, said.indexOf(', ')) : said;
	if (at !== undefined) {
		return {line: lineEndsBefore(text, Number(at)), reason};
	}

	try {
		parse(text, {mode: 'json'});
	} catch (fault) {
		const {line} = fault as {line?: number};
		return {line: (line ?? 1) - 1, reason};
	}

	return {line: 0, reason};
};
