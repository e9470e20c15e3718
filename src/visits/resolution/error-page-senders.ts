import type {Db} from '../../platform/db/db.ts';
import type {ChangeFeed} from '../../platform/db/feed/change-feed.ts';
import {createSmallCache} from '../../platform/db/feed/small-cache.ts';

/** The content of an organization's error pages. */
export type Sender = {organizationName: string; fallbackUrl: string | null};

/** Most cached orgKeys, because anybody may send any. */
const MOST = 10_000;

/** Who has error pages, by orgKey; null for nobody. */
export const createErrorPages = (changes: ChangeFeed, db: Db) => {
	const senders = createSmallCache<Sender | null>(changes, {most: MOST, isOfIt: ({kind}) => kind === 'organization'});
	return {
		senderOf: (orgKey: string, before: () => Promise<void>): Promise<Sender | null> =>
			senders.get(orgKey, async () => {
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
