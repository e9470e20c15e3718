import test from 'ava';
import {type AddressRules, requireWebhookUrl, resolveSafely} from '../../../src/visits/webhooks/safe-address.ts';
import {startDns} from '../../fakes/dns.ts';
import {organization} from '../../helpers/builders.ts';
import {startService} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';
import {endpoint, subscribed} from './_receiver.ts';

let dns: Awaited<ReturnType<typeof startDns>>;
test.serial.before(async () => {
	dns = await startDns();
});
test.after.always(() => dns?.stop());
const service = startedFor(test, () => startService({DNS_SERVERS: dns.address}));
const rules: AddressRules = {networks: [], dnsServers: [], isProduction: true};

const REFUSED_HOSTS = [
	'127.0.0.1 127.1 2130706433 0x7f.1 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 100.64.0.1 169.254.169.254 224.0.0.1',
	'255.255.255.255 [::1] [::] [::ffff:10.0.0.1] [::ffff:127.0.0.1] [64:ff9b::a00:1] [64:ff9b::7f00:1] [64:ff9b:1::1]',
	'[2002:a00:1::] [2001:0:a00:1::] [fe80::1] [fd00:ec2::254] [fec0::1] [ff02::1]',
].flatMap((hosts) => hosts.split(' '));
const REFUSED = [
	...['', 'not a url', 'ftp://hooks.example.com/', 'http://hooks.example.com/', 'http://127.0.0.1/'],
	...['https://user:password@hooks.example.com/', 'https://user@hooks.example.com/'],
	...['\t', '\n', '\r\n', '\x1b[2J', '\x7f', '\x9b2J'].map((control) => `https://hooks.example.com/a${control}b`),
	...['https://hooks.exam\nple.com/', '\thttps://hooks.example.com/', 'https://hooks.example.com/\n'],
	...REFUSED_HOSTS.map((host) => `https://${host}/latest/meta-data/`),
];
for (const url of REFUSED) {
	test(`${url === '' ? 'an empty URL' : JSON.stringify(url)} is refused in production`, (t) => {
		t.throws(() => requireWebhookUrl(url, rules), {name: 'HttpError', message: 'Validation failed'});
	});
}

test('public addresses and names are accepted in production', (t) => {
	for (const host of ['8.8.8.8', '[2606:4700:4700::1111]', '[64:ff9b::808:808]', 'hooks.example.com:8443']) {
		t.is(requireWebhookUrl(`https://${host}/a?b=c`, rules).href, `https://${host}/a?b=c`);
	}
});

test('WEBHOOK_NETWORKS opens a private network, and nothing beside it', (t) => {
	const open = {...rules, networks: ['10.1.0.0/16', 'fd00::/8']};
	t.notThrows(() => requireWebhookUrl('https://10.1.2.3/', open));
	t.notThrows(() => requireWebhookUrl('https://[fd00::1]/', open));
	t.throws(() => requireWebhookUrl('https://10.2.0.1/', open));
});

test('http is for this machine alone, and not in production', (t) => {
	const development = {...rules, isProduction: false};
	for (const url of ['http://127.0.0.1:9/', 'http://localhost:9/', 'http://[::1]:9/']) {
		t.notThrows(() => requireWebhookUrl(url, development));
		t.throws(() => requireWebhookUrl(url, rules));
	}

	for (const url of ['http://10.0.0.1/', 'http://hooks.example.com/', 'https://127.0.0.1/']) {
		t.throws(() => requireWebhookUrl(url, development));
	}
});

test('a name of which one address is private is refused with all of them', async (t) => {
	const own = {...rules, dnsServers: [dns.address]};
	for (const [name, ...addresses] of [
		['mixed', '93.184.216.34', '10.0.0.1'],
		['private', '127.0.0.1'],
		['metadata', '169.254.169.254'],
		['nat64', '64:ff9b::a00:1'],
	] as const) {
		dns.setAddresses(`${name}.example.com`, ...addresses);
		await t.throwsAsync(resolveSafely(new URL(`https://${name}.example.com/`), own), {name: 'UnsafeAddressError'});
	}

	dns.setAddresses('public.example.com', '93.184.216.34');
	const safe = [{address: '93.184.216.34', family: 4}];
	t.deepEqual(await resolveSafely(new URL('https://public.example.com/'), own), safe);
	const {operator} = await organization(service);
	const make = (name: string) =>
		operator.post('/webhook-endpoints', {url: `https://${name}.example.com/`, events: ['*']});
	t.like(await make('metadata'), {status: 400, body: {details: {0: {field: 'url'}}}});
	t.is((await make('public')).status, 201);
});

test('a name that leads elsewhere after its endpoint was made is not connected to', async (t) => {
	dns.setAddresses('turns.example.com', '93.184.216.34');
	const acme = await organization(service);
	const {id} = await endpoint(acme, {url: 'https://turns.example.com/', events: ['link.created']});
	dns.setAddresses('turns.example.com', '127.0.0.1');
	const {body} = await acme.operator.post(`/webhook-endpoints/${id}/test`, {});
	t.like(body, {ok: false, status: null});
	t.regex(body.error, /turns\.example\.com is at 127\.0\.0\.1, which is not a public address/);
});

test('of a 10 MB answer 64 KB are read, and whole characters of its first KB are kept', async (t) => {
	const {acme, receiver, path} = await subscribed(t, service, 'link.created');
	let written = 0;
	receiver.respond((response) => {
		response.writeHead(200);
		response.write('x');
		const more = () => {
			while (written < 10_000_000 && !response.destroyed && response.write('é'.repeat(8192))) {
				written += 16_384;
			}
		};
		response.on('drain', more);
		more();
	});
	const {body} = await acme.operator.post(`${path}/test`, {});
	t.like(body, {ok: true, status: 200, answer: `x${'é'.repeat(511)}`});
	t.true(written < 10_000_000);
});

test('an endpoint without a URL or types, and one with an unknown type, filter or a secret is 400', async (t) => {
	const {operator} = await organization(service);
	for (const [field, wrong] of [
		['url', {url: undefined}],
		['url', {url: 'https://hooks.example.com/\x1b[2Ja'}],
		['events', {events: []}],
		['events.0', {events: ['link.read']}],
		['filter.codes', {filter: {codes: ['a']}}],
		['secret', {secret: 'whsec_x'}],
	] as const) {
		const body = {url: 'https://hooks.example.com/', events: ['*'], ...wrong};
		t.like(await operator.post('/webhook-endpoints', body), {status: 400, body: {details: {0: {field}}}}, field);
	}
});
