import {PassThrough} from 'node:stream';
import {createSink} from './_run-cli.ts';

/** A terminal with typed `keys`; `isRaw` shows whether it was restored. */
export const createTerminal = (keys: string) => {
	const state = {isRaw: false};
	const stdin = Object.assign(new PassThrough(), {
		isTTY: true,
		setRawMode: (isRaw: boolean) => {
			state.isRaw = isRaw;
			return stdin;
		},
	});
	stdin.write(keys);
	const sink = createSink();
	return {
		io: {stdin, stderr: Object.assign(sink.stream, {isTTY: true, columns: 80, rows: 24})},
		text: sink.text,
		isRaw: () => state.isRaw,
	};
};
