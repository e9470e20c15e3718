import {effectiveColumns} from '../../../links/links/link-columns.ts';
import type {Db} from '../../../platform/db/db.ts';
import {joined, run, type Sql, sql} from '../../../platform/db/sql.ts';
import {campaigns} from '../../visit/click-context.ts';

/** Filters by properties of links (contract/reports 2). */
export type LinkFilter = {tag?: string; channel?: string; link?: string};

const isLabel = (name: string): boolean => name === 'tags' || Object.hasOwn(campaigns.columnsByName, name);

/** An item of a FROM: an organization's links with the tags, channel and UTM values of their own or of their template. */
export const labelledLinks = (organizationId: string): Sql =>
	sql`(SELECT links.id, ${effectiveColumns(({name}) => isLabel(name))}
		FROM links LEFT JOIN templates ON templates.id = links.template_id WHERE links.organization_id = ${organizationId})`;

/**
 * The ids of the links that filters choose.
 * @param linkId null: of all links. @returns null without any filter.
 */
export const chooseLinks = async (
	db: Db,
	{organizationId, linkId}: {organizationId: string; linkId: string | null},
	{tag, channel, link}: LinkFilter,
): Promise<string[] | null> => {
	if (tag === undefined && channel === undefined) {
		const ids = [linkId, link ?? null].filter((id) => id !== null);
		return ids.length === 0 ? null : new Set(ids).size === 1 ? ids.slice(0, 1) : [];
	}

	const conditions = [
		...(linkId === null ? [] : [sql`id = ${linkId}`]),
		...(link === undefined ? [] : [sql`id = ${link}`]),
		...(tag === undefined ? [] : [sql`${tag} = ANY (tags)`]),
		...(channel === undefined ? [] : [sql`channel = ${channel}`]),
	];
	const rows = await run<{id: string}>(
		db,
		sql`SELECT id FROM ${labelledLinks(organizationId)} AS links WHERE ${joined(conditions, ' AND ')}`,
	);
	return rows.map(({id}) => id);
};
