import {FREE_PLAN, type Plans} from '../../platform/config/plans.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {execute, run, type Sql, sql} from '../../platform/db/sql.ts';
import {
	type AndroidApp,
	APPLE_LIMIT_BYTES,
	type AppleApp,
	type CustomDomainAppleApp,
	entryBytes,
	FREE_PLAN_BYTES,
	fileBytes,
	MIN_ENTRY_BYTES,
} from './association-files.ts';

/** Columns of an iOS app of `app_configs`, and of its organization. */
export const iosColumns = sql`org_key AS "orgKey", ios->>'teamId' AS "teamId", ios->>'bundleId' AS "bundleId"`;

/** Whether an active organization's configuration is complete for iOS (contract/portal 5). */
export const hasIosApp = sql`organizations.status = 'ACTIVE' AND ios->>'teamId' IS NOT NULL AND ios->>'bundleId' IS NOT NULL`;

/** Whether the organization's plan is one of these. An unknown stored plan counts as none (contract/requests 12). */
export const hasPlan = (plans: readonly string[]): Sql => sql`upper(organizations.plan) = ANY(${plans})`;

const iosApps = (db: Db, condition: Sql): Promise<CustomDomainAppleApp[]> =>
	run(
		db,
		sql`SELECT ${iosColumns}, ios->>'appClipBundleId' AS "appClipBundleId", coalesce(browser_paths, '{}') AS "browserPaths"
		FROM app_configs JOIN organizations ON organizations.id = app_configs.organization_id
		WHERE ${hasIosApp} AND ${condition} ORDER BY org_key COLLATE "C"`,
	);

const androidApps = (db: Db, condition: Sql): Promise<AndroidApp[]> =>
	run(
		db,
		sql`SELECT org_key AS "orgKey", app.value->>'packageName' AS "packageName",
			app.value->'sha256Fingerprints' AS "sha256Fingerprints",
			coalesce(CAST(app.value->>'dynamicAppLinks' AS boolean), false) AS "dynamicAppLinks",
			coalesce(browser_paths, '{}') AS "browserPaths"
		FROM app_configs JOIN organizations ON organizations.id = app_configs.organization_id,
			jsonb_array_elements(android) WITH ORDINALITY AS app (value, position)
		WHERE organizations.status = 'ACTIVE' AND ${condition} ORDER BY org_key COLLATE "C", position`,
	);

const isOne = (organizationId: string): Sql => sql`organizations.id = ${organizationId}`;
const isAny = (organizationIds: readonly string[]): Sql => sql`organizations.id = ANY(${organizationIds})`;

/** The iOS app of an organization; none while it is suspended or its configuration is incomplete. */
export const iosAppsOf = (db: Db, organizationId: string): Promise<CustomDomainAppleApp[]> =>
	iosApps(db, isOne(organizationId));

/** The Android apps of an organization, as configured; none while it is suspended. */
export const androidAppsOf = (db: Db, organizationId: string): Promise<AndroidApp[]> =>
	androidApps(db, isOne(organizationId));

/** The iOS apps of these organizations that have a place in the shared link domain's file. */
export const sharedIosAppsOf = (db: Db, organizationIds: readonly string[]): Promise<AppleApp[]> =>
	iosApps(db, sql`shared_at IS NOT NULL AND ${isAny(organizationIds)}`);

/**
 * The Android apps in the shared link domain's file: those of active organizations with a plan, by orgKey and in
 * configured order; a package may be repeated.
 * @param organizationIds null for all.
 */
export const listSharedAndroidApps = (
	db: Db,
	plans: readonly string[],
	organizationIds: readonly string[] | null = null,
): Promise<AndroidApp[]> =>
	androidApps(db, organizationIds === null ? hasPlan(plans) : sql`${hasPlan(plans)} AND ${isAny(organizationIds)}`);

/** An iOS app with a place in the shared link domain's file, or waiting for one. */
type SharedApp = AppleApp & {organizationId: string; isFree: boolean};

/** Serializes the assignment of places. The number must only differ from our other advisory locks. */
const PLACES_LOCK = 7_201_009;

const isFree = sql`upper(organizations.plan) = ${FREE_PLAN}`;
const configs = sql`app_configs JOIN organizations ON organizations.id = app_configs.organization_id`;
const isEntitled = (plans: Plans): Sql => sql`${hasIosApp} AND ${hasPlan(Object.keys(plans))}`;
const isWaiting = (plans: Plans): Sql => sql`shared_at IS NULL AND ${isEntitled(plans)}`;

/** @param rest conditions, and the order. */
const apps = (trx: Db, rest: Sql): Promise<SharedApp[]> =>
	run(
		trx,
		sql`SELECT ${iosColumns}, organizations.id AS "organizationId", ${isFree} AS "isFree" FROM ${configs} WHERE ${rest}`,
	);

/** Apps with a place, oldest first, after removing those no longer entitled to one. */
const readPlaced = async (trx: Db, plans: Plans): Promise<SharedApp[]> => {
	await execute(trx, sql`SELECT pg_advisory_xact_lock(${PLACES_LOCK})`);
	await execute(
		trx,
		sql`UPDATE app_configs SET shared_at = NULL FROM organizations WHERE organizations.id = app_configs.organization_id
			AND shared_at IS NOT NULL AND (${isEntitled(plans)}) IS NOT TRUE`,
	);
	return apps(trx, sql`shared_at IS NOT NULL ORDER BY shared_at, org_key COLLATE "C"`);
};

const setPlaces = async (trx: Db, organizationIds: readonly string[], at: Date | null): Promise<void> => {
	if (organizationIds.length > 0) {
		await trx('app_configs')
			.whereIn('organization_id', [...organizationIds])
			.update({shared_at: at});
	}
};

/** Free bytes in the file for one more app. Free-plan apps may use a part of it, which leaves space for paying ones. */
const roomFor = (isFree: boolean, others: readonly SharedApp[]): number => {
	const room = APPLE_LIMIT_BYTES - fileBytes(others);
	return isFree ? Math.min(room, FREE_PLAN_BYTES - fileBytes(others.filter((other) => other.isFree))) : room;
};

/** Apps small enough to fit, longest waiting first, up to the number of free places. */
const readWaiting = (trx: Db, plans: Plans, placed: readonly SharedApp[]): Promise<SharedApp[]> => {
	const [room, freeRoom] = [roomFor(false, placed), roomFor(true, placed)];
	return apps(
		trx,
		sql`${isWaiting(plans)} AND ${MIN_ENTRY_BYTES} + length(ios->>'bundleId')
			<= CASE WHEN ${isFree} THEN CAST(${freeRoom} AS int) ELSE ${room} END
		ORDER BY app_configs.created_at, org_key COLLATE "C" LIMIT ${Math.ceil(Math.max(room, 0) / MIN_ENTRY_BYTES)}`,
	);
};

/** Admits as many waiting apps as fit, one by one. */
const admit = (placed: readonly SharedApp[], waiting: readonly SharedApp[]): SharedApp[] => {
	const room = {paid: roomFor(false, placed), free: roomFor(true, placed)};
	return waiting.filter((app) => {
		const bytes = entryBytes(app);
		if (bytes > (app.isFree ? Math.min(room.free, room.paid) : room.paid)) {
			return false;
		}

		room.paid -= bytes;
		room.free -= app.isFree ? bytes : 0;
		return true;
	});
};

const countWaiting = async (trx: Db, plans: Plans): Promise<number> => {
	const statement = sql`SELECT CAST(count(*) AS int) AS waiting FROM ${configs} WHERE ${isWaiting(plans)}`;
	return onlyRow(await run<{waiting: number}>(trx, statement)).waiting;
};

const idsOf = (chosen: readonly SharedApp[]): string[] => chosen.map(({organizationId}) => organizationId);

/**
 * Assigns free places to waiting apps: of organizations that selected their plan after their configuration, or were
 * suspended. Apps keep their places.
 * @returns the apps of the file, and how many still wait.
 */
export const settlePlaces = async (
	trx: Db,
	plans: Plans,
	now: Date,
): Promise<{placed: AppleApp[]; waiting: number}> => {
	const known = await readPlaced(trx, plans);
	// A restored or edited database may contain more than fit: the newest ones are removed.
	let bytes = fileBytes([]);
	const kept = known.filter((app) => {
		bytes += entryBytes(app);
		return bytes <= APPLE_LIMIT_BYTES;
	});
	const admitted = admit(kept, await readWaiting(trx, plans, kept));
	await setPlaces(trx, idsOf(known.filter((app) => !kept.includes(app))), null);
	await setPlaces(trx, idsOf(admitted), now);
	return {placed: [...kept, ...admitted], waiting: await countWaiting(trx, plans)};
};

/**
 * Takes a place for the organization's new configuration, or keeps its place. Assignment is locked until the
 * transaction ends.
 * @returns false if there is no free place.
 */
export const takePlace = async (trx: Db, organizationId: string, plans: Plans, now: Date): Promise<boolean> => {
	const placed = await readPlaced(trx, plans);
	const [own] = await apps(trx, sql`organizations.id = ${organizationId} AND ${isEntitled(plans)}`);
	if (own === undefined) {
		return true;
	}

	const others = placed.filter((app) => app.organizationId !== organizationId);
	const isPlaced = others.length < placed.length;
	// An app with a place keeps it, whatever its plan's share.
	if (entryBytes(own) > roomFor(own.isFree && !isPlaced, others)) {
		await setPlaces(trx, [organizationId], null);
		return false;
	}

	await setPlaces(trx, isPlaced ? [] : [organizationId], now);
	return true;
};
