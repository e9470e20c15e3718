import test from 'ava';
import {type Db, inTransaction} from '../../../src/platform/db/db.ts';
import {compile, execute, identifier, joined, literal, prepared, run, sql} from '../../../src/platform/db/sql.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

test('values of nested parts are numbered in the order of the text', (t) => {
	const isLive = (now: string) => sql`expires_at > ${now}`;
	const conditions = [sql`id = ${1}`, isLive('today'), sql`tags && ${['a', 'b']}`];
	t.deepEqual(compile(sql`SELECT ${'x'}::text FROM links WHERE ${joined(conditions, ' AND ')} LIMIT ${10}`), {
		text: 'SELECT $1::text FROM links WHERE id = $2 AND expires_at > $3 AND tags && $4 LIMIT $5',
		values: ['x', 1, 'today', ['a', 'b'], 10],
	});
});

test('a value never becomes text: quotes, semicolons and places included', (t) => {
	const hostile = `'; DROP TABLE links; -- $1 ? :now`;
	t.deepEqual(compile(sql`SELECT ${hostile}`), {text: 'SELECT $1', values: [hostile]});
	t.is(compile(sql`CREATE TABLE ${identifier('a"b.c')} ()`).text, 'CREATE TABLE "a""b"."c" ()');
	t.is(compile(sql`SELECT ${literal(`it's`)}`).text, `SELECT 'it''s'`);
});

test('a list of one or none has no separator', (t) => {
	t.is(compile(sql`(${joined([])}) (${joined([sql`a`])}) (${joined([sql`a`, sql`b`])})`).text, '() (a) (a, b)');
});

test('a value that is undefined is an error of the code, and null is a value', (t) => {
	t.throws(() => compile(sql`SELECT ${undefined}`), {instanceOf: TypeError});
	t.deepEqual(compile(sql`SELECT ${null}`).values, [null]);
});

test('a prepared statement has its name and the same text', (t) => {
	const statement = prepared('find one', sql`SELECT ${1}`);
	t.is(statement.name, 'find one');
	t.is(compile(statement).text, 'SELECT $1');
});

test('a statement after the end of its transaction is refused, whether it was committed or rolled back', async (t) => {
	const {db} = service.services;
	const ended: Db[] = [];
	await inTransaction(db, async (trx) => {
		ended.push(trx);
		t.deepEqual(await run(trx, sql`SELECT ${1}::integer AS one`), [{one: 1}]);
	});
	await t.throwsAsync(
		inTransaction(db, async (trx) => {
			ended.push(trx);
			throw new Error('back');
		}),
		{message: 'back'},
	);
	for (const trx of ended) {
		for (const late of [() => execute(trx, sql`SELECT 1`), () => run(trx, prepared('late', sql`SELECT 1`))]) {
			await t.throwsAsync(late, {message: /after the end of its transaction/});
		}
	}
});
