import type {RequestFacts} from '../../../accounts/route.ts';
import type {Query} from '../../../platform/http/query.ts';
import type {Services} from '../../../services.ts';
import {networkKeyTextsOf} from '../../clicks/network-keys.ts';
import {mintMatchToken, type OpenMatch} from '../../clicks/open-match.ts';
import {crawlerPageHeaders, renderCrawlerPage} from '../page/crawler-page.ts';
import {wayOutOf} from '../page/in-app-browsers.ts';
import {linkViewOf} from '../page/link-view.ts';
import {pageLanguage} from '../page/page-language.ts';
import {bytesAsText} from '../page/page-templates.ts';
import {redirectPageHeaders} from '../page/redirect-page.ts';
import {recordVisit} from './record-visit.ts';
import type {ResolvedRow} from './resolved-row.ts';
import {appDataOf, tapQueryOf} from './tap-query.ts';
import {isCrawler, isPrefetch, showsQrCode, visitorOf} from './visitor.ts';
import {setVisitorCookie, visitorCookie} from './visitor-cookie.ts';

type DataDeps = Pick<Services, 'clickJournal' | 'clientIp' | 'clock' | 'countries' | 'log' | 'metrics'>;
export type PageDeps = DataDeps & Pick<Services, 'addresses' | 'matchPeppers' | 'pageTemplates' | 'relayRanges'>;

/** A request for a live link, as `hot-path.ts` and the routes pass it on. */
type Visit = Pick<RequestFacts, 'ip' | 'headers' | 'stream' | 'isHead'>;

/** The answer of a visit without the headers common to all answers. */
export type VisitAnswer = {
	outcome: 'page' | 'preview' | 'data' | 'unknown_code';
	/** Names and values alternate. */
	headers: readonly string[];
	/** UTF-8 bytes, one character per byte, to be written as `latin1`. */
	body: string;
};

/** Records a visit that opens no match, but not a HEAD. */
const recordPlain = async (services: DataDeps, visit: Visit, row: ResolvedRow, query: Query | null): Promise<void> => {
	if (!visit.isHead) {
		await recordVisit(services, visit, {row, query, visitor: visitorOf(visit), match: null, at: services.clock.now()});
	}
};

const answerCrawler = async (
	services: PageDeps,
	visit: Visit,
	row: ResolvedRow,
	query: Query | null,
): Promise<VisitAnswer> => {
	await recordPlain(services, visit, row, query);
	const view = linkViewOf(services, row, null);
	return {outcome: 'preview', headers: crawlerPageHeaders, body: bytesAsText(renderCrawlerPage(view))};
};

const DATA_HEADERS = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

const answerData = async (
	services: DataDeps,
	visit: Visit,
	row: ResolvedRow,
	query: Query | null,
): Promise<VisitAnswer> => {
	await recordPlain(services, visit, row, query);
	const body = {linkId: row.id, ...appDataOf(row, query ?? {})};
	return {outcome: 'data', headers: DATA_HEADERS, body: bytesAsText(JSON.stringify(body))};
};

/** The page for people, or the static one for crawlers. */
const answerPage = async (
	services: PageDeps,
	visit: Visit,
	row: ResolvedRow,
	query: Query | null,
): Promise<VisitAnswer> => {
	const {headers} = visit;
	const visitor = visitorOf(visit);
	if (isCrawler(visitor)) {
		return answerCrawler(services, visit, row, query);
	}

	// A prefetched page is not seen yet: it records no click and gets no token (contract/resolution 4).
	const counts = !visit.isHead && !isPrefetch(headers);
	const isDeferred = counts && row.deferred_deep_linking;
	const globalPrivacyControl = headers['sec-gpc'] === '1';
	const language = pageLanguage(headers['accept-language']);
	const tapQuery = tapQueryOf(row, query);
	const templateOf = (hasToken: boolean) =>
		services.pageTemplates.of(row, {
			class: visitor.class,
			language,
			globalPrivacyControl,
			hasToken,
			hasQrCode: showsQrCode(visitor),
			wayOut: wayOutOf(visitor),
			isIpad: row.destinations?.ipad !== undefined && visitor.os === 'iPadOS',
			isAndroidFirefox: visitor.class === 'android-browser' && visitor.browser === 'Firefox',
			query: tapQuery,
		});
	const template = await templateOf(isDeferred);
	const at = services.clock.now();
	const pageHeaders = redirectPageHeaders(language);
	if (!isDeferred) {
		if (counts) {
			await recordVisit(services, visit, {row, query, visitor, match: null, at});
		}

		return {outcome: 'page', headers: pageHeaders, body: template(null)};
	}

	const [pepper] = await services.matchPeppers.at(at);
	const cookie = globalPrivacyControl ? null : visitorCookie(headers.cookie, at);
	// What is stored for the app's first open (contract/match 7).
	const match: OpenMatch = {
		token: mintMatchToken(at),
		windowHours: row.match_window_hours,
		network: networkKeyTextsOf(pepper, visit.ip, services.relayRanges.has(visit.ip)),
		signals: visitor,
		visitor: cookie,
		query: tapQuery,
	};
	// Only a stored click can be matched. If the click is lost, the page carries no token.
	if (!(await recordVisit(services, visit, {row, query, visitor, match, at}))) {
		return {outcome: 'page', headers: pageHeaders, body: (await templateOf(false))(null)};
	}

	if (cookie !== null) {
		pageHeaders.push('Set-Cookie', setVisitorCookie(services, cookie, match));
	}

	return {outcome: 'page', headers: pageHeaders, body: template(match.token)};
};

/**
 * Records the visit of a live link, unless it is a HEAD or a prefetch, and answers it, stored or not.
 * @param query null if there is none.
 */
export const answerVisit = (
	services: PageDeps,
	visit: Visit,
	{row, isData, query}: {row: ResolvedRow; isData: boolean; query: Query | null},
): Promise<VisitAnswer> => (isData ? answerData(services, visit, row, query) : answerPage(services, visit, row, query));
