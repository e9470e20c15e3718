import {crc32} from 'node:zlib';

/** `#`, the payload's length in bytes and its CRC-32 as 8 hexadecimal digits each, and a line end. */
export const HEADER_BYTES = 19;

/** Longest payload of a frame. A header with a larger length is invalid. */
export const MAX_PAYLOAD_BYTES = 512 * 1024;

const hex = (number: number): string => number.toString(16).padStart(8, '0');

/** A frame is written at once, and is valid as a whole or not at all. */
export const encodeFrame = (payload: string): Buffer => {
	const length = Buffer.byteLength(payload);
	const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
	frame.write(payload, HEADER_BYTES);
	frame.write(`#${hex(length)} ${hex(crc32(frame.subarray(HEADER_BYTES)))}\n`, 0, 'latin1');
	return frame;
};

/** The whole frame at an offset; null if there is none. */
const frameAt = (bytes: Buffer, at: number): {payload: Buffer; end: number} | null => {
	const [, length = '', checksum = ''] =
		/^#([0-9a-f]{8}) ([0-9a-f]{8})\n$/.exec(bytes.toString('latin1', at, at + HEADER_BYTES)) ?? [];
	const from = at + HEADER_BYTES;
	const end = from + Number.parseInt(length, 16);
	const payload = bytes.subarray(from, end);
	return checksum === '' || end > bytes.length || crc32(payload) !== Number.parseInt(checksum, 16)
		? null
		: {payload, end};
};

/**
 * The payloads of the complete frames at the start of `bytes`.
 * @returns `end`: the offset behind the last complete frame. The bytes after it are not read yet, were torn by a crash
 * before the write was acknowledged, or are damaged.
 */
export const decodeFrames = (bytes: Buffer, from = 0): {payloads: Buffer[]; end: number} => {
	const payloads: Buffer[] = [];
	let end = from;
	for (let frame = frameAt(bytes, end); frame !== null; frame = frameAt(bytes, end)) {
		payloads.push(frame.payload);
		end = frame.end;
	}

	return {payloads, end};
};

/** The offset of the first complete frame after the start; null if there is none. */
export const findFrame = (bytes: Buffer): number | null => {
	for (let at = bytes.indexOf('#', 1); at !== -1; at = bytes.indexOf('#', at + 1)) {
		if (frameAt(bytes, at) !== null) {
			return at;
		}
	}

	return null;
};
