import {randomBytes} from 'node:crypto';
import {rename, stat, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {checkCountries} from '../../../src/operations/doctor/service-state.ts';
import type {Finding} from '../../../src/operations/finding.ts';
import {loadConfig} from '../../../src/platform/config/config.ts';
import {createCountries} from '../../../src/platform/countries.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {mmdbOf} from '../../helpers/mmdb.ts';
import {dataDirectory} from '../../helpers/process.ts';
import {linked, ownService, statsOf} from '../_own.ts';
import {visit} from '../matches/_phones.ts';

const networks = [
	['203.0.113.0/24', {country: {iso_code: 'DE', names: {en: 'Germany'}}}],
	['198.51.100.0/25', {registered_country: {iso_code: 'EG'}}],
	['198.51.100.128/25', {continent: {code: 'AF'}}],
	['2001:db8:1::/48', {country: {iso_code: 'NP'}}],
	// IPinfo's forms, and what is no code
	['192.88.99.0/26', {country: 'JP', country_name: 'Japan'}],
	['192.88.99.64/26', {country: 'Germany', country_code: 'DE', asn: 'AS64500'}],
	['192.88.99.128/26', {country: 'Germany'}],
	['192.88.99.192/26', {country: {iso_code: 'de'}, country_code: 'DEU'}],
] as const;

const fileOf = async (t: ExecutionContext, bytes = mmdbOf(networks)): Promise<string> => {
	const file = path.join(await dataDirectory(t), 'countries.mmdb');
	await writeFile(file, bytes);
	return file;
};

test('an address has the country of its network, registered or not', async (t) => {
	const countries = createCountries(await fileOf(t), {info: () => {}, warn: () => {}});
	for (const [ip, country] of [
		['203.0.113.7', 'DE'],
		['::ffff:203.0.113.7', 'DE'],
		['198.51.100.1', 'EG'],
		['198.51.100.200', null],
		['2001:db8:1:2::3', 'NP'],
		['2001:db8:2::3', null],
		['192.0.2.1', null],
		['192.88.99.1', 'JP'],
		['192.88.99.65', 'DE'],
		['192.88.99.129', null],
		['192.88.99.193', null],
		['unknown', null],
	] as const) {
		t.is(countries.of(ip), country, ip);
	}
});

test('GEOIP_FILE gives a tap its country where no trusted proxy does, and no address is stored', async (t) => {
	const service = await ownService(t, {GEOIP_FILE: await fileOf(t), TRUSTED_PROXIES: '127.0.0.1'});
	const {acme, ...sale} = await linked(service);
	await visit(service, sale, '203.0.113.7');
	await visit(service, sale, '2001:db8:1::9');
	await visit(service, sale, '203.0.113.8', {headers: {'CF-IPCountry': 'JP'}});
	await visit(service, sale, '203.0.113.9', {headers: {'CF-IPCountry': 'XX'}});
	t.deepEqual((await statsOf(service, acme, 'by=country')).breakdowns.country, [
		{key: 'DE', count: 2},
		{key: 'JP', count: 1},
		{key: 'NP', count: 1},
	]);
	const {rows} = await service.services.db.raw("SELECT string_agg(CAST(clicks AS text), '') AS text FROM clicks");
	t.false(rows[0].text.includes('203.0.113'));
});

test('a new file is read once it is there, a broken one leaves the countries of before', async (t) => {
	const warnings: unknown[] = [];
	const file = await fileOf(t);
	const countries = createCountries(file, {info: () => {}, warn: (fields: unknown) => warnings.push(fields)});
	const replace = async (bytes: Buffer): Promise<void> => {
		await writeFile(`${file}.new`, bytes);
		await utimes(`${file}.new`, new Date(), new Date((await stat(file)).mtimeMs + 1000));
		await rename(`${file}.new`, file);
		await countries.refresh();
	};
	await replace(mmdbOf([['203.0.113.0/24', {country: {iso_code: 'FR'}}]]));
	t.is(countries.of('203.0.113.7'), 'FR');
	await replace(Buffer.from('<html>Not found</html>'));
	await countries.refresh();
	t.is(countries.of('203.0.113.7'), 'FR');
	t.is(warnings.length, 1);
	await replace(mmdbOf(networks));
	t.is(countries.of('203.0.113.7'), 'DE');
});

const of = (code: string) => ({country: {iso_code: code}});
const addressOf = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

/** Countries of which one address, behind more networks than are tried, has a damaged entry. */
const damaged = (): Buffer => {
	const place = 0xcb007107;
	const beside = Array.from({length: 31}, (_, bit) => bit)
		.filter((bit) => bit !== 27)
		.map((bit) => [`${addressOf((place ^ (1 << bit)) >>> 0)}/${32 - bit}`, of('DE')] as const);
	const before = Array.from(
		{length: 128},
		(_, index) => [`${addressOf(0xc0000000 + index * 2 ** 20)}/12`, of('FR')] as const,
	);
	const bytes = mmdbOf([...before, ...beside, [`${addressOf(place)}/32`, of('QQ')]]);
	// In place of the code a pointer that leads out of the file.
	bytes.writeUInt8(0b00111000, bytes.lastIndexOf('BQQ'));
	return bytes;
};

test('a tap whose entry in GEOIP_FILE is damaged is answered and counted without a country, which is said once', async (t) => {
	const file = await fileOf(t);
	const service = await ownService(t, {GEOIP_FILE: file, TRUSTED_PROXIES: '127.0.0.1'});
	const {acme, ...sale} = await linked(service);
	await writeFile(file, damaged());
	await service.services.countries.refresh();
	t.is(service.services.countries.of('203.0.113.8'), 'DE');
	await visit(service, sale, '203.0.113.7');
	const forwarded = {'X-Forwarded-For': '203.0.113.7'};
	t.is((await anonymous(service).get(`${new URL(sale.url).pathname}/data`, forwarded)).status, 200);
	await visit(service, sale, '203.0.113.8');
	t.deepEqual((await statsOf(service, acme, 'by=country')).breakdowns.country, [
		{key: null, count: 2},
		{key: 'DE', count: 1},
	]);
});

test('a tap that cannot be recorded is answered', async (t) => {
	const service = await ownService(t, {});
	const {acme, ...sale} = await linked(service);
	Object.assign(service.services.countries, {of: () => decodeURI('%')});
	await visit(service, sale, '203.0.113.7');
	t.is((await anonymous(service).get(`${new URL(sale.url).pathname}/data`)).status, 200);
	t.is((await statsOf(service, acme, 'by=country')).totals.clicks, 0);
});

test('the doctor warns of an old file', (t) => {
	const now = new Date('2026-03-10T12:00:00.000Z');
	t.deepEqual(checkCountries(null, now), []);
	t.is(checkCountries(new Date('2026-02-01'), now)[0]?.status, 'ok');
	const old = {status: 'warn', check: 'countries.age', message: 'GEOIP_FILE is of 2025-12-01'};
	t.like(checkCountries(new Date('2025-12-01'), now)[0], old);
});

test('the doctor warns of a GEOIP_FILE and a RELAY_RANGES_FILE that became unusable, until they are as they should be', async (t) => {
	const files = {GEOIP_FILE: await fileOf(t), RELAY_RANGES_FILE: path.join(await dataDirectory(t), 'relay.csv')};
	await writeFile(files.RELAY_RANGES_FILE, '198.51.100.0/24,GB,\n');
	const service = await ownService(t, files);
	const {countries, relayRanges} = service.services;
	const warnings = async (): Promise<string[]> => {
		await Promise.all([countries.refresh(), relayRanges.refresh()]);
		const {body} = await admin(service).get('/admin/doctor');
		const found = (body.findings as Finding[]).filter(({check}) => check === 'configuration.file');
		t.true(found.every(({status, next}) => status === 'warn' && next?.includes('mv')));
		return found.map(({message}) => message.replace(/ \(.*/s, ''));
	};
	const both = Object.keys(files).map((name) => `${name} cannot be used now`);
	t.deepEqual(await warnings(), []);
	for (const file of Object.values(files)) {
		await rename(file, `${file}.away`);
	}

	t.deepEqual(await warnings(), both);
	t.is(countries.of('203.0.113.7'), 'DE');
	for (const file of Object.values(files)) {
		await rename(`${file}.away`, file);
	}

	t.deepEqual(await warnings(), []);
	for (const file of Object.values(files)) {
		await writeFile(file, '<html>Not found</html>');
	}

	t.deepEqual(await warnings(), both);
	await writeFile(files.GEOIP_FILE, damaged());
	await writeFile(files.RELAY_RANGES_FILE, '198.51.100.0/24,GB,\n');
	t.deepEqual(await warnings(), []);
	t.is(countries.of('203.0.113.7'), null);
	t.deepEqual(await warnings(), both.slice(0, 1));
});

test('a GEOIP_FILE or RELAY_RANGES_FILE that cannot be used is a fault of the configuration, which names it', async (t) => {
	const nested = mmdbOf(networks);
	const bad: Array<[name: string, file: string]> = [];
	for (const bytes of [
		Buffer.from('<!doctype html>\n<title>Not found</title>\n'),
		Buffer.alloc(0),
		randomBytes(5000),
		nested.subarray(0, 400),
		Buffer.concat([Buffer.alloc(400, 0xee), nested.subarray(400)]),
		mmdbOf([['203.0.113.0/24', {autonomous_system_number: 64500}]]),
		mmdbOf([['2001:db8::/48', {country: 'Germany'}]]),
	]) {
		const file = await fileOf(t, bytes);
		bad.push(['GEOIP_FILE', file], ['RELAY_RANGES_FILE', file]);
	}

	for (const [name, file] of [
		...bad,
		['GEOIP_FILE', '/'],
		['RELAY_RANGES_FILE', '/'],
		['GEOIP_FILE', '/nowhere'],
	] as const) {
		t.throws(() => loadConfig({[name]: file}), {message: new RegExp(`^${name} could not be used: .+$`)}, file);
	}

	for (const one of [
		['203.0.113.0/24', of('DE')],
		['2001:db8:1::/48', {country_code: 'DE'}],
		['0.0.0.0/0', of('DE')],
	] as const) {
		const GEOIP_FILE = await fileOf(t, mmdbOf([one]));
		t.notThrows(() => loadConfig({GEOIP_FILE}), one[0]);
	}
});
