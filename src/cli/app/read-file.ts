import {createReadStream} from 'node:fs';
import {FileFault} from './located.ts';

/** No manifest, plist or configuration of an app is nearly as large. */
const MOST_BYTES = 4 * 1024 * 1024;

/** A stream's bytes. @throws FileFault for too many. */
export const readBounded = async (stream: AsyncIterable<Uint8Array | string>, file: string): Promise<Buffer> => {
	const chunks: Buffer[] = [];
	let bytes = 0;
	for await (const chunk of stream) {
		chunks.push(Buffer.from(chunk as Uint8Array));
		bytes += chunk.length;
		if (bytes > MOST_BYTES) {
			throw new FileFault(`it has more than ${MOST_BYTES} bytes`, {file});
		}
	}

	return Buffer.concat(chunks);
};

/** A file of an app. @throws FileFault for one that is too large; the system's error for one that cannot be opened. */
export const readAppFile = (path: string, file: string): Promise<Buffer> => readBounded(createReadStream(path), file);

/** The first bytes of a file, which show its format. */
export const readStart = async (path: string): Promise<Buffer> =>
	Buffer.concat(await createReadStream(path, {end: 7}).toArray());

/** Bytes as text, without a byte order mark. */
export const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
