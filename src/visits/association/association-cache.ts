import type {Logger} from 'pino';
import {
	APPLE_LIMIT_BYTES,
	APPLE_WARNING_BYTES,
	appleAppSiteAssociation,
	assetLinks,
} from '../../links/app-config/association-files.ts';
import {androidAppsOf, iosAppsOf, listSharedAndroidApps, settlePlaces} from '../../links/app-config/configured-apps.ts';
import type {Clock} from '../../platform/clock.ts';
import type {Config} from '../../platform/config/config.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import type {ChangeFeed} from '../../platform/db/feed/change-feed.ts';
import {createSmallCache} from '../../platform/db/feed/shared-reads.ts';

/** The bodies of a host's two files; null if no app is configured. */
export type AssociationFiles = {apple: string | null; android: string | null};

type Deps = {changes: ChangeFeed; clock: Clock; config: Pick<Config, 'plans'>; db: Db; log: Logger};

/** Maximum organizations whose files are cached. */
const MAX_COUNT = 1000;

const SHARED = '';

const bodyOf = (entries: readonly unknown[], file: unknown): string | null =>
	entries.length === 0 ? null : JSON.stringify(file);

/** The association files of all hosts, each rebuilt only when an app changes. */
export const createAssociationCache = ({changes, clock, config, db, log}: Deps) => {
	const files = createSmallCache<AssociationFiles>(changes, {max: MAX_COUNT, isOfIt: ({kind}) => kind === 'files'});
	let figures = {apps: 0, waiting: 0, appleBytes: 0, androidBytes: 0};

	const makeShared = (): Promise<AssociationFiles> =>
		inTransaction(db, async (trx) => {
			const {placed, waiting} = await settlePlaces(trx, config.plans, clock.now());
			const statements = assetLinks(await listSharedAndroidApps(trx, Object.keys(config.plans)));
			const apple = bodyOf(placed, appleAppSiteAssociation(placed));
			const android = bodyOf(statements, statements);
			const appleBytes = Buffer.byteLength(apple ?? '');
			figures = {apps: placed.length, waiting, appleBytes, androidBytes: Buffer.byteLength(android ?? '')};
			if (appleBytes >= APPLE_WARNING_BYTES) {
				log.warn(
					{bytes: appleBytes, limit: APPLE_LIMIT_BYTES, apps: placed.length, waiting},
					'the apple-app-site-association of the shared link domain is nearly full',
				);
			}

			return {apple, android};
		});

	const makeOwn = async (organizationId: string): Promise<AssociationFiles> => {
		const ios = await iosAppsOf(db, organizationId);
		const statements = assetLinks(await androidAppsOf(db, organizationId), {customDomain: true});
		return {
			apple: bodyOf(ios, appleAppSiteAssociation(ios, {customDomain: true})),
			android: bodyOf(statements, statements),
		};
	};

	return {
		/** The files of the shared link domain. */
		shared: () => files.get(SHARED, makeShared),
		/** The files of an organization's custom domains. */
		of: (organizationId: string) => files.get(organizationId, () => makeOwn(organizationId)),
		/** Figures of the last build; zeros before the first. `waiting`: organizations whose iOS app found no room. */
		figures: () => figures,
	};
};
