import type {Db} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {type DeviceFields, signalsOfApp} from './match-signals.ts';
import type {PhoneCount} from './posterior.ts';

/** How a first open matched; null: not at all. */
export type Matched = 'token' | 'guess' | null;

/** The phones of each organization's recent first opens, which show how common a phone is. */
export type PhoneBook = {
	/** Up to a minute old. */
	of(organizationId: string, now: Date): Promise<readonly PhoneCount[]>;
	/** Counts the phone of a first open; one that does not even name its platform is not counted. */
	note(organizationId: string, phone: DeviceFields & {matched: Matched}, now: Date): Promise<void>;
};

/** Phones that are kept of each organization. */
const KEPT = 300;
const FRESH_MS = 60_000;
/** Most organizations that are kept in memory; the one that was read longest ago goes first. */
const MAX_ORGANIZATIONS = 2000;

type Row = {
	platform: 'iOS' | 'Android';
	os_version: string | null;
	device_model: string | null;
	language: string | null;
	timezone: string | null;
	count: number;
	by_token: number;
	by_guess: number;
};

const statements = {
	read: {
		name: 'count phones of an organization',
		text: `SELECT platform, os_version, device_model, language, timezone, CAST(count(*) AS integer) AS count,
				CAST(count(*) FILTER (WHERE matched = 'token') AS integer) AS by_token,
				CAST(count(*) FILTER (WHERE matched = 'guess') AS integer) AS by_guess
			FROM counted_phones WHERE organization_id = $1 GROUP BY 1, 2, 3, 4, 5`,
	},
	// A free slot, or any: so the phones are a sample of the recent ones, and no row is one that all writers want.
	note: {
		name: 'count a phone of an organization',
		text: `INSERT INTO counted_phones (organization_id, slot, day, platform, os_version, device_model, language, timezone, matched)
			SELECT $1, CASE WHEN taken < ${KEPT} THEN taken ELSE floor(random() * ${KEPT}) END, $2, $3, $4, $5, $6, $7, $8
			FROM (SELECT count(*) AS taken FROM counted_phones WHERE organization_id = $1) AS phones
			ON CONFLICT (organization_id, slot) DO UPDATE SET day = excluded.day, platform = excluded.platform,
				os_version = excluded.os_version, device_model = excluded.device_model, language = excluded.language,
				timezone = excluded.timezone, matched = excluded.matched`,
	},
} satisfies Record<string, Prepared>;

const read = async (db: Db, organizationId: string): Promise<PhoneCount[]> => {
	const rows = await runPrepared<Row>(db, statements.read, [organizationId]);
	return rows.map(
		({
			platform,
			os_version: osVersion,
			device_model: deviceModel,
			language,
			timezone,
			count,
			by_token: byToken,
			by_guess: byGuess,
		}) => ({
			signals: signalsOfApp({platform, osVersion, deviceModel, language, timezone}),
			count,
			byToken,
			byGuess,
		}),
	);
};

export const createPhoneBook = (db: Db): PhoneBook => {
	const known = new Map<string, {readAt: number; phones: Promise<readonly PhoneCount[]>}>();
	return {
		of: (organizationId, now) => {
			const kept = known.get(organizationId);
			if (kept !== undefined && Math.abs(now.getTime() - kept.readAt) < FRESH_MS) {
				return kept.phones;
			}

			const phones = read(db, organizationId);
			known.delete(organizationId);
			known.set(organizationId, {readAt: now.getTime(), phones});
			phones.catch(() => known.delete(organizationId));
			const [oldest] = known.keys();
			if (known.size > MAX_ORGANIZATIONS && oldest !== undefined) {
				known.delete(oldest);
			}

			return phones;
		},
		note: async (organizationId, {platform, osVersion, deviceModel, language, timezone, matched}, now) => {
			if (platform != null) {
				const traits = [osVersion, deviceModel, language, timezone].map((value) => value ?? null);
				await runPrepared(db, statements.note, [organizationId, now, platform, ...traits, matched]);
			}
		},
	};
};
