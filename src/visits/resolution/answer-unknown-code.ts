import type {VerifiedDomain} from '../../links/domains/domain-store.ts';
import {findServedDomain, type HostDeps, type ResolutionPath} from '../../links/domains/locate.ts';
import {unknownCodesHost, unknownCodeTarget} from '../../links/domains/unknown-code.ts';
import {HttpError, linkNotFound} from '../../platform/errors.ts';
import {isStorable} from '../../platform/http/storable.ts';
import type {Services} from '../../services.ts';
import {noticePage, warningBefore} from '../page/notice-page.ts';
import type {Visit, VisitAnswer} from '../visit/visit.ts';
import {isCrawler, isPrefetch, visitorOf} from '../visit/visitor.ts';

const MAX_CODE = 255;

/** The files that browsers and robots request from every host, and `.` and `..`, which would change the target's path. */
const NOT_A_CODE =
	/^(?:\.{1,2}|favicon\.ico|robots\.txt|(?:app-)?ads\.txt|sitemap[^/]*\.xml|apple-touch-icon[^/]*\.png)$/;

/** The unknown code in a path that names no link, and whether its data is requested. */
const codeOf = (
	{orgKey, shortCode, data}: ResolutionPath,
	own: string,
): {segments: string[]; isData: boolean} | null => {
	const isBareData = !data && shortCode === 'data' && orgKey !== undefined && orgKey !== own;
	const segments = [...(orgKey === undefined || orgKey === own ? [] : [orgKey]), ...(isBareData ? [] : [shortCode])];
	const code = segments.join('/');
	return code.length > MAX_CODE || !isStorable(code) || segments.some((segment) => NOT_A_CODE.test(segment))
		? null
		: {segments, isData: data || isBareData};
};

export type UnknownCodeDeps = HostDeps & Pick<Services, 'linkPolicy' | 'unknownCodes'>;

/**
 * Answers a path that names no link on a domain whose unknown codes lead elsewhere (contract/hosts 9), and counts the
 * visit. Apps get a 404 for the data, and pass the link to the other service's SDK.
 * @throws the refusal on other hosts, and for a path without a code.
 */
export const answerUnknownCode = async (
	services: UnknownCodeDeps,
	visit: Visit,
	place: {domain: VerifiedDomain | null; path: ResolutionPath},
	refusal: unknown,
): Promise<VisitAnswer> => {
	const {hostRoles, linkPolicy, unknownCodes, clock} = services;
	const {headers} = visit;
	const isUnknown = refusal instanceof HttpError && (refusal.status === 404 || refusal.status === 400);
	const domain = isUnknown ? place.domain : null;
	const code =
		domain?.unknownCodesUrl == null || domain.organizationStatus !== 'ACTIVE'
			? null
			: codeOf(place.path, domain.orgKey);
	if (domain?.unknownCodesUrl == null || code === null) {
		throw refusal;
	}

	const {id, organizationId, organizationName} = domain;
	const {segments, isData} = code;
	if (!visit.isHead && !isPrefetch(headers) && !isCrawler(visitorOf(visit))) {
		unknownCodes.count({domainId: id, organizationId, code: segments.join('/'), at: clock.now()});
	}

	if (isData) {
		throw linkNotFound();
	}

	const href = unknownCodeTarget(domain.unknownCodesUrl, segments);
	// The target may have become a link domain here since it was set: visitors would go in a circle.
	const target = unknownCodesHost(href);
	if (hostRoles.roleOf(target) !== 'other' || (await findServedDomain(services, target)) !== null) {
		throw refusal;
	}

	const acceptLanguage = headers['accept-language'];
	const verdict = linkPolicy.of(href);
	if (verdict?.state === 'block') {
		throw refusal;
	}

	if (verdict !== null) {
		return {outcome: 'warned', ...warningBefore(href, domain, headers)};
	}

	return {
		outcome: 'unknown_code',
		...noticePage({notice: 'leadsTo', organizationName, acceptLanguage, href, redirects: true}),
	};
};
