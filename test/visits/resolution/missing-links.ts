import test, {type ExecutionContext} from 'ava';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {type Answer, anonymous} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {until} from '../../helpers/redis-server.ts';
import {createFakeClock, serviceOf, startService, type TestService} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';

const env = {LINK_DOMAIN: 'localhost'};
const BY_ADDRESS = 'links by address';
const BY_CLICKS = 'links by clicks';

const numbered = <T>(count: number, make: (n: number) => T): T[] => Array.from({length: count}, (_, n) => make(n));

type Statement = {name?: string};
type Connection = {query(statement: Statement, ...rest: unknown[]): Promise<unknown>};

/** What the result of a statement waits for, by its name. */
type Hold = (name: string) => Promise<unknown> | undefined;

/** The prepared statements that a service runs from now on. */
const watchStatements = ({services}: TestService, hold: Hold = () => undefined): {count(name: string): number} => {
	const names: string[] = [];
	const watched = new WeakSet<Connection>();
	const client = services.db.client as {acquireConnection(): Promise<Connection>};
	const acquire = client.acquireConnection;
	client.acquireConnection = async () => {
		const connection = await acquire.call(client);
		if (!watched.has(connection)) {
			watched.add(connection);
			const {query} = connection;
			connection.query = async (statement, ...rest) => {
				const {name = ''} = statement;
				names.push(name);
				const result = await query.call(connection, statement, ...rest);
				await hold(name);
				return result;
			};
		}

		return connection;
	};
	return {count: (name) => names.filter((one) => one === name).length};
};

/** A promise that a test fulfils. */
const createGate = (): {opened: Promise<void>; open(): void} => {
	let open = (): void => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return {opened, open: () => open()};
};

const statusesOf = async (answers: Array<Promise<Answer>>) => (await Promise.all(answers)).map(({status}) => status);

const service = serviceOf(test, env);
let gate = createGate();
let statements: ReturnType<typeof watchStatements>;
test.serial.before(async () => {
	statements = watchStatements(service, (name) => (name === BY_ADDRESS ? gate.opened : undefined));
	await service.services.changes.settled();
});

/** Organizations, and what is missed and read from now on: the tests run one after another. */
const start = async () => {
	const [acme, other] = [await organization(service), await organization(service)];
	gate = createGate();
	const {linkCache} = service.services;
	const [misses, reads] = [linkCache.figures().misses, statements.count(BY_ADDRESS)];
	return {
		acme,
		other,
		missed: () => linkCache.figures().misses - misses,
		read: () => statements.count(BY_ADDRESS) - reads,
	};
};

test.serial('links missing at once are read by few statements, with and without a query', async (t) => {
	const {acme, missed, read} = await start();
	const made = await Promise.all(numbered(40, (n) => link(acme, {params: {n: String(n)}})));
	const answers = made.map(({shortCode}, n) =>
		anonymous(service).get(`/${acme.orgKey}/${shortCode}/data${n % 2 === 0 ? '' : '?n=x'}`),
	);
	const unknown = anonymous(service).get(`/${acme.orgKey}/unknown/data`);
	await until(() => missed() === made.length + 1);
	gate.open();
	const numbers = (await Promise.all(answers)).map(({body}) => Number(body.params?.n));
	t.deepEqual(numbers, [...made.keys()]);
	t.is((await unknown).status, 404);
	// Two that began before the last request arrived, and one for all others.
	t.true(read() >= 1 && read() <= 3, `${read()} statements`);
});

test.serial('a single missing link is read at once, and later answers come from memory', async (t) => {
	const {acme, read} = await start();
	gate.open();
	const {pathname} = new URL((await link(acme)).url);
	for (let visit = 0; visit < 3; visit += 1) {
		t.is((await anonymous(service).get(pathname)).status, 200);
	}

	t.is(read(), 1);
});

test.serial('a link that cannot be read does not fail those that are read with it', async (t) => {
	const {acme, other, missed} = await start();
	const [good, bad] = [await Promise.all(numbered(8, () => link(acme))), await link(other)];
	await service.services
		.db('app_configs')
		.where({organization_id: other.id})
		.update({android: JSON.stringify({not: 'a list'})});
	const ask = (orgKey: string, code: string) => anonymous(service).get(`/${orgKey}/${code}/data`);
	const answers = [ask(other.orgKey, bad.shortCode), ...good.map(({shortCode}) => ask(acme.orgKey, shortCode))];
	await until(() => missed() === answers.length);
	gate.open();
	t.deepEqual(await statusesOf(answers), [500, ...good.map(() => 200)]);
});

test.serial('without the database each missing link is answered 503, and read again later', async (t) => {
	const {acme} = await start();
	const made = await Promise.all(numbered(10, () => link(acme)));
	const {line, url} = await openDatabaseLine(service.databaseUrl);
	const far = await startService(env, createFakeClock(), {url, drop: async () => {}});
	t.teardown(async () => {
		await far.stop();
		await line.close();
	});
	await far.services.changes.settled();
	const ask = () => statusesOf(made.map(({shortCode}) => anonymous(far).get(`/${acme.orgKey}/${shortCode}/data`)));
	await line.cut();
	t.deepEqual(new Set(await ask()), new Set([503]));
	await line.mend();
	await until(async () => (await anonymous(far).get('/health/ready')).status === 200);
	t.deepEqual(new Set(await ask()), new Set([200]));
});

const first = serviceOf(test, env);
let acme: TestOrganization;
let made: Array<Awaited<ReturnType<typeof link>>>;
const open = (n: number) => `/${acme.orgKey}/${made[n]?.shortCode}/data`;

// Links of which the first five were tapped and counted.
test.serial.before(async () => {
	acme = await organization(first);
	made = await Promise.all(numbered(12, (n) => link(acme, {params: {n: String(n)}})));
	for (const n of [0, 1, 2, 3, 4, 0]) {
		await anonymous(first).get(open(n));
	}

	await first.services.clickJournal.flushed();
	await rollUp(first.services.db);
});

/** A further service that starts on their database. */
const begin = async (t: ExecutionContext, {hold, ...more}: {hold?: Hold; LINK_CACHE_MB?: string} = {}) => {
	const next = await startedIn(
		t,
		startService({...env, ...more}, first.clock, {url: first.databaseUrl, drop: async () => {}}),
	);
	return {next, statements: watchStatements(next, hold)};
};

test.serial('a service that has started reads the tapped links ahead, and no others', async (t) => {
	const {next, statements} = await begin(t);
	const {linkCache, changes} = next.services;
	await until(() => linkCache.figures().entries === 5 && changes.isTrusted());
	for (const n of [0, 1, 2, 3, 4]) {
		t.like(await anonymous(next).get(open(n)), {status: 200, body: {linkId: made[n]?.id, params: {n: String(n)}}});
	}

	t.deepEqual([statements.count(BY_CLICKS), statements.count(BY_ADDRESS)], [1, 0]);
	t.is((await anonymous(next).get(open(5))).status, 200);
	t.is(statements.count(BY_ADDRESS), 1);
});

test.serial('a link that changes while it is read ahead is not stale, and the others are cached', async (t) => {
	const gate = createGate();
	const hold = (name: string) => (name === BY_CLICKS ? gate.opened : undefined);
	const {next, statements} = await begin(t, {hold});
	await until(() => statements.count(BY_CLICKS) === 1);
	t.is((await acme.operator.patch(`/links/${made[0]?.id}`, {params: {n: 'changed'}})).status, 200);
	gate.open();
	await until(() => next.services.linkCache.figures().entries === 4);
	t.deepEqual((await anonymous(next).get(open(0))).body.params, {n: 'changed'});
	t.is(statements.count(BY_ADDRESS), 1);
	t.deepEqual((await anonymous(next).get(open(1))).body.params, {n: '1'});
	t.is(statements.count(BY_ADDRESS), 1);
});

test.serial('links read ahead take no more than a quarter of the memory', async (t) => {
	await first.services
		.db('links')
		.where({organization_id: acme.id})
		.update({params: JSON.stringify(Object.fromEntries(numbered(50, (n) => [`p${n}`, 'я'.repeat(1500)])))});
	const {next} = await begin(t, {LINK_CACHE_MB: '1'});
	const {linkCache, changes} = next.services;
	await until(() => linkCache.figures().entries > 0 && changes.isTrusted());
	await next.services.background.settle();
	const {entries, bytes} = linkCache.figures();
	// The links are 160 KB each, of which one fits into a quarter of a megabyte.
	t.true(entries === 1 && bytes < 0.25 * 1024 * 1024, `${entries} links, ${bytes} bytes of ${made.length}`);
});
