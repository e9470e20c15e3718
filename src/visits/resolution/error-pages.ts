import type {Db} from '../../platform/db/db.ts';
import type {ChangeFeed} from '../../platform/db/feed/change-feed.ts';
import {createSmallCache} from '../../platform/db/feed/small-cache.ts';

/** The content of an organization's error pages. */
type ErrorPage = {organizationName: string; fallbackUrl: string | null};

/** Maximum cached orgKeys, because any caller may send any. */
const MAX_CACHED = 10_000;

/** The error pages of organizations, by orgKey; null for one that has none. */
export const createErrorPages = (changes: ChangeFeed, db: Db) => {
	const pages = createSmallCache<ErrorPage | null>(changes, {
		max: MAX_CACHED,
		isOfIt: ({kind}) => kind === 'organization',
	});
	return {
		of: (orgKey: string, before: () => Promise<void>): Promise<ErrorPage | null> =>
			pages.get(orgKey, async () => {
				await before();
				return (
					(await db('organizations')
						.join('app_configs', 'app_configs.organization_id', 'organizations.id')
						.where({'organizations.org_key': orgKey, error_pages: true})
						.first({organizationName: 'organizations.name', fallbackUrl: 'app_configs.fallback_url'})) ?? null
				);
			}),
	};
};
