import type {ClipboardFormat} from '../../links/app-config/app-config.ts';
import type {ResolvedColumns} from '../../links/links/link-fields.ts';
import {type Sql, sql} from '../../platform/db/sql.ts';
import type {linkGone} from '../../platform/errors.ts';

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

/** Why a link does not resolve, or null if it does. */
export const goneReason = (row: ResolvedRow, now: Date): Parameters<typeof linkGone>[0] | null => {
	if (row.organization_status === 'SUSPENDED') {
		return 'suspended';
	}

	if (!row.is_active) {
		return 'deactivated';
	}

	return row.expiry !== null && row.expiry <= now ? 'expired' : null;
};

/** The SQL form of `goneReason`: whether the link of `links` and `organizations` resolves at `now`. */
export const isLiveSql = (now: Date): Sql =>
	sql`(organizations.status <> 'SUSPENDED' AND links.is_active AND (links.expiry IS NULL OR links.expiry > ${now}))`;
