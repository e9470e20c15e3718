import type {Db} from '../../src/platform/db/db.ts';

/** The whole contents of a database, so that a test sees any change. */
export const contents = async (db: Db): Promise<string> => {
	const {rows: tables} = await db.raw(
		"SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
	);
	const texts: string[] = [];
	for (const {relname} of tables) {
		const {rows} = await db.raw(
			'SELECT string_agg(CAST(one AS text), chr(10) ORDER BY CAST(one AS text)) AS text FROM ?? AS one',
			[relname],
		);
		texts.push(`${relname}: ${rows[0].text}`);
	}

	return texts.join('\n');
};
