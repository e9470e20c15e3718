import {storageLimits} from '../../platform/config/policies.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {type Page, type PageQuery, readSqlPage} from '../../platform/db/read-page.ts';
import {execute, sql} from '../../platform/db/sql.ts';
import type {ValueOf} from '../../platform/http/answer.ts';
import type {unknownCodeAnswer} from './domain.ts';
import {FURTHER_CODES, type UnknownCodeCount} from './unknown-code.ts';

/** The number only has to differ from our other advisory locks. */
const COUNT_LOCK = 7_340_113;

/** Adds the counts. A day keeps its first codes, up to the limit, across processes. */
export const storeUnknownCodes = (db: Db, counts: readonly UnknownCodeCount[]): Promise<void> =>
	inTransaction(db, async (trx) => {
		await execute(trx, sql`SELECT pg_advisory_xact_lock(${COUNT_LOCK})`);
		await execute(
			trx,
			sql`INSERT INTO unknown_codes (domain_id, organization_id, day, code, visits, last_at)
			WITH sent AS (
				SELECT * FROM json_to_recordset(${JSON.stringify(counts)}) AS sent
					(domain_id uuid, organization_id uuid, day date, code text, visits bigint, last_at timestamptz)
			), owned AS (
				SELECT sent.* FROM sent CROSS JOIN LATERAL (
					SELECT id FROM organizations WHERE id = sent.organization_id FOR KEY SHARE
				) AS owner JOIN domains ON domains.id = sent.domain_id AND domains.organization_id = owner.id
				FOR KEY SHARE OF domains
			), marked AS (
				SELECT owned.*, known.code IS NULL AND owned.code <> ${FURTHER_CODES} AS is_new
				FROM owned LEFT JOIN unknown_codes AS known USING (domain_id, day, code)
			), placed AS (
				SELECT marked.*, count(*) FILTER (WHERE is_new) OVER (PARTITION BY domain_id, day ORDER BY code) + (
					SELECT count(*) FROM unknown_codes AS known
					WHERE known.domain_id = marked.domain_id AND known.day = marked.day AND known.code <> ${FURTHER_CODES}
				) AS place FROM marked
			)
			SELECT domain_id, organization_id, day, CASE WHEN is_new AND place > ${storageLimits().unknownCodesPerDay} THEN ${FURTHER_CODES} ELSE code END,
				sum(visits), max(last_at)
			FROM placed GROUP BY 1, 2, 3, 4
			ON CONFLICT (domain_id, day, code) DO UPDATE SET visits = unknown_codes.visits + excluded.visits,
				last_at = greatest(unknown_codes.last_at, excluded.last_at)`,
		);
	});

/** A code with its visits; null stands for the codes beyond the limit of their days. */
type UnknownCode = ValueOf<typeof unknownCodeAnswer>;

/** The unknown codes of an organization's domain, most visits first. */
export const listUnknownCodes = (
	db: Db,
	{organizationId, domainId}: {organizationId: string; domainId: string},
	page: PageQuery,
): Promise<Page<UnknownCode>> =>
	readSqlPage(
		db,
		{
			columns: sql`nullif(code, ${FURTHER_CODES}) AS code, count, "lastAt"`,
			from: sql`(SELECT code, CAST(sum(visits) AS float8) AS count, max(last_at) AS "lastAt" FROM unknown_codes
				WHERE organization_id = ${organizationId} AND domain_id = ${domainId} GROUP BY code) AS codes`,
			order: sql`count DESC, codes.code`,
		},
		page,
	);
