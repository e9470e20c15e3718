import {createServer} from 'node:http';
import {setImmediate as turn} from 'node:timers/promises';
import test from 'ava';
import {createSemaphore} from '../../../src/platform/semaphore.ts';
import {createClickHouse} from '../../../src/visits/click-stores/clickhouse/clickhouse.ts';
import {createClickHouseClicks} from '../../../src/visits/click-stores/clickhouse/clickhouse-clicks.ts';
import {readStats} from '../../../src/visits/reports/stats/stats.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {listening} from './_process.ts';

const service = serviceOf(test);

const deferred = () => {
	let [resolve, reject] = [() => {}, (_: Error) => {}];
	const promise = new Promise<void>((done, fail) => {
		[resolve, reject] = [done, fail];
	});
	return {promise, resolve, reject};
};

test('a health check does not wait for a ClickHouse that accepts connections and never answers', async (t) => {
	const server = createServer(() => {});
	const port = await listening(t, server);
	t.teardown(() => server.closeAllConnections());
	const clickHouse = createClickHouse({origin: `http://127.0.0.1:${port}`, user: 'a', password: 'b', database: 'c'});
	await t.throwsAsync(clickHouse.ping(), {message: 'Click store unavailable'});
});

test('reports that wait for ClickHouse leave connections to PostgreSQL to everybody else', async (t) => {
	const {acme, id: linkId} = await linked(service);
	const {db, clock} = service.services;
	let asked = 0;
	const started = deferred();
	const gate = deferred();
	const clickHouse = {
		select: async <Row>(): Promise<Row[]> => {
			asked += 1;
			if (asked === 3) {
				started.resolve();
			}

			await gate.promise;
			return [];
		},
	} as unknown as ReturnType<typeof createClickHouse>;
	const store = createClickHouseClicks({db, clickHouse, flushed: async () => {}});
	const scope = {organizationId: acme.id, linkIds: [linkId]};
	const query = {from: null, to: null, interval: 'day', timezone: 'UTC'} as const;
	const report = async () => readStats(db, scope, query, clock.now(), await store.reader(acme.id));
	const reports = Array.from({length: 20}, report);
	await started.promise;
	t.deepEqual((await db.raw('SELECT 1 AS one')).rows, [{one: 1}]);
	t.is(asked, 3);
	gate.resolve();
	t.is((await Promise.all(reports)).length, 20);
});

test('a queue runs so many pieces of work at a time, in order, and goes on after a failure', async (t) => {
	const inTurn = createSemaphore(2);
	const begun: number[] = [];
	const gates = Array.from({length: 4}, () => deferred());
	const runs = gates.map(({promise}, index) =>
		inTurn(async () => {
			begun.push(index);
			await promise;
		}),
	);
	await turn();
	t.deepEqual(begun, [0, 1]);
	gates[1]?.reject(new Error('no'));
	await t.throwsAsync(runs[1] as Promise<void>, {message: 'no'});
	await turn();
	t.deepEqual(begun, [0, 1, 2]);
	for (const {resolve} of gates) {
		resolve();
	}

	await Promise.all([runs[0], runs[2], runs[3]]);
	t.deepEqual(begun, [0, 1, 2, 3]);
});
