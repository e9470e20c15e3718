import {PassThrough} from 'node:stream';
import {stripVTControlCharacters} from 'node:util';
import {createSink} from './_run-cli.ts';

/** A terminal on which `keys` have been typed; its modes show whether it was restored. */
export const createTerminal = (keys = '') => {
	const modes: boolean[] = [];
	const stdin = Object.assign(new PassThrough(), {
		isTTY: true,
		setRawMode: (isRaw: boolean) => {
			modes.push(isRaw);
			return stdin;
		},
		ref: () => stdin,
		unref: () => stdin,
	});
	stdin.write(keys);
	const sink = createSink();
	return {
		io: {stdin, stderr: Object.assign(sink.stream, {isTTY: true, columns: 80, rows: 24})},
		text: () => stripVTControlCharacters(sink.text()),
		raw: sink.text,
		/** Whether it was made raw, each time. */
		modes,
		isRaw: () => modes.at(-1) ?? false,
	};
};
