import type {Db} from '../../platform/db/db.ts';
import {prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {effectiveColumns} from './link-columns.ts';
import type {Addresses} from './link-safety.ts';

const addressColumns = effectiveColumns(({name}) => ['fallbackUrl', 'destinations', 'og'].includes(name));

/**
 * The effective addresses of the links of a condition that no operator decided on, by id: each link's own, else its
 * template's, else its organization's.
 */
export const readEffectiveAddresses = (
	db: Db,
	name: string,
	condition: Sql,
): Promise<Array<Addresses & {id: string}>> =>
	run(
		db,
		prepared(
			name,
			sql`SELECT links.id, ${addressColumns}, app_configs.logo_url
				FROM links LEFT JOIN templates ON templates.id = links.template_id
				LEFT JOIN app_configs ON app_configs.organization_id = links.organization_id
				WHERE links.decision IS NULL AND ${condition}`,
		),
	);
