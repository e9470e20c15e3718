import {FREE_PLAN, type Plans} from '../../platform/config/plans.ts';
import type {Db} from '../../platform/db/db.ts';
import {
	APPLE_LIMIT_BYTES,
	type AppleApp,
	entryBytes,
	FREE_PLAN_BYTES,
	fileBytes,
	MIN_ENTRY_BYTES,
} from './association-files.ts';
import {hasIosApp, hasPlan, iosColumns} from './configured-apps.ts';

/** An iOS app with a place in the shared link domain's file, or waiting for one. */
type SharedApp = AppleApp & {organizationId: string; isFree: boolean};

/** Names of all plans and of the free one. */
type PlanNames = {plans: readonly string[]; freePlan: string};
const namesOf = (plans: Plans): PlanNames => ({plans: Object.keys(plans), freePlan: FREE_PLAN});

/** Serializes the assignment of places. The number must only differ from our other advisory locks. */
const PLACES_LOCK = 7_201_009;

const columns = `${iosColumns}, organizations.id AS "organizationId", upper(organizations.plan) = :freePlan AS "isFree"`;
const joined = 'app_configs JOIN organizations ON organizations.id = app_configs.organization_id';

const apps = async (trx: Db, rest: string, bindings: Record<string, unknown>): Promise<SharedApp[]> =>
	(await trx.raw<{rows: SharedApp[]}>(`SELECT ${columns} FROM ${joined} WHERE ${rest}`, bindings as never)).rows;

/** Apps with a place, oldest first, after removing those no longer entitled to one. */
const readPlaced = async (trx: Db, names: PlanNames): Promise<SharedApp[]> => {
	await trx.raw('SELECT pg_advisory_xact_lock(?)', [PLACES_LOCK]);
	await trx.raw(
		`UPDATE app_configs SET shared_at = NULL FROM organizations WHERE organizations.id = app_configs.organization_id
			AND shared_at IS NOT NULL AND (${hasIosApp} AND ${hasPlan}) IS NOT TRUE`,
		names as never,
	);
	return apps(trx, 'shared_at IS NOT NULL ORDER BY shared_at, org_key COLLATE "C"', names);
};

const setPlaces = async (trx: Db, organizationIds: readonly string[], at: Date | null): Promise<void> => {
	if (organizationIds.length > 0) {
		await trx('app_configs')
			.whereIn('organization_id', [...organizationIds])
			.update({shared_at: at});
	}
};

/** Free bytes in the file for one more app. Free-plan apps may use only a part of it, so that paying ones find room. */
const roomFor = (isFree: boolean, others: readonly SharedApp[]): number => {
	const room = APPLE_LIMIT_BYTES - fileBytes(others);
	return isFree ? Math.min(room, FREE_PLAN_BYTES - fileBytes(others.filter((other) => other.isFree))) : room;
};

/** Apps small enough to fit, longest waiting first; at most as many as could get a place. */
const readWaiting = (trx: Db, names: PlanNames, placed: readonly SharedApp[]): Promise<SharedApp[]> => {
	const [room, freeRoom] = [roomFor(false, placed), roomFor(true, placed)];
	return apps(
		trx,
		`shared_at IS NULL AND ${hasIosApp} AND ${hasPlan} AND :least + length(ios->>'bundleId')
			<= CASE WHEN upper(organizations.plan) = :freePlan THEN CAST(:freeRoom AS int) ELSE :room END
		ORDER BY app_configs.created_at, org_key COLLATE "C" LIMIT :most`,
		{...names, least: MIN_ENTRY_BYTES, room, freeRoom, most: Math.ceil(Math.max(room, 0) / MIN_ENTRY_BYTES)},
	);
};

/** As many as fit, one by one. */
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

const countWaiting = async (trx: Db, names: PlanNames): Promise<number> => {
	const {rows} = await trx.raw<{rows: Array<{waiting: number}>}>(
		`SELECT CAST(count(*) AS int) AS waiting FROM ${joined} WHERE shared_at IS NULL AND ${hasIosApp} AND ${hasPlan}`,
		names as never,
	);
	return rows[0]?.waiting ?? 0;
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
	const names = namesOf(plans);
	const known = await readPlaced(trx, names);
	// A restored or edited database may contain more than fit: the newest ones are removed.
	let bytes = fileBytes([]);
	const kept = known.filter((app) => {
		bytes += entryBytes(app);
		return bytes <= APPLE_LIMIT_BYTES;
	});
	const admitted = admit(kept, await readWaiting(trx, names, kept));
	await setPlaces(trx, idsOf(known.filter((app) => !kept.includes(app))), null);
	await setPlaces(trx, idsOf(admitted), now);
	return {placed: [...kept, ...admitted], waiting: await countWaiting(trx, names)};
};

/**
 * Takes a place for the organization's new configuration, or keeps its place. Assignment is locked until the
 * transaction ends.
 * @returns false if there is no room.
 */
export const takePlace = async (trx: Db, organizationId: string, plans: Plans, now: Date): Promise<boolean> => {
	const names = namesOf(plans);
	const placed = await readPlaced(trx, names);
	const [own] = await apps(trx, `organizations.id = :organizationId AND ${hasIosApp} AND ${hasPlan}`, {
		...names,
		organizationId,
	});
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
