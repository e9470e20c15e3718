import {createHmac, hash} from 'node:crypto';
import {isIPv4} from 'node:net';
import ipaddr from 'ipaddr.js';

/** Keyed hashes of where a request came from; the address itself is not kept (facts 3.6). */
export type NetworkKeys = {
	/** The IPv4 address, or the /64 of an IPv6 one: a household or a phone, whose lower half changes daily. */
	ipKey: Buffer;
	/** The /24 or /56 around it. */
	netKey: Buffer;
};

/** The same in hexadecimal. */
export type NetworkKeyTexts = {ipKey: string; netKey: string};

/** Hexadecimal digits of a key: 128 bits, so that no two places have one by chance. */
const KEY_DIGITS = 32;
/** Networks whose keys are remembered: nearly all visitors of a moment come from few of them. */
const MOST_NETWORKS = 10_000;
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Longer than any prefix. */
const TEXT_BYTES = 64;

/** An IPv4 network of 256 addresses: its key, and what the texts of its addresses begin with. */
type Network = {key: string; prefix: string};
type Keyed = {inner: Buffer; outer: Buffer; networks: Map<string, Network>};

/** What is the same in all hashes with a pepper. */
const prepared = new WeakMap<Buffer, Keyed>();

const padded = (pepper: Buffer, pad: number, length: number): Buffer => {
	const block = Buffer.alloc(BLOCK_BYTES + length, pad);
	for (const [index, byte] of pepper.entries()) {
		block[index] = byte ^ pad;
	}

	return block;
};

const keyedBy = (pepper: Buffer): Keyed => {
	let keyed = prepared.get(pepper);
	if (keyed === undefined) {
		keyed = {
			inner: padded(pepper, 0x36, TEXT_BYTES),
			outer: padded(pepper, 0x5c, DIGEST_BYTES),
			networks: new Map(),
		};
		prepared.set(pepper, keyed);
	}

	return keyed;
};

/**
 * HMAC-SHA-256 (RFC 2104) of a short text, out of two hashes whose first block stands ready: half of what the library's
 * own takes, which sets up an object for each. @param text ASCII, at most TEXT_BYTES long.
 */
const hmac = ({inner, outer}: Keyed, text: string): string => {
	const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES, 'latin1');
	outer.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'latin1');
	return hash('sha256', outer, 'hex').slice(0, KEY_DIGITS);
};

const HEX = Array.from({length: 256}, (_, byte) => byte.toString(16).padStart(2, '0'));

/** @param first three numbers of an address, such as 192.0.2. */
const ipv4NetworkOf = (keyed: Keyed, first: string): Network => {
	const {networks} = keyed;
	let network = networks.get(first);
	if (network === undefined) {
		// As `prefixOf` writes them.
		const prefix = `ipv4 ${first
			.split('.')
			.map((byte) => HEX[Number(byte)])
			.join('')}`;
		network = {key: hmac(keyed, `${prefix}00/24`), prefix};
		if (networks.size >= MOST_NETWORKS) {
			networks.clear();
		}

		networks.set(first, network);
	}

	return network;
};

const prefixOf = (address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string => {
	const bytes = address.toByteArray().map((byte, index) => {
		const kept = Math.min(8, Math.max(0, bits - index * 8));
		return byte & (0xff00 >> kept) & 0xff;
	});
	return `${address.kind()} ${Buffer.from(bytes).toString('hex')}/${bits}`;
};

/** @param ip the caller's address as `clientIp` gives it. */
export const networkKeyTextsOf = (pepper: Buffer, ip: string): NetworkKeyTexts => {
	const keyed = keyedBy(pepper);
	if (isIPv4(ip)) {
		const dot = ip.lastIndexOf('.');
		const {key, prefix} = ipv4NetworkOf(keyed, ip.slice(0, dot));
		return {ipKey: hmac(keyed, `${prefix}${HEX[Number(ip.slice(dot + 1))]}/32`), netKey: key};
	}

	const address = ipaddr.process(ip);
	const [whole, network] = address.kind() === 'ipv4' ? [32, 24] : [64, 56];
	return {ipKey: hmac(keyed, prefixOf(address, whole)), netKey: hmac(keyed, prefixOf(address, network))};
};

/** @param ip as above. */
export const networkKeysOf = (pepper: Buffer, ip: string): NetworkKeys => {
	const {ipKey, netKey} = networkKeyTextsOf(pepper, ip);
	return {ipKey: Buffer.from(ipKey, 'hex'), netKey: Buffer.from(netKey, 'hex')};
};

export type AskingDevice = {deviceId: string | null; ip: string; told: readonly unknown[]};

/**
 * What a device is recognised by when it asks again. One that gives no id is known by its address and by what it says
 * of itself, which two equal phones on one network share (facts 4.7).
 */
export const deviceKeyOf = (pepper: Buffer, {deviceId, ip, told}: AskingDevice): Buffer =>
	createHmac('sha256', pepper)
		.update(
			deviceId === null
				? `a:${JSON.stringify([prefixOf(ipaddr.process(ip), ip.includes(':') ? 64 : 32), told])}`
				: `d:${deviceId}`,
		)
		.digest();
