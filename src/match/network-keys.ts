import {createHmac, createSecretKey, type KeyObject} from 'node:crypto';
import {isIPv4} from 'node:net';
import ipaddr from 'ipaddr.js';

/** Keyed hashes of where a request came from; the address itself is not kept (facts 3.6). */
export type NetworkKeys = {
	/** The IPv4 address, or the /64 of an IPv6 one: a household or a phone, whose lower half changes daily. */
	ipKey: Buffer;
	/** The /24 or /56 around it. */
	netKey: Buffer;
};

/** Peppers as the library wants them: made anew for each hash, they would take a third of its time. */
const keys = new WeakMap<Buffer, KeyObject>();

const hash = (pepper: Buffer, text: string): Buffer => {
	const known = keys.get(pepper);
	const key = known ?? createSecretKey(pepper);
	if (known === undefined) {
		keys.set(pepper, key);
	}

	return createHmac('sha256', key).update(text).digest();
};

const HEX = Array.from({length: 256}, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The two prefixes of an IPv4 address, as `prefixOf` writes them, which nearly every address is. */
const ipv4Prefixes = (ip: string): [whole: string, network: string] => {
	const [a, b, c, d] = ip.split('.').map((byte) => HEX[Number(byte)]);
	return [`ipv4 ${a}${b}${c}${d}/32`, `ipv4 ${a}${b}${c}00/24`];
};

const prefixOf = (address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string => {
	const bytes = address.toByteArray().map((byte, index) => {
		const kept = Math.min(8, Math.max(0, bits - index * 8));
		return byte & (0xff00 >> kept) & 0xff;
	});
	return `${address.kind()} ${Buffer.from(bytes).toString('hex')}/${bits}`;
};

/** @param ip the caller's address as `clientIp` gives it. */
export const networkKeysOf = (pepper: Buffer, ip: string): NetworkKeys => {
	if (isIPv4(ip)) {
		const [whole, network] = ipv4Prefixes(ip);
		return {ipKey: hash(pepper, whole), netKey: hash(pepper, network)};
	}

	const address = ipaddr.process(ip);
	const [whole, network] = address.kind() === 'ipv4' ? [32, 24] : [64, 56];
	return {ipKey: hash(pepper, prefixOf(address, whole)), netKey: hash(pepper, prefixOf(address, network))};
};

export type AskingDevice = {deviceId: string | null; ip: string; told: readonly unknown[]};

/**
 * What a device is recognised by when it asks again. One that gives no id is known by its address and by what it says
 * of itself, which two equal phones on one network share (facts 4.7).
 */
export const deviceKeyOf = (pepper: Buffer, {deviceId, ip, told}: AskingDevice): Buffer =>
	hash(
		pepper,
		deviceId === null
			? `a:${JSON.stringify([prefixOf(ipaddr.process(ip), ip.includes(':') ? 64 : 32), told])}`
			: `d:${deviceId}`,
	);
