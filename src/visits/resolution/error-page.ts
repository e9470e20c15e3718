import type {IncomingMessage} from 'node:http';
import {ORG_KEY, reservedSegments} from '../../accounts/organizations/org-key.ts';
import type {VerifiedDomain} from '../../links/domains/domain-store.ts';
import type {Db} from '../../platform/db/db.ts';
import type {ChangeFeed} from '../../platform/db/feed/change-feed.ts';
import {createSmallCache} from '../../platform/db/feed/shared-reads.ts';
import type {HttpError} from '../../platform/errors.ts';
import {prefersPage} from '../../platform/http/headers.ts';
import type {HostRole} from '../../platform/http/request-host.ts';
import type {LinkPolicy} from '../../platform/policy/link-policy.ts';
import {noticePage} from '../page/notice-page.ts';
import type {LinkAnswer} from '../visit/visit.ts';

/** A refused request. `before` runs before a query, and may refuse. */
type RefusedRequest = {
	request: IncomingMessage;
	path: string;
	role: HostRole;
	domain: VerifiedDomain | null;
	before: () => Promise<void>;
};

/** The orgKey of the organization whose path or domain was requested; null if there is none. */
const orgKeyOf = ({path, role, domain}: RefusedRequest): string | null => {
	if (role !== 'link' && role !== 'both') {
		return domain?.orgKey ?? null;
	}

	const [, first = ''] = path.split('/', 2);
	return ORG_KEY.test(first) && !reservedSegments.has(first) ? first : null;
};

/**
 * The page of a refusal of 404 or 410, with the same status, where the organization wants that and the caller prefers it
 * (contract/resolution 25). Null if the refusal is answered as JSON.
 */
export const errorPageOf = async (
	{errorPages, linkPolicy}: {errorPages: ReturnType<typeof createErrorPages>; linkPolicy: Pick<LinkPolicy, 'of'>},
	refused: RefusedRequest,
	{status, code}: HttpError,
): Promise<LinkAnswer | null> => {
	const {method = '', headers} = refused.request;
	const isAbsent = status === 404 || status === 410;
	const orgKey = isAbsent && (method === 'GET' || method === 'HEAD') && prefersPage(headers) ? orgKeyOf(refused) : null;
	// Beyond the limit, or without the database, the refusal stands as JSON.
	const found = orgKey === null ? null : await errorPages.of(orgKey, refused.before).catch(() => null);
	if (found === null) {
		return null;
	}

	// The organization's own site may be the listed one.
	const isListed = found.fallbackUrl !== null && linkPolicy.of(found.fallbackUrl) !== null;
	const page = noticePage({
		notice: code === 'link_blocked' ? 'blocked' : status === 410 ? 'gone' : 'notFound',
		organizationName: found.organizationName,
		acceptLanguage: headers['accept-language'],
		href: isListed ? null : found.fallbackUrl,
		vary: 'Accept, Accept-Language',
	});
	return {status, headers: [...page.headers, 'X-Error-Code', code], body: page.body};
};

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
