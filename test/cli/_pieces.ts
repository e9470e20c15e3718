import {Readable} from 'node:stream';

/** A source that yields a few bytes at a time, so that characters, quotes and line ends are split. */
export const inPieces = (text: string | Buffer, size = 3): Readable => {
	const bytes = Buffer.from(text);
	const count = Math.ceil(bytes.length / size);
	return Readable.from(Array.from({length: count}, (_, at) => bytes.subarray(at * size, (at + 1) * size)));
};

/** All that a source yields. */
export const collect = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
	const all: T[] = [];
	for await (const one of source) {
		all.push(one);
	}

	return all;
};
