import type {Db} from '../../src/platform/db/db.ts';

const rowsOfOne =
	'SELECT (SELECT string_agg(CAST(one AS text), chr(10) ORDER BY CAST(one AS text)) FROM ?? AS one) AS text, ? AS name';

/** The whole contents of a database, so that a test sees any change. */
export const contents = async (db: Db): Promise<string> => {
	const {rows: tables} = await db.raw(
		"SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
	);
	const names: string[] = tables.flatMap(({relname}: {relname: string}) => [relname, relname]);
	const {rows} = await db.raw(tables.map(() => rowsOfOne).join(' UNION ALL '), names);
	return rows.map(({name, text}: {name: string; text: string | null}) => `${name}: ${text}`).join('\n');
};
