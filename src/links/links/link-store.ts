import {toColumns} from '../../platform/db/columns.ts';
import {type Db, likeLiteral, onlyRow} from '../../platform/db/db.ts';
import {type Page, readPage} from '../../platform/db/read-page.ts';
import type {LinkRow} from './link.ts';
import {linkColumns} from './link-fields.ts';
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

	/** Writes every changeable column of existing rows. */
	update: async (rows: readonly LinkRow[]): Promise<void> => {
		const columns = [...linkColumns.map(({column}) => column), 'updated_at'];
		await db.raw(
			`UPDATE links SET (${columns.join(', ')}) = (${columns.map((column) => `changed.${column}`).join(', ')})
			FROM jsonb_populate_recordset(null::links, ?::jsonb) AS changed
			WHERE links.id = changed.id AND links.organization_id = ?`,
			[JSON.stringify(rows), organizationId],
		);
	},

	/** The removed link and whether an app had created it, or null if there was none. */
	remove: async (id: string): Promise<(LinkRow & {isByApp: boolean}) | null> => {
		const {rows} = await db.raw<{rows: Array<LinkRow & {isByApp: boolean}>}>(
			`DELETE FROM links WHERE organization_id = :organizationId AND id = :id
			RETURNING *, EXISTS (SELECT FROM app_links WHERE link_id = links.id) AS "isByApp"`,
			{organizationId, id},
		);
		return rows[0] ?? null;
	},
});

/** How many links an organization has, and how many of them apps created. */
export type LinkCounts = {links: number; appLinks: number};

const counts = 'links, app_links AS "appLinks"';

export const countLinks = async (db: Db, organizationId: string): Promise<LinkCounts> => {
	const {rows} = await db.raw<{rows: LinkCounts[]}>(`SELECT ${counts} FROM link_counts WHERE organization_id = ?`, [
		organizationId,
	]);
	return rows[0] ?? {links: 0, appLinks: 0};
};

/** As `countLinks`, and locks the count: no other transaction creates, removes or renames a link until this one ends. */
export const lockLinkCount = async (trx: Db, organizationId: string): Promise<LinkCounts> => {
	const {rows} = await trx.raw<{rows: LinkCounts[]}>(
		`INSERT INTO link_counts (organization_id, links) VALUES (?, 0)
		ON CONFLICT (organization_id) DO UPDATE SET links = link_counts.links
		RETURNING link_counts.links, link_counts.app_links AS "appLinks"`,
		[organizationId],
	);
	return onlyRow(rows);
};

/** Counts more links, or fewer. The caller holds the count (`lockLinkCount`). */
export const moveLinkCount = async (trx: Db, organizationId: string, by: LinkCounts): Promise<void> => {
	if (by.links !== 0) {
		await trx('link_counts').where(own(organizationId)).increment({links: by.links, app_links: by.appLinks});
	}
};
