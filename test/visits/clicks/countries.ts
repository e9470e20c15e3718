import {rename, stat, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {checkCountries} from '../../../src/operations/doctor/countries.ts';
import {loadConfig} from '../../../src/platform/config/config.ts';
import {createCountries} from '../../../src/platform/countries.ts';
import {mmdbOf} from '../../helpers/mmdb.ts';
import {dataDirectory} from '../../helpers/process.ts';
import {linked, ownService, statsOf} from '../_own.ts';
import {visit} from '../match/_phones.ts';

const networks = [
	['203.0.113.0/24', {country: {iso_code: 'DE', names: {en: 'Germany'}}}],
	['198.51.100.0/25', {registered_country: {iso_code: 'EG'}}],
	['198.51.100.128/25', {continent: {code: 'AF'}}],
	['2001:db8:1::/48', {country: {iso_code: 'NP'}}],
] as const;

const fileOf = async (t: Parameters<typeof dataDirectory>[0], bytes = mmdbOf(networks)): Promise<string> => {
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

test('the doctor warns of an old file', (t) => {
	const now = new Date('2026-03-10T12:00:00.000Z');
	t.deepEqual(checkCountries(null, now), []);
	t.is(checkCountries(new Date('2026-02-01'), now)[0]?.status, 'ok');
	const old = {status: 'warn', check: 'countries.age', message: 'GEOIP_FILE is of 2025-12-01'};
	t.like(checkCountries(new Date('2025-12-01'), now)[0], old);
});

test('a GEOIP_FILE that is none is a fault of the configuration', async (t) => {
	for (const GEOIP_FILE of [await fileOf(t, Buffer.from('<html>')), '/nowhere/countries.mmdb']) {
		t.throws(() => loadConfig({GEOIP_FILE}), {message: /^GEOIP_FILE could not be read: /m});
	}
});
