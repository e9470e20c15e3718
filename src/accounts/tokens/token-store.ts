import {randomUUID} from 'node:crypto';
import type {Scope} from '../../platform/config/operator-scopes.ts';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, onlyRow, translateViolation} from '../../platform/db/db.ts';
import {type Page, type PageQuery, readSqlPage} from '../../platform/db/read-page.ts';
import {execute, prepared, run, sql} from '../../platform/db/sql.ts';
import {invalidAdminToken, tokenNameTaken} from '../../platform/errors.ts';

/** A token as the API shows it. */
export type OperatorToken = {
	id: string;
	name: string;
	scopes: Scope[];
	organizationId: string | null;
	createdBy: string;
	createdAt: Date;
	expiresAt: Date | null;
	/** The day, such as 2026-03-10. */
	lastUsedOn: string | null;
};

const columns: Columns<Omit<OperatorToken, 'lastUsedOn'>> = columnsOf(
	'id, name, scopes, organization_id, created_by, created_at, expires_at',
);
const selected = sql`${columns.of('operator_tokens')}, last_used_on::text AS "lastUsedOn"`;

/** The holder of a token. */
type TokenHolder = {
	id: string;
	name: string;
	scopes: Scope[];
	organization: {id: string; orgKey: string} | null;
	expiresAt: Date | null;
	lastUsedOn: string | null;
};

// Read at each request: a revocation takes effect at the next one in every process, and operators ask seldom.
const byHash = (tokenHash: Buffer, now: Date) =>
	prepared(
		'find an operator token',
		sql`SELECT operator_tokens.id, operator_tokens.name, scopes, CAST(last_used_on AS text) AS "lastUsedOn",
			expires_at AS "expiresAt",
			CASE WHEN organization_id IS NOT NULL THEN json_build_object('id', organization_id, 'orgKey', org_key) END AS organization
		FROM operator_tokens LEFT JOIN organizations ON organizations.id = organization_id
		WHERE token_hash = ${tokenHash} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`,
	);

/** The number must only differ from our other advisory locks. */
const TOKENS_LOCK = 7_201_008;

/** Serializes creations and revocations: a revocation must not miss a token that the revoked one is creating. */
const holdTokens = (trx: Db) => execute(trx, sql`SELECT pg_advisory_xact_lock(${TOKENS_LOCK})`);

type NewToken = Omit<OperatorToken, 'id' | 'lastUsedOn'> & {tokenHash: Buffer; madeBy: string | null};

export const createTokenStore = (db: Db) => ({
	/** In a transaction. @throws 401 if the token that makes it was revoked meanwhile, 409 for a name in use. */
	insert: async ({tokenHash, madeBy, name, ...token}: NewToken): Promise<OperatorToken> => {
		await holdTokens(db);
		if (madeBy !== null && !(await db('operator_tokens').where({id: madeBy}).whereNull('revoked_at').first('id'))) {
			throw invalidAdminToken();
		}

		const {scopes, organizationId, createdBy, createdAt, expiresAt} = token;
		const rows = await run<OperatorToken>(
			db,
			sql`INSERT INTO operator_tokens
				(id, name, scopes, organization_id, created_by, created_at, expires_at, token_hash, made_by)
			VALUES (${randomUUID()}, ${name}, ${scopes}, ${organizationId}, ${createdBy}, ${createdAt}, ${expiresAt},
				${tokenHash}, ${madeBy})
			RETURNING ${selected}`,
		).catch((error: unknown) => {
			throw translateViolation(error, {operator_tokens_name_key: () => tokenNameTaken(name)});
		});
		return onlyRow(rows);
	},

	/** Live tokens, newest first. */
	list: (query: PageQuery): Promise<Page<OperatorToken>> =>
		readSqlPage(
			db,
			{
				columns: selected,
				from: sql`operator_tokens WHERE revoked_at IS NULL`,
				order: sql`created_at DESC, id DESC`,
			},
			query,
		),

	/** The holder of a token that is valid now; null if there is none. */
	find: async (tokenHash: Buffer, now: Date): Promise<TokenHolder | null> =>
		(await run<TokenHolder>(db, byHash(tokenHash, now)))[0] ?? null,

	noteUse: async (id: string, day: string): Promise<void> => {
		await db('operator_tokens').where({id}).update({last_used_on: day});
	},

	/** In a transaction. @returns the token and all that it made, directly or through others; empty if there was none. */
	revoke: async (id: string, now: Date): Promise<Array<Pick<OperatorToken, 'id' | 'name' | 'organizationId'>>> => {
		await holdTokens(db);
		return run(
			db,
			sql`WITH RECURSIVE ended AS (
				SELECT id FROM operator_tokens WHERE id = ${id} AND revoked_at IS NULL
				UNION SELECT made.id FROM operator_tokens AS made JOIN ended ON made.made_by = ended.id
			)
			UPDATE operator_tokens SET revoked_at = ${now} WHERE id IN (SELECT id FROM ended) AND revoked_at IS NULL
			RETURNING id, name, organization_id AS "organizationId"`,
		);
	},
});
