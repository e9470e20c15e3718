import {randomUUID} from 'node:crypto';
import type {Scope} from '../../platform/config/operator-scopes.ts';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import {type Db, onlyRow, translateViolation} from '../../platform/db/db.ts';
import {type Prepared, runPrepared} from '../../platform/db/prepared.ts';
import {type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {tokenNameTaken} from '../../platform/errors.ts';

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

const selected = (db: Db) => [...columns.list, db.raw('CAST(last_used_on AS text) AS "lastUsedOn"')];

/** The holder of a token. */
type TokenHolder = {
	id: string;
	name: string;
	scopes: Scope[];
	organization: {id: string; orgKey: string} | null;
	lastUsedOn: string | null;
};

// Read at each request, so that a revocation holds at the next one in every process: operators ask seldom.
const byHash: Prepared = {
	name: 'find an operator token',
	text: `SELECT operator_tokens.id, operator_tokens.name, scopes, CAST(last_used_on AS text) AS "lastUsedOn",
			CASE WHEN organization_id IS NOT NULL THEN json_build_object('id', organization_id, 'orgKey', org_key) END AS organization
		FROM operator_tokens LEFT JOIN organizations ON organizations.id = organization_id
		WHERE token_hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
};

export const createTokenStore = (db: Db) => ({
	/** @throws 409 for a name in use. */
	insert: async ({
		tokenHash,
		...token
	}: Omit<OperatorToken, 'id' | 'lastUsedOn'> & {tokenHash: Buffer}): Promise<OperatorToken> => {
		const rows: OperatorToken[] = await db('operator_tokens')
			.insert({...toColumns(token), id: randomUUID(), token_hash: tokenHash})
			.returning(selected(db))
			.catch((error: unknown) => {
				throw translateViolation(error, {operator_tokens_name_key: () => tokenNameTaken(token.name)});
			});
		return onlyRow(rows);
	},

	/** Live tokens, newest first. */
	list: (query: PageQuery): Promise<Page<OperatorToken>> =>
		readPage(db('operator_tokens').whereNull('revoked_at').select(selected(db)), query, 'created_at DESC, id DESC'),

	/** The holder of a token that is valid now; null if there is none. */
	find: async (tokenHash: Buffer, now: Date): Promise<TokenHolder | null> =>
		(await runPrepared<TokenHolder>(db, byHash, [tokenHash, now]))[0] ?? null,

	noteUse: async (id: string, day: string): Promise<void> => {
		await db('operator_tokens').where({id}).update({last_used_on: day});
	},

	/** The token that ends; null if there was none. */
	revoke: async (id: string, now: Date): Promise<OperatorToken | null> => {
		const rows: OperatorToken[] = await db('operator_tokens')
			.where({id})
			.whereNull('revoked_at')
			.update({revoked_at: now})
			.returning(selected(db));
		return rows[0] ?? null;
	},
});
