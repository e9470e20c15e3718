import {toColumns} from '../db/columns.ts';
import {type Db, likeLiteral, onlyRow} from '../db/db.ts';
import {type Page, readPage} from '../db/read-page.ts';
import {type LinkRow, linkColumns} from './link.ts';
import type {LinkListQuery} from './link-schemas.ts';

const own = (organizationId: string) => ({organization_id: organizationId});

/** `after`: the last link that has been read; null: from the beginning. */
type Position = Pick<LinkRow, 'created_at' | 'id'> | null;

/** The statements on links, over a pool or a transaction. Each one names the organization. */
export const createLinkStore = (db: Db, organizationId: string) => ({
	find: async (id: string): Promise<LinkRow | null> =>
		(await db('links')
			.where({...own(organizationId), id})
			.first()) ?? null,

	/** As `find`, and locks the link until the transaction ends. */
	lock: async (id: string): Promise<LinkRow | null> =>
		(await db('links')
			.where({...own(organizationId), id})
			.forUpdate()
			.first()) ?? null,

	/** As `lock`, of several. */
	lockAll: (ids: string[]): Promise<LinkRow[]> =>
		db('links').where(own(organizationId)).whereIn('id', ids).orderBy('id').forUpdate(),

	/** The links that have one of these short codes or external ids. */
	findNamed: async (names: {shortCodes: string[]; externalIds: string[]}): Promise<LinkRow[]> => {
		const {rows} = await db.raw<{rows: LinkRow[]}>(
			`SELECT * FROM links WHERE organization_id = :organizationId
				AND (short_code = ANY (:shortCodes) OR external_id = ANY (:externalIds))`,
			{organizationId, ...names},
		);
		return rows;
	},

	/** Newest first. */
	list: async (query: LinkListQuery): Promise<Page<LinkRow>> => {
		const {page, limit, q, tag, isActive, channel, externalId, shortCode, domainId} = query;
		const all = db('links')
			.where({...own(organizationId), ...toColumns({isActive, channel, externalId, shortCode, domainId})})
			.modify((filtered) => {
				if (q !== undefined && q !== '') {
					const pattern = `%${likeLiteral(q)}%`;
					filtered.where((either) => {
						for (const column of ['title', 'path', 'short_code']) {
							either.orWhereILike(column, pattern);
						}
					});
				}

				if (tag !== undefined) {
					filtered.whereRaw('? = ANY (tags)', [tag]);
				}
			});
		return readPage(all, {page, limit}, 'created_at DESC, id DESC');
	},

	/** The next links after a position, oldest first. */
	after: async (position: Position, limit: number): Promise<LinkRow[]> => {
		const rest = db('links').where(own(organizationId)).orderBy(['created_at', 'id']).limit(limit);
		return position === null ? rest : rest.whereRaw('(created_at, id) > (?, ?)', [position.created_at, position.id]);
	},

	/**
	 * Inserts the rows whose short code is free. A taken external id, or a reference that is gone, is a violation.
	 * @returns the ids of those that were inserted.
	 */
	insert: async (rows: readonly LinkRow[]): Promise<Set<string>> => {
		const inserted = await db.raw<{rows: Array<{id: string}>}>(
			`INSERT INTO links SELECT * FROM jsonb_populate_recordset(null::links, ?::jsonb)
			ON CONFLICT ON CONSTRAINT links_organization_id_short_code_key DO NOTHING
			RETURNING id`,
			[JSON.stringify(rows)],
		);
		return new Set(inserted.rows.map(({id}) => id));
	},

	/** Writes every changeable column of existing rows. */
	update: async (rows: readonly LinkRow[]): Promise<void> => {
		const columns = [...linkColumns, 'updated_at'];
		await db.raw(
			`UPDATE links SET (${columns.join(', ')}) = (${columns.map((column) => `changed.${column}`).join(', ')})
			FROM jsonb_populate_recordset(null::links, ?::jsonb) AS changed
			WHERE links.id = changed.id AND links.organization_id = ?`,
			[JSON.stringify(rows), organizationId],
		);
	},

	/** The removed link, or null if there was none. */
	remove: async (id: string): Promise<LinkRow | null> => {
		const rows: LinkRow[] = await db('links')
			.where({...own(organizationId), id})
			.delete()
			.returning('*');
		return rows[0] ?? null;
	},
});

/** How many links the organization has. */
export const countLinks = async (db: Db, organizationId: string): Promise<number> => {
	const rows: Array<{links: number}> = await db('link_counts').where(own(organizationId));
	return rows[0]?.links ?? 0;
};

/** As `countLinks`, and locks the count: no other transaction creates, removes or renames a link until this one ends. */
export const lockLinkCount = async (trx: Db, organizationId: string): Promise<number> => {
	const {rows} = await trx.raw<{rows: Array<{links: number}>}>(
		`INSERT INTO link_counts (organization_id, links) VALUES (?, 0)
		ON CONFLICT (organization_id) DO UPDATE SET links = link_counts.links
		RETURNING links`,
		[organizationId],
	);
	return onlyRow(rows).links;
};

/**
 * Counts one more link if there are fewer than `limit` (null: unlimited), atomically, so that parallel creates never
 * exceed it. @returns whether there was room.
 */
export const takeLink = async (trx: Db, organizationId: string, limit: number | null): Promise<boolean> => {
	const {rows} = await trx.raw<{rows: unknown[]}>(
		`INSERT INTO link_counts (organization_id, links)
		SELECT CAST(:organizationId AS uuid), 1 WHERE coalesce(CAST(:limit AS bigint) > 0, true)
		ON CONFLICT (organization_id) DO UPDATE SET links = link_counts.links + 1
		WHERE coalesce(link_counts.links < CAST(:limit AS bigint), true)
		RETURNING links`,
		{organizationId, limit},
	);
	return rows.length > 0;
};

/** Counts `by` links more, or fewer. The caller holds the count (`lockLinkCount`). */
export const moveLinkCount = async (trx: Db, organizationId: string, by: number): Promise<void> => {
	if (by !== 0) {
		await trx('link_counts').where(own(organizationId)).increment('links', by);
	}
};
