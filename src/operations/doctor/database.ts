import {needed, neededToWrite, readServerFacts, type ServerCheck} from '../../platform/db/check-server.ts';
import {type DatabaseFault, explainDatabaseError} from '../../platform/db/database-faults.ts';
import {type Db, sharesSessions} from '../../platform/db/db.ts';
import {migrationStatus} from '../../platform/db/migrate.ts';
import {checkPooler} from '../../platform/db/pooler.ts';
import {counted} from '../../platform/text.ts';
import {compareClocks, type Finding, findingsOf} from '../finding.ts';
import {checkEmbeddedAge, versionText} from './embedded-age.ts';

const findings = findingsOf('Database');
const {ok, fail} = findings;

const checkMigrations = async (db: Db): Promise<Finding> => {
	const migrations = await migrationStatus(db);
	const foreign = migrations.flatMap(({name, known}) => (known ? [] : [name]));
	if (foreign.length > 0) {
		return fail(
			'database.migrations',
			`this version lacks ${counted(foreign.length, 'migration')} of the database and would not start again: ${foreign.join(', ')}`,
			'Start the version that applied it, or roll back with its oplink migrate down',
		);
	}

	const pending = migrations.flatMap(({name, appliedAt}) => (appliedAt === null ? [name] : []));
	return pending.length === 0
		? ok('database.migrations', 'every migration is applied')
		: fail(
				'database.migrations',
				`${counted(pending.length, 'migration')} pending: ${pending.join(', ')}`,
				'Run oplink migrate up, or start the server again',
			);
};

const findingOf = (check: ServerCheck, found: DatabaseFault | null, good: string): Finding =>
	found === null ? ok(`database.${check}`, good) : fail(`database.${check}`, found.fault, found.remedy);

const NEXT = {
	external: 'Start PostgreSQL, or correct DATABASE_URL',
	embedded: 'Start the server again; its log says why',
} as const;

/**
 * Checks the database: reachable, suitable, clock difference, pending migrations.
 * @param now the machine's time, without CLOCK_OFFSET.
 */
export const checkDatabase = async (
	db: Db,
	{mode, now}: {mode: keyof typeof NEXT; now: () => Date},
): Promise<Finding[]> => {
	try {
		const asked = now();
		const facts = await readServerFacts(db);
		const answered = now();
		const {version, encoding, schema, at} = facts;
		return [
			findingOf('version', needed.version(facts), versionText(version, mode)),
			findingOf('encoding', needed.encoding(facts), `its encoding is ${encoding}`),
			findingOf('schema', needed.schema(facts), `tables are in the schema ${schema}`),
			findingOf('writable', neededToWrite(facts), 'it accepts writes'),
			findingOf(
				'pooler',
				await checkPooler(db),
				sharesSessions(db) ? 'sessions may be shared; one connection listens beside the pooler' : 'sessions persist',
			),
			compareClocks(findings, 'database.clock', {read: at, asked, answered}, 'the server'),
			await checkMigrations(db),
			...(mode === 'embedded' ? checkEmbeddedAge(version, asked) : []),
		];
	} catch (error) {
		const known = mode === 'external' ? explainDatabaseError(error) : null;
		const {fault, remedy} = known ?? {fault: (error as Error).message, remedy: NEXT[mode]};
		return [fail('database.reachable', `it cannot be used: ${fault}`, remedy)];
	}
};
