import {effectiveColumns} from '../../../links/links/link-columns.ts';
import type {Db} from '../../../platform/db/db.ts';
import {campaigns} from '../../clicks/click-context.ts';

/** Filters by what links have (contract/reports 2). */
export type LinkFilter = {tag?: string; channel?: string; link?: string};

const isLabel = (name: string): boolean => name === 'tags' || Object.hasOwn(campaigns.words, name);

/** SQL, an item of a FROM: an organization's links with the tags, channel and UTM values of their own or of their template. */
export const labelledLinks = `(SELECT links.id, ${effectiveColumns(({name}) => isLabel(name))}
	FROM links LEFT JOIN templates ON templates.id = links.template_id WHERE links.organization_id = :organizationId)`;

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

	const {rows} = await db.raw<{rows: Array<{id: string}>}>(
		`SELECT id FROM ${labelledLinks} AS links WHERE ${[
			'true',
			...(linkId === null ? [] : ['id = :linkId']),
			...(link === undefined ? [] : ['id = :link']),
			...(tag === undefined ? [] : [':tag = ANY (tags)']),
			...(channel === undefined ? [] : ['channel = :channel']),
		].join(' AND ')}`,
		{organizationId, linkId, link: link ?? null, tag: tag ?? null, channel: channel ?? null},
	);
	return rows.map(({id}) => id);
};
