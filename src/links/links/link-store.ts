import {DAY_MS} from '../../platform/clock.ts';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import {type Db, likeLiteral, onlyRow} from '../../platform/db/db.ts';
import {type Page, readSqlPage} from '../../platform/db/read-page.ts';
import {execute, identifier, joined, run, sql} from '../../platform/db/sql.ts';
import type {LinkRow} from './link.ts';
import {linkColumns} from './link-fields.ts';
import type {ExportQuery, LinkListQuery} from './link-schemas.ts';

const own = (organizationId: string) => ({organization_id: organizationId});

/** As the trigger `links_blocked_code` has it. */
const KEPT_CODE_MS = 90 * DAY_MS;

const linkOf = (db: Db, organizationId: string, id: string) => db('links').where({...own(organizationId), id});

const changeable = [...linkColumns.map(({column}) => column), 'updated_at'];

/** `after`: the last link that has been read; null: from the beginning. */
type Position = Pick<LinkRow, 'created_at' | 'id'> | null;

/** The statements on links, over a pool or a transaction. Each one names the organization. */
export const createLinkStore = (db: Db, organizationId: string) => ({
	find: async (id: string): Promise<LinkRow | null> => (await linkOf(db, organizationId, id).first()) ?? null,

	/** As `find`, and locks the link until the transaction ends. */
	lock: async (id: string): Promise<LinkRow | null> =>
		(await linkOf(db, organizationId, id).forUpdate().first()) ?? null,

	/** As `lock`, of several. */
	lockAll: (ids: string[]): Promise<LinkRow[]> =>
		db('links').where(own(organizationId)).whereIn('id', ids).orderBy('id').forUpdate(),

	/** The links that have one of these short codes or external ids. */
	findNamed: ({shortCodes, externalIds}: {shortCodes: string[]; externalIds: string[]}): Promise<LinkRow[]> =>
		run(
			db,
			sql`SELECT * FROM links WHERE organization_id = ${organizationId}
				AND (short_code = ANY (${shortCodes}) OR external_id = ANY (${externalIds}))`,
		),

	/** Those of some short codes that nobody may take yet: links had them that were deleted or renamed while blocked. */
	keptCodes: (shortCodes: string[], now: Date): Promise<string[]> =>
		db('blocked_codes')
			.where(own(organizationId))
			.whereIn('short_code', shortCodes)
			.where('deleted_at', '>', new Date(now.getTime() - KEPT_CODE_MS))
			.pluck('short_code'),

	/** Newest first. */
	list: async (query: LinkListQuery): Promise<Page<LinkRow>> => {
		const {page, limit, q = '', tag, isActive, channel, externalId, shortCode, domainId} = query;
		const equal = {...own(organizationId), ...toColumns({isActive, channel, externalId, shortCode, domainId})};
		const pattern = `%${likeLiteral(q)}%`;
		const conditions = [
			...Object.entries(equal).map(([column, value]) => sql`${identifier(column)} = ${value}`),
			...(q === '' ? [] : [sql`(title ILIKE ${pattern} OR path ILIKE ${pattern} OR short_code ILIKE ${pattern})`]),
			...(tag === undefined ? [] : [sql`${tag} = ANY (tags)`]),
		];
		return readSqlPage(
			db,
			{
				columns: sql`*`,
				from: sql`links WHERE ${joined(conditions, ' AND ')}`,
				order: sql`created_at DESC, id DESC`,
			},
			{page, limit},
		);
	},

	/** The next links after a position, oldest first. */
	after: (position: Position, limit: number, {appLinks}: ExportQuery): Promise<LinkRow[]> => {
		const rest = position === null ? sql`` : sql`AND (created_at, id) > (${position.created_at}, ${position.id})`;
		const byHand = appLinks ? sql`` : sql`AND NOT EXISTS (SELECT FROM app_links WHERE link_id = links.id)`;
		return run(
			db,
			sql`SELECT * FROM links WHERE organization_id = ${organizationId} ${byHand} ${rest}
			ORDER BY created_at, id LIMIT ${limit}`,
		);
	},

	/** Writes every changeable column of existing rows. The former code of a blocked link is kept (`keptCodes`). */
	update: async (rows: readonly LinkRow[]): Promise<void> => {
		await execute(
			db,
			sql`WITH changed AS (SELECT * FROM jsonb_populate_recordset(null::links, ${JSON.stringify(rows)})),
			kept AS (
				INSERT INTO blocked_codes SELECT links.organization_id, links.short_code, changed.updated_at
				FROM links JOIN changed ON changed.id = links.id AND changed.short_code <> links.short_code
				WHERE links.organization_id = ${organizationId} AND links.decision ->> 'state' = 'block'
				ON CONFLICT (organization_id, short_code) DO UPDATE SET deleted_at = excluded.deleted_at
			)
			UPDATE links SET (${joined(changeable.map(identifier))})
				= (${joined(changeable.map((column) => identifier(`changed.${column}`)))})
			FROM changed WHERE links.id = changed.id AND links.organization_id = ${organizationId}`,
		);
	},

	/** The removed link and whether an app had created it, or null if there was none. */
	remove: async (id: string): Promise<(LinkRow & {isByApp: boolean}) | null> => {
		const [removed] = await run<LinkRow & {isByApp: boolean}>(
			db,
			sql`DELETE FROM links WHERE organization_id = ${organizationId} AND id = ${id}
			RETURNING *, EXISTS (SELECT FROM app_links WHERE link_id = links.id) AS "isByApp"`,
		);
		return removed ?? null;
	},
});

/** How many links an organization has, and how many of them apps created. */
export type LinkCounts = {links: number; appLinks: number};

const counts: Columns<LinkCounts> = columnsOf('links, app_links');

export const countLinks = async (db: Db, organizationId: string): Promise<LinkCounts> =>
	(await db('link_counts').where(own(organizationId)).first(counts.list)) ?? {links: 0, appLinks: 0};

/** As `countLinks`, and locks the count: no other transaction creates, removes or renames a link until this one ends. */
export const lockLinkCount = async (trx: Db, organizationId: string): Promise<LinkCounts> =>
	onlyRow(
		await run<LinkCounts>(
			trx,
			sql`INSERT INTO link_counts (organization_id, links) VALUES (${organizationId}, 0)
			ON CONFLICT (organization_id) DO UPDATE SET links = link_counts.links RETURNING ${counts.of('link_counts')}`,
		),
	);

/** Counts more links, or fewer. The caller holds the count (`lockLinkCount`). */
export const moveLinkCount = async (trx: Db, organizationId: string, by: LinkCounts): Promise<void> => {
	if (by.links !== 0) {
		await trx('link_counts').where(own(organizationId)).increment({links: by.links, app_links: by.appLinks});
	}
};
