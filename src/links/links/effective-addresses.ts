import type {Db} from '../../platform/db/db.ts';
import {prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import type {Addresses} from './link-safety.ts';

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
			sql`SELECT links.id,
				coalesce(links.fallback_url, templates.fallback_url, app_configs.fallback_url) AS fallback_url,
				coalesce(app_configs.destinations, '{}') || coalesce(templates.destinations, '{}') ||
					coalesce(links.destinations, '{}') AS destinations,
				coalesce(links.og_image_url, templates.og_image_url, app_configs.og_image_url) AS og_image_url,
				app_configs.logo_url
				FROM links LEFT JOIN templates ON templates.id = links.template_id
				LEFT JOIN app_configs ON app_configs.organization_id = links.organization_id
				WHERE links.decision IS NULL AND ${condition}`,
		),
	);
