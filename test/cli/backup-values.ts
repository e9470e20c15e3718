import {randomUUID} from 'node:crypto';
import {gunzipSync} from 'node:zlib';
import test from 'ava';
import {type BackupTable, listTables} from '../../src/operations/backup/backup-tables.ts';
import type {Db} from '../../src/platform/db/db.ts';
import {createClickPartitions} from '../../src/visits/clicks/click-partitions.ts';
import {isDeep} from '../helpers/deep.ts';
import {startTarget} from './_backup.ts';
import {ends, runCli} from './_run-cli.ts';

/** Two tables have a column of each type that has no length, also longer values. */
const HAVE_LONG = new Set(['idempotency_keys', 'settings']);
const LENGTH = isDeep ? 10_000_000 : 100_000;

const controls = String.fromCharCode(...Array.from({length: 31}, (_, index) => index + 1));
const texts = [
	'',
	`${controls}\u007f\u0085\u2028\u2029\ufeff\ufffd\uffff😀`,
	'\\u0000 \\ " \' \r\n \\N \\x00 {"a":',
	'null',
];
const jsons = ['null', '1e400', '-0', '"\\u0001\\\\u0000"', '{"": null, "number": 12345678901234567890.1234567890}'];

/** Values of every type that a column has, as PostgreSQL writes them. */
const values: Readonly<Record<string, readonly string[]>> = {
	text: texts,
	'text[]': ['{}', '{NULL,"NULL","","a,b","{\\"\\\\}"}', '{{a,b},{c,"\n"}}'],
	jsonb: jsons,
	json: [
		...jsons,
		'{"a\\u0000b": "\\u0000", "cut within an emoji": "\\ud83d", "other half": "\\ude00"}',
		' {"b" : 1,\n\t"a":2, "b":\r\n3}\n',
	],
	bytea: ['\\x', '\\x00ff0a0d225c'],
	smallint: ['-32768', '32767'],
	integer: ['-2147483648', '2147483647'],
	'integer[]': ['{}', '{NULL,-2147483648}'],
	'smallint[]': ['{}', '{NULL,-32768}'],
	bigint: ['-9223372036854775808', '9223372036854775807', '9007199254740993'],
	real: ['NaN', 'Infinity', '-0', '1e-45', '3.4028235e+38', '0.1'],
	boolean: ['true', 'false'],
	uuid: ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
	date: ['0044-03-15 BC', '5874897-12-31', 'infinity'],
	'timestamp with time zone': ['-infinity', '0044-03-15 12:00:00.123456+00 BC', '294276-12-31 23:59:59.999999+00'],
	interval: ['-1 years -2 mons +3 days -04:05:06.789', '00:00:00'],
	pg_snapshot: ['10:20:10,14,15'],
	xid8: ['0', '18446744073709551615'],
};

const longJson = [`"${'\\u0001'.repeat(LENGTH)}"`];
const long: typeof values = {
	text: ['x'.repeat(LENGTH), '\u0001'.repeat(LENGTH)],
	json: longJson,
	jsonb: longJson,
	bytea: [`\\x${'00'.repeat(LENGTH)}`],
};

/** Days in two partitions of `clicks`, and ids that are unique there. */
const inMonths = ['2026-03-31 23:59:59.999999+00', '2026-04-01 00:00:00+00'];
const ofClicks: typeof values = {occurred_at: inMonths, id: texts.map(() => randomUUID())};

/** Leaves a database nothing but its columns, so that they take any value of their types. */
const loosen = async (db: Db): Promise<void> => {
	const {rows} = await db.raw<{rows: Array<{statement: string}>}>(`
		SELECT format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I CASCADE', CAST(conrelid AS regclass), conname) AS statement
		FROM pg_constraint WHERE contype IN ('c', 'f', 'p', 'u') AND conparentid = 0 AND conislocal
			AND connamespace = CAST('public' AS regnamespace)
		UNION ALL SELECT format('DROP INDEX IF EXISTS %s', CAST(indexrelid AS regclass)) FROM pg_index
			JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = CAST('public' AS regnamespace)
			AND NOT relispartition AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
		UNION ALL SELECT format('ALTER TABLE %s DISABLE TRIGGER USER', CAST(oid AS regclass)) FROM pg_class
			WHERE relkind IN ('r', 'p') AND relnamespace = CAST('public' AS regnamespace)
		UNION ALL SELECT 'CREATE OR REPLACE FUNCTION restart_rollups() RETURNS void LANGUAGE sql AS '''''`);
	for (const {statement} of rows) {
		await db.raw(statement);
	}
};

/** As many rows as it takes until each column had each value of its type. */
const fill = async (db: Db, {name, columns, types}: BackupTable): Promise<void> => {
	const lists = columns.map((column, at) => {
		const type = types[at] ?? '';
		const short = (name === 'clicks' ? ofClicks[column] : undefined) ?? values[type] ?? [];
		return HAVE_LONG.has(name) ? [...short, ...(long[type] ?? [])] : short;
	});
	const rows = Math.max(...lists.map(({length}) => length));
	const row = `(${types.map((type) => `CAST(? AS ${type})`).join(', ')})`;
	const cells = Array.from({length: rows}, (_, index) =>
		lists.map((list, at) => list[(index + at) % list.length] ?? ''),
	);
	for (const one of cells) {
		await db.raw(`INSERT INTO ?? VALUES ${row}`, [name, ...one]);
	}
};

const textOf = async (db: Db, {name, columns, types}: BackupTable): Promise<string> => {
	const cells = columns.map(
		(_, at) => `md5(coalesce(CAST(${types[at] === 'bytea' ? "encode(??, 'hex')" : '??'} AS text), 'NULL'))`,
	);
	const row = `concat_ws(' ', ${cells.join(', ')})`;
	const {rows} = await db.raw(`SELECT string_agg(${row}, chr(10) ORDER BY ${row}) AS text FROM ??`, [
		...columns,
		...columns,
		name,
	]);
	return rows[0].text;
};

test('whatever a column can hold is in a backup, which is checked and restored byte for byte', async (t) => {
	const [source, target] = await Promise.all([startTarget(), startTarget()]);
	t.teardown(() => Promise.all([source.stop(), target.stop()]));
	await Promise.all([loosen(source.db), loosen(target.db)]);
	const tables = await listTables(source.db);
	t.deepEqual(
		[...new Set(tables.flatMap(({types}) => types))].filter((type) => !(type in values)),
		[],
	);
	const partitions = createClickPartitions(source.db);
	for (const at of inMonths) {
		await partitions.ensure(new Date(at));
	}

	for (const table of tables) {
		await fill(source.db, table);
	}

	const {stdoutBytes: backup} = ends(t, await runCli('backup -', {env: source.env}), 0);
	t.true(gunzipSync(backup).includes('a\\\\u0000b'));
	ends(t, await target.restore(backup, '--force', '--yes'), 0);
	for (const table of tables) {
		const {length} = (await source.db(table.name).select(source.db.raw('1'))) as unknown[];
		t.true(length > 1, table.name);
		t.is(await textOf(target.db, table), await textOf(source.db, table), table.name);
	}
});
