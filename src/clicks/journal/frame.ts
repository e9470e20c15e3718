import {crc32} from 'node:zlib';

/** `#`, the payload's bytes and its CRC-32 as 8 hexadecimal digits each, and a line end. */
export const HEADER_BYTES = 19;

/** Longest payload of a frame; one that says more is none of ours. */
export const MAX_PAYLOAD_BYTES = 512 * 1024;

const hex = (number: number): string => number.toString(16).padStart(8, '0');

/** What is written at once, and is valid together or not at all. */
export const encodeFrame = (payload: string): Buffer => {
	const length = Buffer.byteLength(payload);
	const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
	frame.write(payload, HEADER_BYTES);
	frame.write(`#${hex(length)} ${hex(crc32(frame.subarray(HEADER_BYTES)))}\n`, 0, 'latin1');
	return frame;
};

/**
 * The payloads of the whole frames that `bytes` begins with.
 * @returns `end`: where the first byte stands that belongs to none of them. What follows is a frame that is not whole:
 * its rest is still to be read, or it was torn when its process died, before anybody was told of it.
 */
export const decodeFrames = (bytes: Buffer): {payloads: Buffer[]; end: number} => {
	const payloads: Buffer[] = [];
	let end = 0;
	while (bytes.length - end >= HEADER_BYTES) {
		const [, length = '', checksum = ''] =
			/^#([0-9a-f]{8}) ([0-9a-f]{8})\n$/.exec(bytes.toString('latin1', end, end + HEADER_BYTES)) ?? [];
		const from = end + HEADER_BYTES;
		const to = from + Number.parseInt(length, 16);
		if (checksum === '' || to > bytes.length || crc32(bytes.subarray(from, to)) !== Number.parseInt(checksum, 16)) {
			break;
		}

		payloads.push(bytes.subarray(from, to));
		end = to;
	}

	return {payloads, end};
};
