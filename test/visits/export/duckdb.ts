import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {DuckDBInstance} from '@duckdb/node-api';
import test from 'ava';
import {dataDirectory} from '../../helpers/process.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {network, visit} from '../matches/_phones.ts';

const service = serviceOf(test);

test('DuckDB reads exports of clicks and events as docs/reports.md says', async (t) => {
	const {acme, ...made} = await linked(service, {channel: 'email'});
	const host = network();
	for (let index = 1; index <= 5; index += 1) {
		await visit(service, made, host(index));
	}

	await acme.client.post('/sdk/session', {deviceId: 'device-1'});
	const properties = {note: 'a "quote",\na line', price: 12.5};
	await acme.client.post('/sdk/events', {deviceId: 'device-1', eventName: 'purchase', properties});
	const folder = await dataDirectory(t);
	for (const kind of ['clicks', 'events']) {
		for (const format of ['ndjson', 'csv']) {
			const {text} = await acme.operator.get(`/export/${kind}?format=${format}`);
			await writeFile(path.join(folder, `${kind}-1.${format}`), text);
		}
	}

	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const ask = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
	await connection.run(
		`CREATE TABLE clicks AS SELECT * EXCLUDE (cursor) FROM read_json('${folder}/clicks-*.ndjson', union_by_name = true) WHERE id IS NOT NULL`,
	);
	const events = `read_json('${folder}/events-1.ndjson')`;
	const csv = `read_csv('${folder}/events-1.csv', all_varchar = true)`;
	const clicks = `read_csv('${folder}/clicks-1.csv')`;
	const group = {channel: 'email', platform: 'ios', n: 5};
	for (const [sql, row] of [
		['SELECT channel, platform, count(*)::INT AS n FROM clicks GROUP BY ALL', group],
		['SELECT min("at")::VARCHAR AS first FROM clicks', {first: '2026-03-10 12:00:00'}],
		[`SELECT count(*)::INT AS n, count(botClass)::INT AS bots FROM ${clicks}`, {n: 5, bots: 0}],
		[`SELECT properties.price::DOUBLE AS price FROM ${events} WHERE id IS NOT NULL`, {price: 12.5}],
		[`SELECT properties::JSON->>'note' AS note FROM ${csv}`, {note: properties.note}],
	] as const) {
		t.deepEqual(await ask(sql), [row], sql);
	}

	connection.closeSync();
});
