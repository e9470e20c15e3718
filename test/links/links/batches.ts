import {randomUUID} from 'node:crypto';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test from 'ava';
import {lockLinkCount} from '../../../src/links/links/link-store.ts';
import {creatorStatements} from '../../../src/links/links/link-terms.ts';
import {insertion} from '../../../src/links/links/link-writer.ts';
import {createBatches} from '../../../src/platform/db/batches.ts';
import {run} from '../../../src/platform/db/sql.ts';
import {approvedDomain, link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {untilAwaited} from '../../helpers/database.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);
test.serial.before(async () => {
	// Makes the batch's statement fail.
	await service.services.db.raw(`ALTER TABLE links ADD CONSTRAINT links_refused_check CHECK (path <> '/refused')`);
});

const stored = async ({id}: TestOrganization) => {
	const {db} = service.services;
	const links = await db('links').where({organization_id: id}).orderBy('path');
	const [count] = await db('link_counts').where({organization_id: id});
	const records = await db('audit_log').where({organization_id: id, entity_type: 'Link'});
	return {paths: links.map(({path}) => path), count: count?.links ?? 0, records: records.length};
};

const paths = (count: number): string[] => Array.from({length: count}, (_, n) => `/${String(n).padStart(3, '0')}`);

test('links that are created at once are each made, counted and recorded once', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const asked = paths(45);
	const answers = await Promise.all(
		asked.flatMap((path) => [acme, other].map(({server}) => server.post('/links', {path}))),
	);
	t.true(answers.every(({status}) => status === 201));
	t.is(new Set(answers.map(({body}) => body.id)).size, 90);
	for (const one of [acme, other]) {
		t.deepEqual(await stored(one), {paths: asked, count: 45, records: 45});
	}
});

test('an invalid create does not affect concurrent ones', async (t) => {
	const [acme, full, planless] = [
		await organization(service),
		await organization(service, {plan: 'STARTER'}),
		await organization(service, {plan: null}),
	];
	const fill = (path: string) => full.operator.post('/links', {path});
	await Promise.all(paths(48).map(fill));
	const asked = paths(10);
	const [refused, noPlan, ...others] = await Promise.all([
		acme.server.post('/links', {path: '/refused'}),
		planless.server.post('/links', {path: '/a'}),
		...asked.flatMap((path) => [acme.server.post('/links', {path}), fill(path)]),
	]);
	t.is(refused.status, 500);
	t.like(noPlan, {status: 402, body: {code: 'PLAN_NOT_SELECTED'}});
	t.is(others.filter(({status}) => status === 201).length, 12);
	t.true(others.every(({status, body}) => status === 201 || body.code === 'QUOTA_EXCEEDED'));
	t.deepEqual(await stored(acme), {paths: asked, count: 10, records: 10});
	t.like(await stored(full), {count: 50, records: 50});
	t.deepEqual(await stored(planless), {paths: [], count: 0, records: 0});
});

test('an organization with a locked counter, as by an import, does not block others', async (t) => {
	const [held, acme] = [await organization(service), await organization(service)];
	await link(held, {path: '/first'});
	const trx = await service.services.db.transaction();
	await lockLinkCount(trx, held.id);
	let isHeld = true;
	const waiting = held.server.post('/links', {path: '/second'}).then((answer) => ({...answer, wasHeld: isHeld}));
	const others = await Promise.all(paths(5).map((path) => acme.server.post('/links', {path})));
	t.true(others.every(({status}) => status === 201));
	isHeld = false;
	await trx.rollback();
	t.like(await waiting, {status: 201, wasHeld: false});
	t.deepEqual((await stored(held)).count, 2);
});

test('a connection keeps one plan of the statements of a batch, however many creates it is given', async (t) => {
	await service.services.db.transaction(async (trx) => {
		for (let creates = 1; creates <= 8; creates += 1) {
			const organizations = Array.from({length: creates}, () => randomUUID());
			await run(trx, creatorStatements.tryLock(organizations, '2026-03-01'));
			await run(trx, insertion([], [], false));
		}

		const {rows} = await trx.raw(
			'SELECT generic_plans > 0 AS is_kept, custom_plans <= 5 AS is_planned_no_more FROM pg_prepared_statements WHERE name = ANY (?)',
			[['lock free creators of links', 'create links']],
		);
		t.deepEqual(rows, Array(2).fill({is_kept: true, is_planned_no_more: true}));
	});
});

const refused = new Error('refused');

/** Batches whose `many` refuses negative numbers, and leaves out zeros. */
const createRun = (options: {one?: (item: number) => Promise<number>; waitMs?: number} = {}) => {
	const batches: number[][] = [];
	const add = createBatches<number, number>({
		many: async (items) => {
			batches.push([...items]);
			if (items.some((item) => item < 0)) {
				throw refused;
			}

			return items.map((item) => (item === 0 ? undefined : item * 10));
		},
		...options,
	});
	return {batches, add, results: (...items: number[]) => Promise.allSettled(items.map(add))};
};

const fulfilled = (value: number) => ({status: 'fulfilled' as const, value});
const rejected = (reason: unknown) => ({status: 'rejected' as const, reason});

test('items that arrive together are one batch, in order, and with those of the next turn where batches wait', async (t) => {
	const {batches, results} = createRun();
	t.deepEqual(await results(1, 2, 3), [fulfilled(10), fulfilled(20), fulfilled(30)]);
	t.deepEqual(batches, [[1, 2, 3]]);
	for (const [options, expected] of [
		[{}, [[1], [2]]],
		[{waitMs: 1}, [[1, 2]]],
	] as const) {
		const run = createRun(options);
		const first = run.add(1);
		await nextTurn();
		t.deepEqual(await Promise.all([first, run.add(2)]), [10, 20]);
		t.deepEqual(run.batches, expected);
	}
});

test('writers of many links lock them in one order', async (t) => {
	const {db} = service.services;
	const acme = await organization(service);
	const {body: channel} = await acme.operator.post('/channels', {name: 'radio'});
	const domain = await approvedDomain(acme, 'go.order.example');
	for (const [fields, write] of [
		[{channel: 'radio'}, () => acme.operator.patch(`/channels/${channel.id}`, {name: 'television'})],
		[{domainId: domain.id}, () => acme.operator.delete(`/domains/${domain.id}`)],
	] as const) {
		let [earlier, later] = [await link(acme, fields), await link(acme, fields)];
		// The later one comes first by its id, and last where rows are read as they are stored.
		while (later.id > earlier.id) {
			[earlier, later] = [later, await link(acme, fields)];
		}

		const other = await db.transaction();
		await other('links').where({id: later.id}).forUpdate().select('id');
		const written = write();
		await untilAwaited(other);
		await other.raw("SET LOCAL lock_timeout = '200ms'");
		const locked = other('links').where({id: earlier.id}).forUpdate().select('id').then();
		await t.notThrowsAsync(locked, Object.keys(fields).join());
		await other.rollback();
		t.is((await written).status, 200);
	}
});

test('an item that the batch refuses fails alone, and one that it leaves out is processed by itself', async (t) => {
	const one = async (item: number) => (item < 0 ? Promise.reject(refused) : item + 100);
	const {results} = createRun({one});
	t.deepEqual(await results(1, -2, 3), [fulfilled(101), rejected(refused), fulfilled(103)]);
	t.deepEqual(await results(1, 0), [fulfilled(10), fulfilled(100)]);
});

test('without a way to process one item, a batch fails as a whole and is tried once', async (t) => {
	const {batches, results} = createRun();
	t.deepEqual(await results(1, -2), [rejected(refused), rejected(refused)]);
	t.deepEqual(batches, [[1, -2]]);
	const [leftOut] = await results(0);
	t.is(leftOut?.status, 'rejected');
});
