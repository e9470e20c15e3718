import {networkKeyTextsOf} from '../clicks/network-keys.ts';
import {mintMatchToken, type OpenMatch} from '../clicks/open-match.ts';
import type {Query} from '../http/query.ts';
import type {RequestFacts} from '../http/route.ts';
import type {Services} from '../services.ts';
import {crawlerPageHeaders, renderCrawlerPage} from './crawler-page.ts';
import {wayOutOf} from './in-app-browsers.ts';
import {linkViewOf} from './link-view.ts';
import {pageLanguage} from './page-language.ts';
import {bytesAsText, type PageTemplate} from './page-templates.ts';
import {recordVisit} from './record-visit.ts';
import {redirectPageHeaders} from './redirect-page.ts';
import type {ResolvedRow} from './resolved-row.ts';
import {appDataOf, tapQueryOf} from './tap-query.ts';
import {isCrawler, isPrefetch, showsQrCode, visitorOf} from './visitor.ts';
import {setVisitorCookie, type VisitorCookie, visitorCookie} from './visitor-cookie.ts';

export type DataDeps = Pick<Services, 'clickJournal' | 'clientIp' | 'clock' | 'metrics'>;
export type PageDeps = DataDeps & Pick<Services, 'addresses' | 'matchPeppers' | 'pageTemplates' | 'relayRanges'>;

/** A request for a live link, as `hot-path.ts` and the routes pass it on. */
export type Visit = Pick<RequestFacts, 'ip' | 'headers' | 'stream' | 'isHead'>;

/** The answer of a visit without the headers common to all answers. */
export type VisitAnswer = {
	outcome: 'page' | 'preview' | 'data' | 'unknown_code';
	/** Names and values alternate. */
	headers: readonly string[];
	/** UTF-8 bytes, one character per byte, to be written as `latin1`. */
	body: string;
};

/** Receives the answer of a visit: at once if nothing is recorded, else at the end of this turn or later. */
export type Responder = {answer(answer: VisitAnswer): void; fail(error: unknown): void};

/** Passes a value to `next`: synchronously unless it is a promise, which is rare. */
const whenReady = <T>(value: T | Promise<T>, {fail}: Responder, next: (value: T) => void): void => {
	if (value instanceof Promise) {
		value.then(next).catch(fail);
	} else {
		next(value);
	}
};

/** Records a visit that opens no match, but not a HEAD, and answers it, stored or not. */
const recordAndAnswer = (
	services: DataDeps,
	visit: Visit,
	row: ResolvedRow,
	to: Responder,
	answer: () => VisitAnswer,
): void => {
	if (visit.isHead) {
		to.answer(answer());
	} else {
		const visited = {row, visitor: visitorOf(visit), match: null, at: services.clock.now()};
		recordVisit(services, visit, visited, to.fail, () => to.answer(answer()));
	}
};

/**
 * Answers the visit of a link's page: the page for people, the static one for crawlers. It is recorded first, unless it is a
 * HEAD or a prefetch.
 * @param query null if there is none.
 */
export const answerPage = (
	services: PageDeps,
	visit: Visit,
	row: ResolvedRow,
	query: Query | null,
	to: Responder,
): void => {
	const {headers} = visit;
	const visitor = visitorOf(visit);
	if (isCrawler(visitor)) {
		recordAndAnswer(services, visit, row, to, () => {
			const view = linkViewOf(services, row, null);
			return {outcome: 'preview', headers: crawlerPageHeaders, body: bytesAsText(renderCrawlerPage(view))};
		});
		return;
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
			query: tapQuery,
		});
	const show = (template: PageTemplate, match: OpenMatch | null, cookie: VisitorCookie | null): void => {
		const pageHeaders = redirectPageHeaders(language);
		if (match !== null && cookie !== null) {
			pageHeaders.push('Set-Cookie', setVisitorCookie(services, cookie, match));
		}

		to.answer({outcome: 'page', headers: pageHeaders, body: template(match?.token ?? null)});
	};
	const record = (template: PageTemplate, at: Date, pepper: Buffer | null): void => {
		const cookie = pepper === null || globalPrivacyControl ? null : visitorCookie(headers.cookie, at);
		// What is stored for the app's first open (contract/match 7).
		const match = pepper && {
			token: mintMatchToken(at),
			windowHours: row.match_window_hours,
			network: networkKeyTextsOf(pepper, visit.ip, services.relayRanges.has(visit.ip)),
			signals: visitor,
			visitor: cookie,
			query: tapQuery,
		};
		recordVisit(services, visit, {row, visitor, match, at}, to.fail, (isKept) => {
			if (isKept || match === null) {
				show(template, match, cookie);
			} else {
				// Only a stored click can be matched. If the click is lost, the page carries no token.
				whenReady(templateOf(false), to, (plain) => show(plain, null, null));
			}
		});
	};
	whenReady(templateOf(isDeferred), to, (template) => {
		const now = services.clock.now();
		if (isDeferred) {
			whenReady(services.matchPeppers.at(now), to, ([pepper]) => record(template, now, pepper));
		} else if (counts) {
			record(template, now, null);
		} else {
			show(template, null, null);
		}
	});
};

const DATA_HEADERS = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

/** Records the visit of a link's data and answers it. @param query null if there is none. */
export const answerData = (
	services: DataDeps,
	visit: Visit,
	row: ResolvedRow,
	query: Query | null,
	to: Responder,
): void =>
	recordAndAnswer(services, visit, row, to, () => {
		const body = {linkId: row.id, ...appDataOf(row, query ?? {})};
		return {outcome: 'data', headers: DATA_HEADERS, body: bytesAsText(JSON.stringify(body))};
	});
