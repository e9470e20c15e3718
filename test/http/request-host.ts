import test from 'ava';
import {createHostRoles, hostnameOf, isLoopbackName} from '../../src/http/request-host.ts';

const names: [header: string | undefined, hostname: string | null][] = [
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
	[undefined, null],
	['', null],
	['.', null],
	[':3000', null],
	['go..example.com', null],
	['go.example.com..', null],
	['go.example.com:99999', null],
	['go.example.com:80a', null],
	['go.example.com:80:80', null],
	['::1', null],
	['[::1', null],
	['[::1]3000', null],
	['[fe80::1%eth0]', null],
	['[127.0.0.1]', null],
	['bücher.example', null],
	['user@example.com', null],
	['example.com/path', null],
	['example.com, other.example', null],
	[`${'a'.repeat(64)}.example`, null],
	[`${'a.'.repeat(127)}example`, null],
];

for (const [header, hostname] of names) {
	test(`Host ${JSON.stringify(header)?.slice(0, 40)} names ${hostname ?? 'nothing'}`, (t) => {
		t.is(hostnameOf(header), hostname);
	});
}

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
