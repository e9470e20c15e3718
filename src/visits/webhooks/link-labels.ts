import {effectiveColumns} from '../../links/links/link-columns.ts';
import type {Db} from '../../platform/db/db.ts';
import type {Listener} from './listening.ts';

/** What filters look at. */
type Labels = {tags: string[] | null; channel: string | null};
export type Listeners = ReadonlyMap<string, Listener[]>;

/** SQL: the labels of links as they take effect, as reports choose links by them: their own or their template's. */
const labelsOf = (links: string): string =>
	`SELECT links.id, ${effectiveColumns(({name}) => name === 'tags' || name === 'channel')}
	FROM ${links} LEFT JOIN templates ON templates.id = links.template_id`;

const ofIds = `${labelsOf('links')} WHERE links.id IN
	(SELECT CAST(value AS uuid) FROM jsonb_array_elements_text(CAST(:links AS jsonb)))`;
const ofRows = labelsOf(
	'jsonb_to_recordset(CAST(:links AS jsonb)) AS links (id uuid, template_id uuid, tags text[], channel text)',
);

/** None where no endpoint filters. */
const read = async (
	db: Db,
	listeners: Listeners,
	sql: string,
	links: readonly unknown[],
): Promise<Map<string, Labels>> => {
	const isFiltered = [...listeners.values()].flat().some(({tags, channels}) => tags !== null || channels !== null);
	if (!isFiltered || links.length === 0) {
		return new Map();
	}

	const {rows} = await db.raw<{rows: Array<Labels & {id: string}>}>(sql, {links: JSON.stringify(links)});
	return new Map(rows.map(({id, ...labels}) => [id, labels]));
};

/** The labels of stored links, for filters. */
export const readLabels = (db: Db, listeners: Listeners, ids: ReadonlyArray<string | null>) =>
	read(db, listeners, ofIds, [...new Set(ids.filter((id) => id !== null))]);

/** The labels of links as they were written, for filters: of a link that is gone, too. `id` may be any. */
export const readWrittenLabels = (
	db: Db,
	listeners: Listeners,
	rows: ReadonlyArray<Labels & {id: string; template_id: string | null}>,
) => read(db, listeners, ofRows, rows);
