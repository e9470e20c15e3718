import type {Readable} from 'node:stream';

/** A line of the input, counted from 1; `bytes` is null for a line over the limit. */
export type Line = {line: number; bytes: Buffer | null};

const NEWLINE = 0x0a;

/** Splits the input into lines, and buffers at most `maxLineBytes` of each. */
const createSplitter = (maxLineBytes: number) => {
	let lines: Line[] = [];
	let number = 1;
	let parts: Buffer[] = [];
	let length = 0;
	let bufferedBytes = 0;

	const add = (part: Buffer) => {
		length += part.length;
		if (length <= maxLineBytes) {
			parts.push(part);
		} else {
			parts = [];
		}
	};

	const endLine = () => {
		const bytes = length > maxLineBytes ? null : Buffer.concat(parts);
		lines.push({line: number, bytes});
		bufferedBytes += bytes?.length ?? 0;
		number += 1;
		parts = [];
		length = 0;
	};

	return {
		push: (chunk: Buffer) => {
			let start = 0;
			for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
				add(chunk.subarray(start, end));
				endLine();
				start = end + 1;
			}

			add(chunk.subarray(start));
		},
		/** The last line needs no newline. */
		end: () => {
			if (length > 0) {
				endLine();
			}
		},
		isFull: (max: {lines: number; bytes: number}) => lines.length >= max.lines || bufferedBytes >= max.bytes,
		isEmpty: () => lines.length === 0,
		take: (count: number): Line[] => {
			const taken = lines.slice(0, count);
			lines = lines.slice(count);
			bufferedBytes = lines.reduce((sum, {bytes}) => sum + (bytes?.length ?? 0), 0);
			return taken;
		},
	};
};

/**
 * The lines of a stream in batches of at most `max`. A batch ends when the input pauses, for callers that wait for
 * answers before they send more. Nothing is read while a batch is processed, beyond the stream's buffer. A stream that
 * breaks off ends without its unfinished line.
 */
export async function* lineBatches(
	stream: Readable,
	{maxLineBytes, max}: {maxLineBytes: number; max: {lines: number; bytes: number}},
): AsyncGenerator<Line[]> {
	const splitter = createSplitter(maxLineBytes);
	let wake = () => {};
	const onEvent = () => wake();
	const events = ['readable', 'end', 'close', 'error'];
	for (const event of events) {
		stream.on(event, onEvent);
	}

	let hasPaused = false;
	try {
		for (;;) {
			const chunk = stream.read() as Buffer | null;
			if (chunk !== null) {
				hasPaused = false;
				splitter.push(chunk);
				while (splitter.isFull(max)) {
					yield splitter.take(max.lines);
				}
			} else if (stream.readableEnded) {
				splitter.end();
				if (!splitter.isEmpty()) {
					yield splitter.take(max.lines);
				}

				return;
			} else if (stream.destroyed) {
				return;
			} else if (!splitter.isEmpty() && hasPaused) {
				yield splitter.take(max.lines);
			} else if (!splitter.isEmpty()) {
				// Data that has arrived meanwhile belongs to the same batch.
				hasPaused = true;
				await new Promise((resolve) => setImmediate(resolve));
			} else {
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
		}
	} finally {
		for (const event of events) {
			stream.off(event, onEvent);
		}
	}
}
