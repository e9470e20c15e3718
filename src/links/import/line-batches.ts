import type {Readable} from 'node:stream';

/** A line of the input, counted from 1; `bytes` is null where there were more than the limit. */
export type Line = {line: number; bytes: Buffer | null};

const NEWLINE = 0x0a;

/** Cuts what arrives into lines, and holds no more of a line than `maxLineBytes`. */
const createSplitter = (maxLineBytes: number) => {
	let lines: Line[] = [];
	let number = 1;
	let parts: Buffer[] = [];
	let length = 0;
	let held = 0;

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
		held += bytes?.length ?? 0;
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
		isFull: (max: {lines: number; bytes: number}) => lines.length >= max.lines || held >= max.bytes,
		isEmpty: () => lines.length === 0,
		take: (most: number): Line[] => {
			const taken = lines.slice(0, most);
			lines = lines.slice(most);
			held = lines.reduce((sum, {bytes}) => sum + (bytes?.length ?? 0), 0);
			return taken;
		},
	};
};

/**
 * The lines of a stream in batches: as many as `max` allows, or what there is when the input pauses, so that whoever
 * waits for answers before sending more gets them. Nothing is read while a batch is being worked on, beyond what the
 * stream buffers. A stream that breaks off just ends, without the line that it was in the middle of.
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
				// What has reached the machine meanwhile belongs to the same batch.
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
