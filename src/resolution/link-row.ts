import type {ClipboardFormat} from '../app-config/app-config.ts';
import type {linkGone} from '../errors.ts';
import type {Destinations, MinimumVersion} from '../links/platform-fields.ts';

/**
 * The stored row of an address: the link's own values override its template's, and those override the organization's
 * (contract/links 4). Whether it resolves is decided at each visit.
 */
export type LinkRow = {
	id: string;
	organization_id: string;
	org_key: string;
	organization_name: string;
	organization_status: string;
	/** The custom domain of its URL; null for the shared domain, also if its own is not served. */
	hostname: string | null;
	/** When `hostname` stops being served without any write; null for never. */
	hostname_until: Date | null;
	short_code: string;
	is_active: boolean;
	expiry: Date | null;
	path: string | null;
	template_params: Record<string, string> | null;
	params: Record<string, string> | null;
	title: string | null;
	channel: string | null;
	fallback_url: string | null;
	destinations: Destinations | null;
	minimum_version: MinimumVersion | null;
	og_title: string | null;
	og_description: string | null;
	og_image_url: string | null;
	utm_source: string | null;
	utm_medium: string | null;
	utm_campaign: string | null;
	utm_term: string | null;
	utm_content: string | null;
	deferred_deep_linking: boolean;
	match_window_hours: number;
	ios: {bundleId: string | null; teamId: string | null; appStoreId: string | null; scheme: string | null} | null;
	android: Array<{packageName: string; scheme: string | null}> | null;
	clipboard_format: ClipboardFormat | null;
	logo_url: string | null;
};

/** Whether a cached row is still valid. */
export const isCurrent = ({hostname_until: until}: LinkRow, now: Date): boolean => until === null || until > now;

/** The link's parameters, which override its template's. */
export const ownParams = (row: Pick<LinkRow, 'params' | 'template_params'>): Record<string, string> => ({
	...row.template_params,
	...row.params,
});

/** Why a link does not resolve, or null if it does. */
export const goneReason = (row: LinkRow, now: Date): Parameters<typeof linkGone>[0] | null => {
	if (row.organization_status === 'SUSPENDED') {
		return 'suspended';
	}

	if (!row.is_active) {
		return 'deactivated';
	}

	return row.expiry !== null && row.expiry <= now ? 'expired' : null;
};
