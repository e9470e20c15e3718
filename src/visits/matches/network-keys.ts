import {createHmac} from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** Keyed hashes of a request's network. The address itself is not stored (contract/match 16). */
export type NetworkKeys = {
	/** The IPv4 address, or the /64 of an IPv6 address: a household or a phone, whose lower half changes daily. */
	ipKey: Buffer;
	/** The /24 or /56 around it. Of an address of iCloud Private Relay the same as `ipKey`: it has no neighbours. */
	netKey: Buffer;
};

/** The same in hexadecimal. */
export type NetworkKeyTexts = {ipKey: string; netKey: string};

/** Hexadecimal digits of a key: 128 bits, enough to exclude collisions. */
const KEY_DIGITS = 32;

const keyed = (pepper: Buffer, text: string): string =>
	createHmac('sha256', pepper).update(text).digest('hex').slice(0, KEY_DIGITS);

/** The network of an address: IPv4 whole or its /24, IPv6 its first `bits`. */
const networkOf = (ip: string, bits: 48 | 56 | 64): string => {
	if (!ip.includes(':')) {
		return bits === 64 ? ip : ip.slice(0, ip.lastIndexOf('.') + 1);
	}

	const address = ipaddr.process(ip);
	return address.kind() === 'ipv4'
		? networkOf(address.toString(), bits)
		: `${Buffer.from(address.toByteArray())
				.toString('hex')
				.slice(0, bits / 4)}:`;
};

/** @param ip the caller's address as `clientIp` gives it. @param isRelay whether it is one of iCloud Private Relay. */
export const networkKeyTextsOf = (pepper: Buffer, ip: string, isRelay: boolean): NetworkKeyTexts => {
	const ipKey = keyed(pepper, networkOf(ip, 64));
	return {ipKey, netKey: isRelay ? ipKey : keyed(pepper, networkOf(ip, 56))};
};

/** Whether a click came through iCloud Private Relay. */
export const isOfRelay = ({ipKey, netKey}: {ipKey: Buffer | null; netKey: Buffer | null}): boolean =>
	ipKey !== null && netKey !== null && ipKey.equals(netKey);

/** @param ip, isRelay as above. */
export const networkKeysOf = (pepper: Buffer, ip: string, isRelay: boolean): NetworkKeys => {
	const {ipKey, netKey} = networkKeyTextsOf(pepper, ip, isRelay);
	return {ipKey: Buffer.from(ipKey, 'hex'), netKey: Buffer.from(netKey, 'hex')};
};

/** The network of a sender of reports: the /24 of an IPv4 address, the /48 of an IPv6 one. */
export const reportNetworkOf = (pepper: Buffer, ip: string): Buffer =>
	Buffer.from(keyed(pepper, `report ${networkOf(ip, 48)}`), 'hex');

type AskingDevice = {deviceId: string | null; ip: string; traits: readonly unknown[]};

/**
 * The key that identifies a device on repeated requests. Without a device id it is derived from the address and the
 * device's properties, which equal phones on one network share (contract/match 7).
 */
export const deviceKeyOf = (pepper: Buffer, {deviceId, ip, traits}: AskingDevice): Buffer =>
	createHmac('sha256', pepper)
		.update(deviceId === null ? `a:${JSON.stringify([networkOf(ip, 64), traits])}` : `d:${deviceId}`)
		.digest();
