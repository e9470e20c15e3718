import type {PlanDeps} from '../../accounts/plans/entitlements.ts';
import type {VerifiedDomain} from '../../links/domains/domain-store.ts';
import {type Address, addressOn, type ResolutionPath} from '../../links/domains/locate.ts';
import {isShortCode} from '../../links/links/short-code.ts';
import {HttpError, linkBlocked, linkGone, linkNotFound} from '../../platform/errors.ts';
import type {HostRole} from '../../platform/http/request-host.ts';
import type {Query} from '../../platform/query.ts';
import {decodedText} from '../../platform/query.ts';
import type {Services} from '../../services.ts';
import {readLink} from '../visit/link-rows.ts';
import {goneReason, type ResolvedRow, safetyStateOf} from '../visit/resolved-row.ts';
import type {Visit, VisitAnswer} from '../visit/visit.ts';
import {isPrefetch} from '../visit/visitor.ts';
import {answerUnknownCode, type UnknownCodeDeps} from './answer-unknown-code.ts';
import {answerVisit, noteData, type PageDeps} from './answer-visit.ts';

/** The routes of links (contract/hosts 4), as metrics and the API document name them. */
export const linkRoutes = {
	root: '/',
	bare: '/:shortCode',
	page: '/:orgKey/:shortCode',
	data: '/:orgKey/:shortCode/data',
	signals: '/:orgKey/:shortCode/signals',
} as const;

/** A path on a link host, and its route. */
export type LinkPath = ResolutionPath & {route: (typeof linkRoutes)[keyof typeof linkRoutes]};

const SEGMENTS = /^\/(?:([^/]+)(?:\/([^/]+)(?:\/(data|signals))?)?)?\/?$/;

/** A segment of a path; one whose escapes encode nothing stays as sent, and is no code. */
const segmentOf = (text: string): string => (text.includes('%') ? (decodedText(text) ?? text) : text);

/** Reads a path as sent, without the query; null for one that names nothing. A slash at its end changes nothing. */
export const readLinkPath = (path: string): LinkPath | null => {
	const [isRead, first, second, end] = SEGMENTS.exec(path) ?? [];
	if (isRead === undefined) {
		return null;
	}

	if (first === undefined) {
		return {route: linkRoutes.root, shortCode: '', data: false};
	}

	return second === undefined
		? {route: linkRoutes.bare, shortCode: segmentOf(first), data: false}
		: {
				route: end === undefined ? linkRoutes.page : end === 'data' ? linkRoutes.data : linkRoutes.signals,
				orgKey: segmentOf(first),
				shortCode: segmentOf(second),
				data: end === 'data',
			};
};

/** Whether a method is one of a path; OPTIONS asks whether other origins may read it (contract/hosts 6). */
export const hasMethod = ({route}: LinkPath, method: string | undefined): boolean =>
	route === linkRoutes.signals ? method === 'POST' : method === 'GET' || method === 'HEAD';

type LinkDeps = PlanDeps & Pick<Services, 'db' | 'linkCache' | 'linkPolicy'>;
export type VisitDeps = UnknownCodeDeps & PageDeps & LinkDeps & {aliasVisits: Pick<Services['aliasVisits'], 'count'>};

/** The host of a request for a link, as `addressOn` takes it, and its path. */
type Place = {role: HostRole; domain: VerifiedDomain | null; path: ResolutionPath};

/** The row of the link at an address; null if there is none. */
const rowAt = async (services: LinkDeps, address: Address): Promise<ResolvedRow | null> => {
	const known = services.linkCache.peek(address);
	return known === undefined ? readLink(services, address) : known;
};

/** Whether the link at an address is blocked. */
export const isBlockedAt = async (services: LinkDeps, address: Address): Promise<boolean> => {
	const row = isShortCode(address.shortCode) ? await rowAt(services, address) : null;
	return row !== null && safetyStateOf(services.linkPolicy, row) === 'block';
};

/**
 * The row of the live link that a host and a path name.
 * @throws 400 for a malformed orgKey; 404 for an unknown host, organization or code; 410 for a link that is deactivated
 * or expired, or whose organization is suspended.
 */
const resolveLink = async (services: VisitDeps, place: Place): Promise<{row: ResolvedRow; isData: boolean}> => {
	const {address, data} = addressOn(place, place.path);
	// No link has a malformed code, and PostgreSQL would reject some of them.
	if (!isShortCode(address.shortCode)) {
		throw linkNotFound();
	}

	const row = await rowAt(services, address);
	if (row === null) {
		throw linkNotFound();
	}

	const reason = goneReason(row, services.clock.now(), services.linkPolicy);
	if (reason !== null) {
		throw reason === 'blocked' ? linkBlocked() : linkGone(reason);
	}

	return {row, isData: data};
};

/** Notes the data of a link that does not exist, for the organization of the host or of the orgKey. */
const noteMissingData = (
	services: Pick<Services, 'appRequests'>,
	visit: Visit,
	{domain, path}: Place,
	{query, error}: {query: Query | null; error: unknown},
): void => {
	const {orgKey, shortCode, data} = path;
	const own = domain?.orgKey ?? orgKey;
	// On a custom domain `/spring/data` is the data of `spring`.
	const isBare = domain !== null && !data && shortCode === 'data' && orgKey !== domain.orgKey;
	if ((data || isBare) && !visit.isHead && own !== undefined && error instanceof HttpError && error.status === 404) {
		const code = isBare ? orgKey : shortCode;
		noteData(services, visit, {organization: {orgKey: own}, query, isFound: false, text: `${error.summary}: ${code}`});
	}
};

const refusals: Record<number, 'malformed' | 'not_found' | 'gone'> = {400: 'malformed', 404: 'not_found', 410: 'gone'};

/**
 * Answers a link: the page for people, the static one for crawlers, or its data.
 * @param query null if there is none. @throws 400, 404, 410.
 */
export const visitLink = async (
	services: VisitDeps,
	visit: Visit,
	place: Place,
	query: Query | null,
): Promise<VisitAnswer> => {
	const {addresses, aliasVisits, clock, metrics} = services;
	try {
		const answer = await resolveLink(services, place).then(
			({row, isData}) => answerVisit(services, visit, {row, isData, query}),
			(error: unknown) => answerUnknownCode(services, visit, place, error),
		);
		metrics.resolution(answer.outcome);
		const {hostname} = visit;
		if (hostname !== null && addresses.aliases.includes(hostname)) {
			if (answer.outcome !== 'preview' && !visit.isHead && !isPrefetch(visit.headers)) {
				aliasVisits.count(hostname, clock.now());
			}
		}

		return answer;
	} catch (error) {
		noteMissingData(services, visit, place, {query, error});
		metrics.resolution((error instanceof HttpError && refusals[error.status]) || 'failed');
		throw error;
	}
};
