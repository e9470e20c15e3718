import {once} from 'node:events';
import {createServer, type IncomingMessage, request} from 'node:http';
import type {AddressInfo} from 'node:net';
import test from 'ava';
import fc from 'fast-check';
import {createClientIp, isLoopback, isProxyRange} from '../../../src/platform/client-ip.ts';
import {createHostRoles, hostnameOf, isLoopbackName} from '../../../src/platform/http/request-host.ts';
import {readQuery} from '../../../src/platform/query.ts';

const requestFrom = (remoteAddress: string | undefined, headers: IncomingMessage['headers'] = {}): IncomingMessage =>
	({socket: {remoteAddress}, headers}) as unknown as IncomingMessage;

const behindProxies = createClientIp(['10.0.0.0/8', '2001:db8:aaaa::/48', 'fe80::/10']);

const addresses: Array<[peer: string | undefined, forwardedFor: string | undefined, ip: string]> = [
	['203.0.113.9', undefined, '203.0.113.9'],
	['::ffff:203.0.113.9', undefined, '203.0.113.9'],
	['::FFFF:cb00:7109', undefined, '203.0.113.9'],
	['2001:DB8:0:0:0:0:0:1', undefined, '2001:db8::1'],
	['64:ff9b::203.0.113.9', undefined, '64:ff9b::cb00:7109'],
	['64:ff9b::8.8.8.8', undefined, '8.8.8.8'],
	['64:ff9b::10.0.0.1', '6.6.6.6', '64:ff9b::a00:1'],
	[undefined, '6.6.6.6', '0.0.0.0'],
	['203.0.113.9', '6.6.6.6', '203.0.113.9'],
	['10.0.0.1', undefined, '10.0.0.1'],
	['10.0.0.1', '', '10.0.0.1'],
	['10.0.0.1', '198.51.100.7', '198.51.100.7'],
	['::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
	['fe80::1%eth0', '198.51.100.7', '198.51.100.7'],
	['2001:db8:aaaa::1', '2001:db8:bbbb::7', '2001:db8:bbbb::7'],
	['10.0.0.1', '6.6.6.6, 198.51.100.7', '198.51.100.7'],
	['10.0.0.1', '6.6.6.6, 198.51.100.7, 10.1.1.1', '198.51.100.7'],
	['10.0.0.1', '6.6.6.6,198.51.100.7 ,::ffff:10.1.1.1', '198.51.100.7'],
	['10.0.0.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
	['10.0.0.1', '198.51.100.7, , ', '198.51.100.7'],
	['10.0.0.1', '198.51.100.7:51234', '198.51.100.7'],
	['10.0.0.1', '[2001:db8:bbbb::7]:51234', '2001:db8:bbbb::7'],
	['10.0.0.1', '"[2001:db8:bbbb::7]"', '2001:db8:bbbb::7'],
	['10.0.0.1', 'fec0::7%en0', 'fec0::7'],
	['10.0.0.1', '[fec0::7%en0]:80', 'fec0::7'],
	['10.0.0.1', 'unknown', '10.0.0.1'],
	['10.0.0.1', '198.51.100.7, unknown, 10.1.1.1', '10.1.1.1'],
	...['10.1.1', '010.1.1.1', '168430081', '10.1.1.1:x', '[10.1.1.1'].map((malformed): [string, string, string] => [
		'10.0.0.1',
		`198.51.100.7, ${malformed}`,
		'10.0.0.1',
	]),
];

test('of a trusted peer the last address that no proxy has counts, of any other one its own', (t) => {
	for (const [peer, forwardedFor, ip] of addresses) {
		const headers = forwardedFor === undefined ? {} : {'x-forwarded-for': forwardedFor};
		t.is(behindProxies.ip(requestFrom(peer, headers)), ip, `${peer}, ${forwardedFor}`);
	}
});

test('with no proxy trusted the socket decides, whatever the headers say', (t) => {
	const direct = createClientIp([]);
	const headers = {'x-forwarded-for': '6.6.6.6', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example'};
	t.is(direct.ip(requestFrom('127.0.0.1', headers)), '127.0.0.1');
	t.false(direct.isTrustedPeer(requestFrom('127.0.0.1', headers)));
	t.deepEqual(direct.forwarded(requestFrom('127.0.0.1', headers)), {trusted: false, proto: null, host: null});
});

test('ranges written in the IPv4 mapping, and single addresses, are trusted alike', (t) => {
	const {isTrustedPeer} = createClientIp(['::ffff:10.0.0.0/104', '192.0.2.1', '2001:db8::1']);
	t.true(['10.9.9.9', '::ffff:10.9.9.9', '192.0.2.1', '2001:db8::1'].every((peer) => isTrustedPeer(requestFrom(peer))));
	t.false(['11.0.0.1', '192.0.2.2', '2001:db8::2'].some((peer) => isTrustedPeer(requestFrom(peer))));
});

test('scheme and host are accepted only from a trusted peer and only if well-formed', (t) => {
	const {forwarded} = behindProxies;
	const headers = {'x-forwarded-proto': 'HTTPS', 'x-forwarded-host': 'go.example.com:8443'};
	const given = {trusted: true, proto: 'https', host: 'go.example.com:8443'};
	t.deepEqual(forwarded(requestFrom('10.0.0.1', headers)), given);
	t.deepEqual(forwarded(requestFrom('11.0.0.1', headers)), {trusted: false, proto: null, host: null});
	t.deepEqual(forwarded(requestFrom('10.0.0.1')), {trusted: true, proto: null, host: null});
	const malformed = {'x-forwarded-proto': 'gopher', 'x-forwarded-host': 'a b'};
	t.deepEqual(forwarded(requestFrom('10.0.0.1', malformed)), {trusted: true, proto: null, host: null});
});

test('of several schemes and hosts the one that the outermost trusted proxy wrote counts', (t) => {
	for (const [hops, schemes, hosts] of [
		['6.6.6.6, 198.51.100.7', 'http, https', 'evil.example, go.example.com'],
		['198.51.100.7, 10.1.1.1', 'https, http', 'go.example.com, inner'],
		['198.51.100.7, 10.1.1.1', 'https', 'go.example.com'],
	]) {
		const headers = {'x-forwarded-for': hops, 'x-forwarded-proto': schemes, 'x-forwarded-host': hosts};
		const expected = {trusted: true, proto: 'https', host: 'go.example.com'};
		t.deepEqual(behindProxies.forwarded(requestFrom('10.0.0.1', headers)), expected);
	}
});

test('several X-Forwarded-For lines count as one list, through a real server', async (t) => {
	const {ip} = createClientIp(['127.0.0.0/8', '10.0.0.0/8']);
	const server = createServer((incoming, response) => response.end(ip(incoming))).listen(0, '::');
	t.teardown(() => server.close());
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;
	const outgoing = request({host: '127.0.0.1', port, agent: false}).setHeader('X-Forwarded-For', [
		'6.6.6.6',
		'198.51.100.7, 10.1.1.1',
		'10.2.2.2',
	]);
	outgoing.end();
	const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
	const chunks = await response.setEncoding('utf8').toArray();
	t.is(chunks.join(''), '198.51.100.7');
});

test('an entry of TRUSTED_PROXIES is a range or a whole address', (t) => {
	const good = ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1', '::ffff:10.0.0.0/104', '0.0.0.0/0'];
	t.deepEqual(good.filter(isProxyRange), good);
	const bad = [
		...['10.0.0.0/33', '10.0.0.0/', '10/8', '1.2.3', '10.0.0.0/8/8', '10.0.0.0/-1', '1.2.3.4/255.0.0.0'],
		...['2001:db8::/129', 'fe80::1%eth0/64', 'proxy'],
	];
	t.deepEqual(bad.filter(isProxyRange), []);
});

test('127.0.0.0/8 and ::1 are loopback in any spelling', (t) => {
	t.true(['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'].every(isLoopback));
	t.false(['128.0.0.1', '10.127.0.1', '::2', '', 'localhost', '127.0.0.1.example'].some(isLoopback));
});

const names = [
	['go.example.com', 'go.example.com'],
	['Go.Example.COM:8080', 'go.example.com'],
	['go.example.com.', 'go.example.com'],
	['go.example.com.:443', 'go.example.com'],
	['go.example.com:', 'go.example.com'],
	['xn--bcher-kva.example', 'xn--bcher-kva.example'],
	['my_app.example.com', 'my_app.example.com'],
	['localhost:3000', 'localhost'],
	['127.0.0.1:3000', '127.0.0.1'],
	['[::1]:3000', '[::1]'],
	['[0:0:0:0:0:0:0:1]', '[::1]'],
	['[2001:DB8::1]', '[2001:db8::1]'],
] as const;

const NO_NAMES = [
	...[undefined, '', '.', ':3000', 'go..example.com', 'go.example.com..', 'go.example.com:99999', 'go.example.com:80a'],
	...['go.example.com:80:80', '::1', '[::1', '[::1]3000', '[fe80::1%eth0]', '[127.0.0.1]', 'bücher.example'],
	...['user@example.com', 'example.com/path', 'example.com, other.example'],
	...[`${'a'.repeat(64)}.example`, `${'a.'.repeat(127)}example`],
];

test('a Host names a host in lower case without its port, and a malformed one names nothing', (t) => {
	for (const [header, hostname] of names) {
		t.is(hostnameOf(header), hostname);
	}

	for (const header of NO_NAMES) {
		t.is(hostnameOf(header), null, header);
	}
});

test('localhost, 127.0.0.1 and [::1] are loopback names, and nothing else is', (t) => {
	t.true(['localhost', '127.0.0.1', '[::1]'].every(isLoopbackName));
	t.false(['example.com', '127.0.0.2', 'localhost.example.com', '[::2]', ''].some(isLoopbackName));
});

test('with two hosts each serves its own, and loopback names are the API host', (t) => {
	const {roleOf} = createHostRoles({publicUrl: 'https://api.example.com', linkDomain: 'go.example.com'});
	t.is(roleOf('api.example.com'), 'api');
	t.is(roleOf('go.example.com'), 'link');
	t.is(roleOf('localhost'), 'api');
	t.is(roleOf('[::1]'), 'api');
	t.is(roleOf('links.customer.com'), 'other');
	t.is(roleOf(null), 'other');
});

test('one host for both serves both, whatever the ports', (t) => {
	const {roleOf} = createHostRoles({publicUrl: 'https://Example.com:8443/', linkDomain: 'example.com'});
	t.is(roleOf('example.com'), 'both');
	t.is(roleOf('localhost'), 'api');
});

test('if the link domain is a loopback name, every loopback name serves both', (t) => {
	for (const publicUrl of ['http://localhost:3000', 'https://api.example.com']) {
		const {roleOf} = createHostRoles({publicUrl, linkDomain: '127.0.0.1:3000'});
		t.deepEqual(['localhost', '127.0.0.1', '[::1]'].map(roleOf), ['both', 'both', 'both']);
		t.is(roleOf('go.example.com'), 'other');
	}
});

const queries = [
	['/x', {}],
	['/x?', {}],
	['/x?a=1&b=2', {a: '1', b: '2'}],
	['/x?a=1&a=2&a=3', {a: ['1', '2', '3']}],
	['/x?a&=&b==c&&', {a: '', '': '', b: '=c'}],
	['/x?a=%zz+%C3%A9%FF', {a: '%zz é\ufffd'}],
	['/x?a=1?b=2', {a: '1?b=2'}],
	['/x?constructor=1&toString=2', {constructor: '1', toString: '2'}],
	['/x?__proto__=1&__proto__=2&a=3', {a: '3'}],
] as const;

test('a query is read as a form', (t) => {
	for (const [url, query] of queries) {
		t.deepEqual<unknown, unknown>(readQuery(url), query, url);
	}
});

test('of a query of any length the first thousand parameters are read', (t) => {
	const many = readQuery(`/x?${Array.from({length: 8000}, (_, index) => `k${index}=v`).join('&')}`);
	t.is(Object.keys(many).length, 1000);
	t.is(many['k999'], 'v');
	t.deepEqual(readQuery(`/x?${'a&'.repeat(8000)}`), {a: Array.from({length: 1000}, () => '')});
});

test('a query is read as the URL standard says, whether or not something in it is encoded', (t) => {
	const part = fc.oneof(
		fc.constantFrom('a', 'b', '=', '&', '?', '+', '%41', '%', 'é', '__proto__', 'toString'),
		fc.string(),
	);
	fc.assert(
		fc.property(fc.array(part, {maxLength: 12}), (parts) => {
			const text = parts.join('').toWellFormed();
			const expected = new Map<string, string[]>();
			for (const [name, value] of new URLSearchParams(text)) {
				expected.set(name, [...(expected.get(name) ?? []), value]);
			}

			expected.delete('__proto__');
			const read = Object.entries(readQuery(`/x?${text}`)).map(([name, values]) => [name, [values].flat()]);
			t.deepEqual(Object.fromEntries(read), Object.fromEntries(expected));
		}),
	);
});
