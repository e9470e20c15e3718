import test from 'ava';
import {type AddressRules, requireWebhookUrl, resolveSafely} from '../../../src/visits/webhooks/safe-address.ts';
import {startDns} from '../../fakes/dns.ts';
import {organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {ownService} from '../_own.ts';
import {endpoint, endpointsOf, startReceiver} from './_receiver.ts';

const service = serviceOf(test);
const rules: AddressRules = {networks: [], dnsServers: [], isProduction: true};

const REFUSED = [
	'http://hooks.example.com/',
	'http://127.0.0.1/',
	'ftp://hooks.example.com/',
	'https://user:password@hooks.example.com/',
	'https://user@hooks.example.com/',
	'https://127.0.0.1/',
	'https://127.1/',
	'https://2130706433/',
	'https://0x7f.1/',
	'https://0.0.0.0/',
	'https://10.0.0.1/',
	'https://172.16.0.1/',
	'https://192.168.1.1/',
	'https://100.64.0.1/',
	'https://169.254.169.254/latest/meta-data/',
	'https://224.0.0.1/',
	'https://255.255.255.255/',
	'https://[::1]/',
	'https://[::]/',
	'https://[::ffff:10.0.0.1]/',
	'https://[::ffff:127.0.0.1]/',
	'https://[64:ff9b::a00:1]/',
	'https://[64:ff9b::7f00:1]/',
	'https://[64:ff9b:1::1]/',
	'https://[2002:a00:1::]/',
	'https://[2001:0:a00:1::]/',
	'https://[fe80::1]/',
	'https://[fd00:ec2::254]/',
	'https://[fec0::1]/',
	'https://[ff02::1]/',
	'not a url',
	'',
];
for (const url of REFUSED) {
	test(`${url === '' ? 'an empty URL' : url} is refused in production`, (t) => {
		t.is(t.throws(() => requireWebhookUrl(url, rules), {name: 'HttpError'})?.message, 'Validation failed');
	});
}

for (const url of [
	'https://8.8.8.8/hooks',
	'https://[2606:4700:4700::1111]/hooks',
	'https://[64:ff9b::808:808]/',
	'https://hooks.example.com:8443/a?b=c',
]) {
	test(`${url} is accepted`, (t) => {
		t.is(requireWebhookUrl(url, rules).href, url);
	});
}

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
	const dns = await startDns();
	t.teardown(() => dns.stop());
	dns.setAddresses('mixed.example.com', '93.184.216.34', '10.0.0.1');
	dns.setAddresses('private.example.com', '127.0.0.1');
	dns.setAddresses('metadata.example.com', '169.254.169.254');
	dns.setAddresses('nat64.example.com', '64:ff9b::a00:1');
	dns.setAddresses('public.example.com', '93.184.216.34');
	const own = {...rules, dnsServers: [dns.address]};
	for (const name of ['mixed', 'private', 'metadata', 'nat64']) {
		await t.throwsAsync(resolveSafely(new URL(`https://${name}.example.com/`), own), {name: 'UnsafeAddressError'});
	}

	t.deepEqual(await resolveSafely(new URL('https://public.example.com/'), own), [
		{address: '93.184.216.34', family: 4},
	]);
	const guarded = await ownService(t, {DNS_SERVERS: dns.address});
	const acme = await organization(guarded);
	const refused = await admin(guarded).post(endpointsOf(acme), {url: 'https://metadata.example.com/', events: ['*']});
	t.is(refused.status, 400);
	t.is(refused.body.details[0].field, 'url');
	t.is((await admin(guarded).post(endpointsOf(acme), {url: 'https://public.example.com/', events: ['*']})).status, 201);
});

test('a name that leads elsewhere after its endpoint was made is not connected to', async (t) => {
	const dns = await startDns();
	t.teardown(() => dns.stop());
	dns.setAddresses('turns.example.com', '93.184.216.34');
	const guarded = await ownService(t, {DNS_SERVERS: dns.address});
	const acme = await organization(guarded);
	const {id} = await endpoint(guarded, acme, {url: 'https://turns.example.com/', events: ['link.created']});
	dns.setAddresses('turns.example.com', '127.0.0.1');
	const {body} = await admin(guarded).post(`${endpointsOf(acme)}/${id}/test`, {});
	t.like(body, {ok: false, status: null});
	t.regex(body.error, /turns\.example\.com is at 127\.0\.0\.1, which is not a public address/);
});

test('of a 10 MB answer 64 KB are read, and its first KB is kept', async (t) => {
	const acme = await organization(service);
	const receiver = await startReceiver(t);
	const {id} = await endpoint(service, acme, {url: receiver.url, events: ['link.created']});
	let written = 0;
	receiver.respond((response) => {
		response.writeHead(200);
		const more = () => {
			while (written < 10_000_000 && !response.destroyed && response.write('x'.repeat(16_384))) {
				written += 16_384;
			}
		};
		response.on('drain', more);
		more();
	});
	const {body} = await admin(service).post(`${endpointsOf(acme)}/${id}/test`, {});
	t.like(body, {ok: true, status: 200, answer: 'x'.repeat(1024)});
	t.true(written < 10_000_000);
});

for (const [what, body, field] of [
	['no URL', {events: ['*']}, 'url'],
	['no types', {url: 'https://hooks.example.com/', events: []}, 'events'],
	['an unknown type', {url: 'https://hooks.example.com/', events: ['link.read']}, 'events.0'],
	['an unknown filter', {url: 'https://hooks.example.com/', events: ['*'], filter: {codes: ['a']}}, 'filter.codes'],
	['a secret', {url: 'https://hooks.example.com/', events: ['*'], secret: 'whsec_x'}, 'secret'],
] as const) {
	test(`an endpoint with ${what} is 400`, async (t) => {
		const acme = await organization(service);
		const {status, body: answer} = await admin(service).post(endpointsOf(acme), body);
		t.is(status, 400);
		t.is(answer.details[0].field, field);
	});
}
