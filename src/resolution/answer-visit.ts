import {randomBytes} from 'node:crypto';
import type {Query} from '../http/query.ts';
import type {RequestFacts} from '../http/route.ts';
import {isStorable} from '../http/storable.ts';
import type {Services} from '../services.ts';
import {crawlerPageHeaders, renderCrawlerPage} from './crawler-page.ts';
import {type LinkRow, toResolvedLink} from './link-row.ts';
import {linkViewOf} from './link-view.ts';
import {pageLanguage} from './page-strings.ts';
import {bytesAsText} from './page-templates.ts';
import {openMatchOf, recordVisit} from './record-visit.ts';
import {redirectPageHeaders} from './redirect-page.ts';
import {isCrawler, isPrefetch, showsQrCode} from './visitor.ts';
import {setVisitorCookie, visitorCookie} from './visitor-cookie.ts';
import {visitorOf} from './visitor-of-request.ts';

/** A request for a live link, as `hot-path.ts` and the routes pass it on. */
export type Visit = Pick<RequestFacts, 'ip' | 'headers' | 'stream' | 'isHead'>;

/** The answer of a visit without the headers common to all answers. */
export type VisitAnswer = {
	outcome: 'page' | 'preview' | 'data';
	/** Names and values alternate. */
	headers: readonly string[];
	/** UTF-8 bytes, one character per byte, to be written as `latin1`. */
	body: string;
};

const answerCrawler = async (services: Services, visit: Visit, row: LinkRow): Promise<VisitAnswer> => {
	if (!visit.isHead) {
		await recordVisit(services, visit, row, visitorOf(visit), null);
	}

	const view = linkViewOf(services, toResolvedLink(services, row), null);
	return {outcome: 'preview', headers: crawlerPageHeaders, body: bytesAsText(renderCrawlerPage(view))};
};

/** Records the visit of a link's page and answers it: the page for people, the static one for crawlers. */
export const answerPage = async (services: Services, visit: Visit, row: LinkRow): Promise<VisitAnswer> => {
	const {headers} = visit;
	const visitor = visitorOf(visit);
	if (isCrawler(visitor)) {
		return answerCrawler(services, visit, row);
	}

	// A prefetched page is not seen yet: it records no click and gets no token (contract/resolution 4).
	const counts = !visit.isHead && !isPrefetch(headers);
	const globalPrivacyControl = headers['sec-gpc'] === '1';
	const acceptLanguage = headers['accept-language'];
	const language = pageLanguage(acceptLanguage);
	const templateOf = (hasToken: boolean) =>
		services.pageTemplates.of(row, {
			class: visitor.class,
			acceptLanguage,
			language,
			globalPrivacyControl,
			hasToken,
			hasQrCode: showsQrCode(visitor),
		});
	const isDeferred = counts && row.deferred_deep_linking;
	const template = await templateOf(isDeferred);
	const cookie = globalPrivacyControl ? null : visitorCookie(headers.cookie);
	const opened = isDeferred ? await openMatchOf(services, visit, row, visitor, cookie) : null;
	// A visitor may rely on a page's token, so a page whose click could not be stored has none.
	const match = counts && (await recordVisit(services, visit, row, visitor, opened)) ? opened : null;
	const shown = isDeferred && match === null ? await templateOf(false) : template;
	const nonce = randomBytes(16).toString('base64');
	const pageHeaders = redirectPageHeaders(nonce, language);
	if (match !== null && cookie !== null) {
		pageHeaders.push('Set-Cookie', setVisitorCookie(services, cookie, match));
	}

	return {outcome: 'page', headers: pageHeaders, body: shown.fill({nonce, token: match?.token ?? null})};
};

/** Most parameters in a link's `params`, and most bytes of them as JSON (contract/links 1). */
const MAX_PARAMS = 50;
const MAX_PARAMS_BYTES = 8192;

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * The link's parameters, with the query's added as defaults up to the limits of `params` (contract/resolution 2). A
 * query parameter that a link could not have is left out.
 */
const withQuery = (params: Record<string, string>, query: Query): Record<string, string> => {
	const merged = {...params};
	let count = Object.keys(merged).length;
	let bytes = jsonBytes(merged);
	for (const [name, given] of Object.entries(query)) {
		const [value = ''] = [given].flat();
		if (count >= MAX_PARAMS) {
			break;
		}

		if (name === 'deviceId' || Object.hasOwn(params, name) || !isStorable(name) || !isStorable(value)) {
			continue;
		}

		// With a colon, and with the preceding comma.
		const wider = bytes + jsonBytes(name) + jsonBytes(value) + (count === 0 ? 1 : 2);
		if (wider <= MAX_PARAMS_BYTES) {
			merged[name] = value;
			count += 1;
			bytes = wider;
		}
	}

	return merged;
};

const dataBody = (row: LinkRow, query: Query): string =>
	bytesAsText(
		JSON.stringify({
			linkId: row.id,
			path: row.path ?? '/',
			params: withQuery({...row.template_params, ...row.params}, query),
		}),
	);

/** Bodies without a query, which are equal for all visits of a link. */
const knownBodies = new WeakMap<LinkRow, string>();

const plainDataBody = (row: LinkRow): string => {
	const known = knownBodies.get(row) ?? dataBody(row, {});
	knownBodies.set(row, known);
	return known;
};

const DATA_HEADERS = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

/** Records the visit of a link's data and answers it. @param query null if there is none. */
export const answerData = async (
	services: Pick<Services, 'clickJournal' | 'clientIp' | 'metrics'>,
	visit: Visit,
	row: LinkRow,
	query: Query | null,
): Promise<VisitAnswer> => {
	if (!visit.isHead) {
		await recordVisit(services, visit, row, visitorOf(visit), null);
	}

	return {outcome: 'data', headers: DATA_HEADERS, body: query === null ? plainDataBody(row) : dataBody(row, query)};
};
