import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import test from 'ava';
import {readLink} from '../../../src/visits/visit/link-rows.ts';
import {organization, type TestOrganization} from '../../helpers/builders.ts';
import {startService, type TestService} from '../../helpers/service.ts';
import {userAgents} from '../matches/_phones.ts';

const MEGABYTE = 1024 * 1024;
const CACHE_MB = 2;
const LARGE_LINKS = 240;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Bytes of the heap that something holds. */
const heapUsed = (): number => {
	collect();
	collect();
	return process.memoryUsage().heapUsed;
};

/** Links `l1`, `l2` and so on, with these columns. */
const makeLinks = async (
	{services: {db}}: TestService,
	{id}: TestOrganization,
	count: number,
	columns: Record<string, string>,
) =>
	db.raw(
		`INSERT INTO links (id, organization_id, domain_id, short_code, is_active, created_at, updated_at, ${Object.keys(columns).join(', ')})
		SELECT gen_random_uuid(), :id, (SELECT domains.id FROM domains WHERE organization_id IS NULL), 'l' || n, true, now(), now(),
			${Object.values(columns).join(', ')}
		FROM generate_series(1, :count) AS n`,
		{id, count},
	);

/** 50 parameters of a link. */
const paramsOf = (pair: string): string => `(SELECT json_object_agg(${pair}) FROM generate_series(1, 50) AS key)`;

const figures = ({services}: TestService) => services.linkCache.figures();

const start = async () => {
	const service = await startService({LINK_DOMAIN: 'localhost', LINK_CACHE_MB: `${CACHE_MB}`});
	await service.services.changes.settled();
	return service;
};

// How many are more than fit.
for (const [name, count, columns] of [
	['small', 1600, {path: `'/sale'`}],
	[
		'that has a parameter of its own name',
		250,
		{path: `'/sale'`, params: paramsOf(`'p' || n || '_' || key, n || repeat('v', 40)`)},
	],
	[
		'in another script',
		250,
		{path: `'/' || repeat('я', 2000)`, title: `repeat('я', 255)`, og_description: `repeat('語', 1024)`},
	],
] as const) {
	test.serial(`memory full of links ${name} matches its estimate`, async (t) => {
		const service = await start();
		t.teardown(() => service.stop());
		const acme = await organization(service);
		await makeLinks(service, acme, count, columns);
		const read = (code: string) => readLink(service.services, {orgKey: acme.orgKey, shortCode: code});
		await read('l1');
		const before = {heap: heapUsed(), bytes: figures(service).bytes};
		for (let start = 2; start <= count; start += 50) {
			await Promise.all(Array.from({length: 50}, (_, index) => read(`l${start + index}`)));
		}

		const {bytes, entries} = figures(service);
		const heap = heapUsed() - before.heap;
		const reckoned = bytes - before.bytes;
		t.log(
			`${entries} links: ${Math.round(reckoned / entries)} bytes each reckoned, ${Math.round(heap / entries)} on the heap`,
		);
		t.true(bytes <= CACHE_MB * MEGABYTE && bytes > 0.98 * CACHE_MB * MEGABYTE, `${bytes}`);
		t.true(heap < 1.1 * reckoned + MEGABYTE, `${heap} on the heap, ${reckoned} reckoned`);
	});
}

test.serial('links of many kilobytes, with pages and data, stay within their memory limit', async (t) => {
	const service = await start();
	t.teardown(() => service.stop());
	const acme = await organization(service);
	const print = (index: number, app: number) =>
		Array.from({length: 32}, (_, place) =>
			((index * 7 + app * 31 + place) % 256).toString(16).padStart(2, '0').toUpperCase(),
		).join(':');
	const android = Array.from({length: 20}, (_, app) => ({
		packageName: `com.acme.a${app}`,
		sha256Fingerprints: Array.from({length: 10}, (__, index) => print(index, app)),
	}));
	t.is((await acme.operator.put('/app-config', {android})).status, 200);
	const params = paramsOf(`'k' || n || '_' || key, n || repeat('я', 70)`);
	await makeLinks(service, acme, LARGE_LINKS, {
		path: `'/' || repeat('p', 2000)`,
		og_description: `repeat('я', 1024)`,
		params,
	});
	const before = heapUsed();
	for (let start = 1; start <= LARGE_LINKS; start += 40) {
		await Promise.all(
			Array.from({length: 40}, async (_, index) => {
				const headers = {'User-Agent': userAgents.iPhone, 'X-Forwarded-For': `10.1.${start % 250}.${index}`};
				const ask = async (path: string): Promise<number> => {
					// Without the tests' callers, which store answers for a comparison.
					const answer = await fetch(`${service.url}/${acme.orgKey}/l${start + index}${path}`, {headers});
					await answer.arrayBuffer();
					return answer.status;
				};
				// The first brings it into memory, and the others are answered from there.
				t.deepEqual([await ask('/data'), await ask('/data'), await ask('')], [200, 200, 200]);
			}),
		);
	}

	await service.services.clickJournal.flushed();
	const heap = heapUsed() - before;
	const {bytes, entries} = figures(service);
	t.log(
		`${entries} links: ${Math.round(bytes / MEGABYTE)} MB reckoned; ${Math.round(heap / MEGABYTE)} MB on the heap with 16 of pages`,
	);
	t.true(bytes <= CACHE_MB * MEGABYTE, `${bytes}`);
	// 8 MB of links and 16 MB of pages; the rest is what requests leave in pools.
	t.true(heap < 40 * MEGABYTE, `${heap}`);
});
