import test from 'ava';
import {rollUp} from '../../../src/visits/clicks/rollups/roll-up.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {until} from '../../helpers/redis-server.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';
import {createGate, watchStatements} from './_statements.ts';

const env = {LINK_DOMAIN: 'localhost'};
const BY_ADDRESS = 'links by address';
const BY_TAPS = 'links by taps';

const numbered = <T>(count: number, make: (n: number) => T): T[] => Array.from({length: count}, (_, n) => make(n));

/** A service that trusts its memory, two organizations, and a signal that its reads of links wait for. */
const start = async () => {
	const service = await startService(env);
	await service.services.changes.settled();
	const [acme, other] = [await organization(service), await organization(service)];
	const gate = createGate();
	const statements = watchStatements(service, (name) => (name === BY_ADDRESS ? gate.opened : undefined));
	const {linkCache} = service.services;
	return {service, acme, other, statements, gate, missed: () => linkCache.figures().misses};
};

test('links that are missing at the same time are read by few statements, on the hot path and in the routes', async (t) => {
	const {service, acme, statements, gate, missed} = await start();
	t.teardown(() => service.stop());
	const made = await Promise.all(numbered(40, (n) => link(acme, {params: {n: String(n)}})));
	const before = missed();
	const answers = made.map(({shortCode}, n) =>
		// A URL with a query goes to the routes.
		anonymous(service).get(`/${acme.orgKey}/${shortCode}/data${n % 2 === 0 ? '' : '?'}`),
	);
	const unknown = anonymous(service).get(`/${acme.orgKey}/unknown/data`);
	await until(() => missed() - before === made.length + 1);
	gate.open();
	t.deepEqual(
		(await Promise.all(answers)).map(({status, body}) => [status, body.params.n]),
		made.map((_, n) => [200, String(n)]),
	);
	t.is((await unknown).status, 404);
	// Two that began before the last request arrived, and one for all others.
	const count = statements.count(BY_ADDRESS);
	t.true(count >= 1 && count <= 3, `${count} statements`);
});

test('a single missing link is read at once, and later answers come from memory', async (t) => {
	const {service, acme, statements, gate} = await start();
	t.teardown(() => service.stop());
	gate.open();
	const {url} = await link(acme);
	const {pathname} = new URL(url);
	for (let visit = 0; visit < 3; visit += 1) {
		t.is((await anonymous(service).get(pathname)).status, 200);
	}

	t.is(statements.count(BY_ADDRESS), 1);
});

test('a link that cannot be read does not fail those that are read with it', async (t) => {
	const {service, acme, other, gate, missed} = await start();
	t.teardown(() => service.stop());
	const [good, bad] = [await Promise.all(numbered(8, () => link(acme))), await link(other)];
	await service.services
		.db('app_configs')
		.where({organization_id: other.id})
		.update({android: JSON.stringify({not: 'a list'})});
	const before = missed();
	const ask = (orgKey: string, code: string) => anonymous(service).get(`/${orgKey}/${code}/data`);
	const answers = [ask(other.orgKey, bad.shortCode), ...good.map(({shortCode}) => ask(acme.orgKey, shortCode))];
	await until(() => missed() - before === answers.length);
	gate.open();
	t.deepEqual(
		(await Promise.all(answers)).map(({status}) => status),
		[500, ...good.map(() => 200)],
	);
});

test('without the database each missing link is answered 503, and read again later', async (t) => {
	const near = await startService(env);
	t.teardown(() => near.stop());
	const acme = await organization(near);
	const made = await Promise.all(numbered(10, () => link(acme)));
	const {line, url} = await openDatabaseLine(near.databaseUrl);
	const far = await startService(env, createFakeClock(), {url, drop: async () => {}});
	t.teardown(async () => {
		await far.stop();
		await line.close();
	});
	await far.services.changes.settled();
	const ask = () =>
		Promise.all(made.map(({shortCode}) => anonymous(far).get(`/${acme.orgKey}/${shortCode}/data`))).then((answers) =>
			answers.map(({status}) => status),
		);
	await line.cut();
	t.deepEqual(
		await ask(),
		made.map(() => 503),
	);
	await line.mend();
	await until(async () => (await anonymous(far).get('/health/ready')).status === 200);
	t.deepEqual(
		await ask(),
		made.map(() => 200),
	);
});

/** Links of which the first ones were tapped and counted, and a further service that starts on their database. */
const tapped = async (t: {teardown(end: () => Promise<void>): void}, more: Record<string, string> = {}) => {
	const {url, drop} = await createTestDatabase();
	t.teardown(drop);
	const clock = createFakeClock();
	const shared = {url, drop: async () => {}};
	const first = await startService(env, clock, shared);
	t.teardown(() => first.stop());
	const acme = await organization(first);
	const made = await Promise.all(numbered(12, (n) => link(acme, {params: {n: String(n)}})));
	const open = (n: number) => `/${acme.orgKey}/${made[n]?.shortCode}/data`;
	for (const n of [0, 1, 2, 3, 4, 0]) {
		await anonymous(first).get(open(n));
	}

	await first.services.clickJournal.flushed();
	await rollUp(first.services.db);
	const begin = async (hold?: (name: string) => Promise<unknown> | undefined) => {
		const next = await startService({...env, ...more}, clock, shared);
		t.teardown(() => next.stop());
		return {next, statements: watchStatements(next, hold)};
	};
	return {first, acme, made, open, begin};
};

test('a service that has started reads the tapped links ahead, and no others', async (t) => {
	const {made, open, begin} = await tapped(t);
	const {next, statements} = await begin();
	const {linkCache, changes} = next.services;
	await until(() => linkCache.figures().entries === 5 && changes.isTrusted());
	for (const n of [0, 1, 2, 3, 4]) {
		t.like(await anonymous(next).get(open(n)), {status: 200, body: {linkId: made[n]?.id, params: {n: String(n)}}});
	}

	t.deepEqual([statements.count(BY_TAPS), statements.count(BY_ADDRESS)], [1, 0]);
	t.is((await anonymous(next).get(open(5))).status, 200);
	t.is(statements.count(BY_ADDRESS), 1);
});

test('a link that changes while it is read ahead is not stale, and the others are cached', async (t) => {
	const {first, acme, made, open, begin} = await tapped(t);
	const gate = createGate();
	const {next, statements} = await begin((name) => (name === BY_TAPS ? gate.opened : undefined));
	await until(() => statements.count(BY_TAPS) === 1);
	const path = `/admin/organizations/${acme.id}/links/${made[0]?.id}`;
	t.is((await admin(first).patch(path, {params: {n: 'changed'}})).status, 200);
	gate.open();
	await until(() => next.services.linkCache.figures().entries === 4);
	t.deepEqual((await anonymous(next).get(open(0))).body.params, {n: 'changed'});
	t.is(statements.count(BY_ADDRESS), 1);
	t.deepEqual((await anonymous(next).get(open(1))).body.params, {n: '1'});
	t.is(statements.count(BY_ADDRESS), 1);
});

test('links read ahead take no more than a quarter of the memory', async (t) => {
	const {first, acme, made, begin} = await tapped(t, {LINK_CACHE_MB: '1'});
	const {db} = first.services;
	await db('links')
		.where({organization_id: acme.id})
		.update({params: JSON.stringify(Object.fromEntries(numbered(50, (n) => [`p${n}`, 'я'.repeat(1500)])))});
	const {next} = await begin();
	const {linkCache, changes} = next.services;
	await until(() => linkCache.figures().entries > 0 && changes.isTrusted());
	await next.services.background.settle();
	const {entries, bytes} = linkCache.figures();
	// The links are 160 KB each, of which one fits into a quarter of a megabyte.
	t.true(entries === 1 && bytes < 0.25 * 1024 * 1024, `${entries} links, ${bytes} bytes of ${made.length}`);
});
