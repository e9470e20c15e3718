import {rm, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import {loadConfig} from '../../../src/platform/config/config.ts';
import {createRelayRanges} from '../../../src/platform/relay-ranges.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {exampleAppConfig, link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {dataDirectory} from '../../helpers/process.ts';
import {serviceOf} from '../../helpers/service.ts';
import {ownService} from '../_own.ts';
import {clicked, device, iPhoneApp, match, network, nothing, open, tapped, visit} from './_phones.ts';

const service = serviceOf(test);

/** First opens of 30 phones that clicked nothing: how common each is gets known by them. */
const countPhones = async (acme: TestOrganization, phone: object) => {
	for (let index = 0; index < 30; index += 1) {
		await open(service, network()(1), {...iPhoneApp, ...phone, deviceId: `counted-${index}`}, acme);
	}

	await service.services.background.settle();
	// What a process knows of phones is up to a minute old.
	service.clock.advance(60);
};

const rare = {platform: 'Android', osVersion: '14', deviceModel: 'Pixel 8', language: 'de-DE'};

// Serial: they move the one clock.
test.serial('an organization that asks for high gets no guess on an older click, and the token of it', async (t) => {
	const appConfig = {...exampleAppConfig, minimumConfidence: 'high'};
	const {acme, address, token} = await tapped(service, {}, {appConfig});
	service.clock.advance(601);
	t.deepEqual(await match(service, address, iPhoneApp, acme), nothing);
	const [{reason}] = await service.services.db('match_attempts').where({organization_id: acme.id});
	t.is(reason, 'below_minimum');
	t.is((await match(service, address, {clipboardToken: token})).matchConfidence, 'exact');
});

test.serial('a guess on a phone as most phones of the app are is less sure than on a rare one', async (t) => {
	const confidences = [];
	for (const counted of [{}, rare]) {
		const one = await organization(service);
		await countPhones(one, counted);
		const address = network()(1);
		await clicked(service, one, address);
		service.clock.advance(300);
		confidences.push((await match(service, address, iPhoneApp, one)).matchConfidence);
	}

	t.deepEqual(confidences, ['medium', 'high']);
});

test.serial('the later tap of a visitor on another link wins, from whatever address', async (t) => {
	const {acme, address, cookie} = await tapped(service);
	service.clock.advance(60);
	const later = await link(acme);
	await visit(service, later, network()(1), {headers: {Cookie: String(cookie)}});
	// An app's request waits for the clicks of its own address alone.
	await service.services.clickJournal.flushed();
	t.like(await match(service, address, iPhoneApp, acme), {matchConfidence: 'high', linkId: later.id});
});

test.serial('a second tap from another address leaves the click findable at both', async (t) => {
	const acme = await organization(service);
	const [first, second] = [network()(1), '2001:db8:77:1::1'];
	const {link: sale, cookie} = await clicked(service, acme, first);
	await visit(service, sale, second, {headers: {Cookie: String(cookie)}});
	// As above: else this tap is written after its click has matched, as a new one.
	await service.services.clickJournal.flushed();
	t.is((await match(service, first, device('device-ipv4'), acme)).linkId, sale.id);
	t.deepEqual(await match(service, second, device('device-other'), acme), nothing);
	const again = await clicked(service, acme, first);
	await visit(service, again.link, second, {headers: {Cookie: String(again.cookie)}});
	t.is((await match(service, second, device('device-ipv6'), acme)).linkId, again.link.id);
});

test.serial("another organization's clicks leave a guess high with a key, and lower it without", async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const address = network()(1);
	const foreign = await link(globex);
	const sale = await link(acme);
	for (const [key, confidence] of [
		[acme, 'high'],
		[undefined, 'medium'],
	] as const) {
		await visit(service, foreign, address, {language: 'ja-JP', timezone: 'Asia/Tokyo'});
		await visit(service, sale, address);
		const expected = {matchMethod: 'FINGERPRINT_EXACT', matchConfidence: confidence, linkId: sale.id};
		t.like(await match(service, address, device(`device-${confidence}`), key), expected);
	}
});

const fileOf = async (t: ExecutionContext, text: string): Promise<string> => {
	const file = path.join(await dataDirectory(t), 'egress-ip-ranges.csv');
	await writeFile(file, text);
	return file;
};

const serviceOfRelay = async (t: ExecutionContext) => {
	const ranges = '203.0.113.64/26,US,US-CA,Los Angeles,\n2001:db8:aaaa:1::/64,DE,DE-BE,Berlin,\n';
	const RELAY_RANGES_FILE = await fileOf(t, ranges);
	const service = await ownService(t, {RELAY_RANGES_FILE});
	await service.services.relayRanges.refresh();
	const lastAttempt = async ({id}: TestOrganization) => {
		await service.services.background.settle();
		return (await admin(service).get(`/admin/organizations/${id}/matches`)).body.data[0];
	};
	return {service, lastAttempt};
};

test('a tap through iCloud Private Relay is matched by no guess, and match explain says so', async (t) => {
	const {service, lastAttempt} = await serviceOfRelay(t);
	let explained: string[] = [];
	for (const address of ['203.0.113.64', '203.0.113.127', '2001:db8:aaaa:1:7::9']) {
		const acme = await organization(service);
		const {link: sale} = await clicked(service, acme, address);
		t.deepEqual(await match(service, address, iPhoneApp, acme), nothing, address);
		const attempt = await lastAttempt(acme);
		const points = {ip: 0, network: 0, deviceModel: 0, platform: 5, language: 10};
		const candidate = {linkId: sale.id, ruledOut: 'relay', relay: true, probability: 0, points};
		t.like(attempt, {reason: 'ruled_out', candidates: {length: 1, 0: candidate}});
		explained = ['match', 'explain', attempt.id, '--org', acme.orgKey];
	}

	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const {stdout} = await runCli(explained, {env});
	const said = 'A click came through iCloud Private Relay. Many people share its addresses';
	t.true(stdout.replaceAll(/\s+/g, ' ').includes(said), stdout);
});

test('its neighbours find no such tap, others are guessed as ever, and a token matches it', async (t) => {
	const {service, lastAttempt} = await serviceOfRelay(t);
	const acme = await organization(service);
	const {token, link: sale} = await clicked(service, acme, '203.0.113.100');
	t.deepEqual(await match(service, '203.0.113.1', iPhoneApp, acme), nothing);
	t.is((await lastAttempt(acme)).reason, 'no_click');
	service.clock.advance(1);
	const sent = {...iPhoneApp, clipboardToken: token};
	t.like(await match(service, '203.0.113.100', sent, acme), {matchMethod: 'CLIPBOARD', linkId: sale.id});
	const candidate = {linkId: sale.id, ruledOut: null, relay: true, points: {ip: 0, network: 0}};
	t.like((await lastAttempt(acme)).candidates[0], candidate);

	for (const address of [network()(1), '203.0.113.63', '203.0.113.128']) {
		const other = await organization(service);
		const {link: found} = await clicked(service, other, address);
		const answer = await match(service, address, device(`device-of-${address}`), other);
		t.like(answer, {matched: true, linkId: found.id}, address);
		t.false('relay' in (await lastAttempt(other)).candidates[0]);
	}
});

const ipv4 = fc.integer({min: 0, max: 0xffff}).map((low) => `10.1.${low >> 8}.${low & 255}`);
const word = fc.integer({min: 0, max: 3}).map((number) => (number * 0x4001).toString(16));
const ipv6 = fc.tuple(word, word, word, word).map((words) => `${words.join(':')}::1`);
const range = fc.oneof(
	fc.tuple(ipv4, fc.integer({min: 14, max: 32})).map(([ip, bits]) => `${ip}/${bits}`),
	fc.tuple(ipv6, fc.integer({min: 0, max: 64})).map(([ip, bits]) => `${ip}/${bits}`),
);

test('an address is one of the relay exactly where a range of the file has it', async (t) => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(range, {minLength: 1, maxLength: 20}),
			fc.array(fc.oneof(ipv4, ipv6)),
			async (ranges, addresses) => {
				const file = await fileOf(t, ranges.map((one) => `${one},US,US-CA,Cupertino,\r\n`).join(''));
				const relay = createRelayRanges(file, {info: () => {}, warn: () => t.fail()});
				await relay.refresh();
				for (const ip of addresses) {
					const address = ipaddr.parse(ip);
					const isListed = ranges.some((one) => {
						const [of, bits] = ipaddr.parseCIDR(one);
						return of.kind() === address.kind() && address.match(of, bits);
					});
					t.is(relay.has(ip), isListed, `${ip} in ${ranges.join(' ')}`);
					t.is(relay.has(ip.includes(':') ? ip : `::ffff:${ip}`), isListed);
				}
			},
		),
		{numRuns: 60},
	);
});

test('bad lines are counted and logged once, and the others count', async (t) => {
	const good = ['198.51.100.0/24,GB,GB-ENG,London,', '2001:db8::/32,GB,GB-ENG,"London, Greater",', '192.0.2.7/32'];
	const bad = ['198.51.100.0', '198.51.100.0/33', '300.1.1.1/8', '::ffff:1.2.3.4/128', 'x', '', '1.1.1.1/8/9']
		.map((prefix) => `${prefix},GB`)
		.concat('fe80::1%eth0/64');
	const said: unknown[][] = [];
	const log = {info: () => {}, warn: (...words: unknown[]) => said.push(words)};
	const relay = createRelayRanges(await fileOf(t, [...bad, '', ...good].join('\n')), log as never);
	await relay.refresh();
	t.deepEqual(said, [[{lines: bad.length}, 'RELAY_RANGES_FILE has lines without a valid prefix; they are ignored']]);
	t.true(['198.51.100.255', '2001:db8:ffff::1', '192.0.2.7'].every(relay.has));
	t.false(['198.51.101.0', '2001:db9::1', '192.0.2.8', '1.2.3.4'].some(relay.has));
});

test('the first range counts behind a byte order mark, and lines may end as on Windows', async (t) => {
	const text = '\ufeff192.0.2.32/27,US,US-CA,Los Angeles,\r\n2001:DB8:88::/64,DE,DE-BE,Berlin,\r\n';
	const file = await fileOf(t, text);
	const relay = createRelayRanges(file, {info: () => {}, warn: () => t.fail()});
	await relay.refresh();
	t.deepEqual(['192.0.2.33', '2001:db8:88::1'].map(relay.has), [true, true]);
	t.is(loadConfig({RELAY_RANGES_FILE: await fileOf(t, text.split('\r')[0] ?? '')}).warnings.length, 0);
});

test('a file that has changed is read again; one that is gone, empty or another file leaves the ranges, said once', async (t) => {
	const file = await fileOf(t, '198.51.100.0/24,GB,\n');
	const said: unknown[] = [];
	const warned: Array<{err: Error}> = [];
	const relay = createRelayRanges(file, {
		info: (...words: unknown[]) => said.push(words),
		warn: (fields: {err: Error}) => warned.push(fields),
	} as never);
	t.false(relay.has('198.51.100.1'));
	await relay.refresh();
	await relay.refresh();
	t.is(said.length, 1);
	await writeFile(file, '192.0.2.0/24,GB,\n');
	await utimes(file, 1, 1);
	await relay.refresh();
	t.deepEqual(['198.51.100.1', '192.0.2.1', '::ffff:c000:201'].map(relay.has), [false, true, true]);
	for (const bad of ['', '<!doctype html><html>\n<p>Not found</p>\n</html>\n', null]) {
		await (bad === null ? rm(file) : writeFile(file, bad));
		await relay.refresh();
		await relay.refresh();
		t.true(relay.has('192.0.2.1'));
	}

	const seen = warned.map(({err}) => err.message.slice(0, 6));
	t.deepEqual(seen, ['none o', 'ENOENT']);
});
