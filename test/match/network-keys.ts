import {createHmac, randomBytes} from 'node:crypto';
import test from 'ava';
import {networkKeysOf} from '../../src/clicks/network-keys.ts';

const hmac = (pepper: Buffer, text: string): Buffer =>
	createHmac('sha256', pepper).update(text).digest().subarray(0, 16);

test('a place is kept as 16 bytes of the HMAC of its prefix, by the secret of the week', (t) => {
	const peppers = [randomBytes(32), randomBytes(32)];
	for (const [ip, whole, network] of [
		['192.0.2.7', 'ipv4 c0000207/32', 'ipv4 c0000200/24'],
		['192.0.2.255', 'ipv4 c00002ff/32', 'ipv4 c0000200/24'],
		['10.0.0.0', 'ipv4 0a000000/32', 'ipv4 0a000000/24'],
		['::ffff:192.0.2.7', 'ipv4 c0000207/32', 'ipv4 c0000200/24'],
		['2001:db8:1:2::9', 'ipv6 20010db8000100020000000000000000/64', 'ipv6 20010db8000100000000000000000000/56'],
	] as const) {
		for (const pepper of [...peppers, ...peppers]) {
			t.deepEqual(networkKeysOf(pepper, ip), {ipKey: hmac(pepper, whole), netKey: hmac(pepper, network)}, ip);
		}
	}
});
