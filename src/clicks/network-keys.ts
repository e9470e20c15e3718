import {createHmac} from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** Keyed hashes of a request's network. The address itself is not stored (contract/match 16). */
export type NetworkKeys = {
	/** The IPv4 address, or the /64 of an IPv6 address: a household or a phone, whose lower half changes daily. */
	ipKey: Buffer;
	/** The /24 or /56 around it. */
	netKey: Buffer;
};

/** The same in hexadecimal. */
export type NetworkKeyTexts = {ipKey: string; netKey: string};

/** Hexadecimal digits of a key: 128 bits, so that no two networks collide. */
const KEY_DIGITS = 32;

const hmac = (pepper: Buffer, text: string): string =>
	createHmac('sha256', pepper).update(text).digest('hex').slice(0, KEY_DIGITS);

const prefixOf = (address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string => {
	const bytes = address.toByteArray().map((byte, index) => {
		const kept = Math.min(8, Math.max(0, bits - index * 8));
		return byte & (0xff00 >> kept) & 0xff;
	});
	return `${address.kind()} ${Buffer.from(bytes).toString('hex')}/${bits}`;
};

/** @param ip the caller's address as `clientIp` gives it. */
export const networkKeyTextsOf = (pepper: Buffer, ip: string): NetworkKeyTexts => {
	const address = ipaddr.process(ip);
	const [whole, network] = address.kind() === 'ipv4' ? [32, 24] : [64, 56];
	return {ipKey: hmac(pepper, prefixOf(address, whole)), netKey: hmac(pepper, prefixOf(address, network))};
};

/** @param ip as above. */
export const networkKeysOf = (pepper: Buffer, ip: string): NetworkKeys => {
	const {ipKey, netKey} = networkKeyTextsOf(pepper, ip);
	return {ipKey: Buffer.from(ipKey, 'hex'), netKey: Buffer.from(netKey, 'hex')};
};

type AskingDevice = {deviceId: string | null; ip: string; traits: readonly unknown[]};

/**
 * The key that identifies a device on repeated requests. Without a device id it is derived from the address and the
 * device's properties, which equal phones on one network share (contract/match 7).
 */
export const deviceKeyOf = (pepper: Buffer, {deviceId, ip, traits}: AskingDevice): Buffer =>
	createHmac('sha256', pepper)
		.update(
			deviceId === null
				? `a:${JSON.stringify([prefixOf(ipaddr.process(ip), ip.includes(':') ? 64 : 32), traits])}`
				: `d:${deviceId}`,
		)
		.digest();
