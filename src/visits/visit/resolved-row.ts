import type {ClipboardFormat} from '../../links/app-config/app-config.ts';
import type {ResolvedColumns} from '../../links/links/link-fields.ts';
import {platformFields} from '../../links/links/link-fields.ts';
import {addressesOf, type Decision} from '../../links/links/link-safety.ts';
import {type Sql, sql} from '../../platform/db/sql.ts';
import type {linkGone} from '../../platform/errors.ts';
import type {LinkPolicy} from '../../platform/policy/link-policy.ts';

/**
 * The stored row of an address: the link's own values override its template's, and those override the organization's
 * (contract/links 4). Whether it resolves is decided at each visit.
 */
export type ResolvedRow = ResolvedColumns & {
	id: string;
	organization_id: string;
	org_key: string;
	organization_name: string;
	organization_status: string;
	/** The custom domain of its URL; null for the shared domain, also if its own is not served. */
	hostname: string | null;
	/** When `hostname` stops being served without any write; null for never. */
	hostname_until: Date | null;
	template_params: Record<string, string> | null;
	ios: {bundleId: string | null; teamId: string | null; appStoreId: string | null; scheme: string | null} | null;
	android: Array<{packageName: string; scheme: string | null}> | null;
	decision: Decision | null;
	clipboard_format: ClipboardFormat | null;
	logo_url: string | null;
};

/** Whether a cached row is still valid. */
export const isCurrent = ({hostname_until: until}: ResolvedRow, now: Date): boolean => until === null || until > now;

/** The link's parameters, which override its template's. */
export const ownParams = (row: Pick<ResolvedRow, 'params' | 'template_params'>): Record<string, string> => ({
	...row.template_params,
	...row.params,
});

/** The verdict of lists and operators on a row, by the version of the lists. */
const verdicts = new WeakMap<ResolvedRow, {version: number; state: 'block' | 'warn' | null}>();

/** Whether a link is blocked, or people are warned of it; null for neither. */
export const safetyStateOf = (policy: LinkPolicy, row: ResolvedRow): 'block' | 'warn' | null => {
	if (row.decision !== null) {
		return row.decision.state === 'block' ? 'block' : null;
	}

	if (policy.isEmpty) {
		return null;
	}

	let known = verdicts.get(row);
	if (known?.version !== policy.version) {
		known = {version: policy.version, state: policy.ofAll(addressesOf(row))?.state ?? null};
		verdicts.set(row, known);
	}

	return known.state;
};

/** Why a link does not resolve, or null if it does. */
export const goneReason = (
	row: ResolvedRow,
	now: Date,
	policy: LinkPolicy,
): Parameters<typeof linkGone>[0] | 'blocked' | null => {
	if (row.organization_status === 'SUSPENDED') {
		return 'suspended';
	}

	if (!row.is_active) {
		return 'deactivated';
	}

	if (row.expiry !== null && row.expiry <= now) {
		return 'expired';
	}

	return safetyStateOf(policy, row) === 'block' ? 'blocked' : null;
};

/**
 * The SQL form of `goneReason`: whether the link of `links` and `organizations` resolves at `now`. Lists of blocked
 * addresses are in memory alone; `matches/match-click-store.ts` asks them.
 */
export const isLiveSql = (now: Date): Sql =>
	sql`(organizations.status <> 'SUSPENDED' AND links.is_active AND (links.expiry IS NULL OR links.expiry > ${now})
		AND links.decision ->> 'state' IS DISTINCT FROM 'block')`;

/**
 * Bytes of V8's heap, in 64 bits without pointer compression, as test/visits/resolution/link-memory.ts measures them. Unknown
 * parts are overestimated: an estimate that is too low would leave the memory unbounded.
 */
const WORD = 8;
const STRING_HEADER = 16;
const OBJECT_HEADER = 24;
const ARRAY_HEADER = 32;
const DATE = 96;
/** Cost of a property in an object with arbitrary keys beside key and value: a hidden class of its own. */
const OWN_SHAPE = 120;
/** The row's own fields and hidden class. */
const ROW = 600;

const isOneByte = (text: string): boolean => !/[\u0100-\uffff]/.test(text);

const textBytes = (text: string): number =>
	STRING_HEADER + Math.ceil((text.length * (isOneByte(text) ? 1 : 2)) / WORD) * WORD;

/** An object with the fixed keys of its type; @param ofKey for one with arbitrary keys, what each costs beside its word. */
const recordBytes = (record: object, ofKey = (_: string) => 0): number =>
	Object.entries(record).reduce(
		(sum, [key, value]) =>
			sum + WORD + ofKey(key) + (typeof value === 'string' ? textBytes(value) : value instanceof Date ? DATE : 0),
		OBJECT_HEADER,
	);

const paramsBytes = (params: Record<string, string> | null): number =>
	recordBytes(params ?? {}, (key) => OWN_SHAPE + textBytes(key));

/** Estimated memory of a link. */
export const rowBytes = (row: ResolvedRow): number =>
	ROW +
	recordBytes(row) +
	paramsBytes(row.params) +
	paramsBytes(row.template_params) +
	[row.ios, ...platformFields.map(({column}) => row[column])].reduce(
		(sum, part) => sum + (part ? recordBytes(part) : 0),
		0,
	) +
	(row.android ?? []).reduce((sum, app) => sum + WORD + recordBytes(app), ARRAY_HEADER);
