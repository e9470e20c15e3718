import {hash} from 'node:crypto';
import type {AppRequest} from '../../platform/app-requests/app-request.ts';
import {isConnectionFault} from '../../platform/connection-fault.ts';
import type {Query} from '../../platform/query.ts';
import type {Services} from '../../services.ts';
import {isDeviceId} from '../devices/device-id.ts';
import {networkKeyTextsOf} from '../matches/network-keys.ts';
import {mintMatchToken, mintTimedText, type OpenMatch, timeOfText} from '../matches/open-match.ts';
import {bareCrawlerPage, crawlerPageHeaders} from '../page/crawler-page.ts';
import {bytesAsText} from '../page/html.ts';
import {wayOutOf} from '../page/in-app-browsers.ts';
import {pageLanguage} from '../page/translations.ts';
import {type ResolvedRow, safetyStateOf} from '../visit/resolved-row.ts';
import {appDataOf, visitQueryOf} from '../visit/tap-query.ts';
import type {Visit, VisitAnswer} from '../visit/visit.ts';
import {isCrawler, isPrefetch, showsQrCode, visitorOf} from '../visit/visitor.ts';
import {attributionOfVisit, recordVisit} from './record-visit.ts';

/** Identifies visits of one person: only one of their clicks stays open (contract/match 6). */
type VisitorCookie = {
	value: string;
	/** The time of the cookie, by which the click that set it is found, and 10 bytes of its SHA-256, in hexadecimal. */
	hash: string;
	/** The browser sent it. */
	isReturning: boolean;
};

const NAME = 'oplink_visitor';
const SENT = new RegExp(`(?:^|; *)${NAME}=([A-Za-z0-9]{22})(?:;|$)`);

/** The visitor's cookie, or a new one with its time and 89 random bits. @param at when the click happens. */
const visitorCookie = (header: string | undefined, at: Date): VisitorCookie => {
	const sent = SENT.exec(header ?? '')?.[1];
	const value = sent ?? mintTimedText(at, 22);
	const digest = hash('sha256', value, 'hex').slice(0, 20);
	return {value, hash: timeOfText(value) + digest, isReturning: sent !== undefined};
};

/** The header that sets it, for as long as the click can be claimed. */
const setVisitorCookie = (
	{addresses}: Pick<Services, 'addresses'>,
	{value}: VisitorCookie,
	{windowHours}: {windowHours: number},
): string =>
	[
		`${NAME}=${value}`,
		'Path=/',
		`Max-Age=${windowHours * 3600}`,
		'HttpOnly',
		...(addresses.linkScheme === 'https' ? ['Secure'] : []),
		'SameSite=Lax',
	].join('; ');

type DataDeps = Pick<
	Services,
	'appRequests' | 'clickJournal' | 'clientIp' | 'clock' | 'countries' | 'db' | 'limiter' | 'log' | 'metrics'
>;
export type PageDeps = DataDeps & Pick<Services, 'addresses' | 'linkPolicy' | 'matchPeppers' | 'pages' | 'relayRanges'>;

/** Records a visit that opens no match, but not a HEAD. */
const recordPlain = async (services: DataDeps, visit: Visit, row: ResolvedRow, query: Query | null): Promise<void> => {
	if (!visit.isHead) {
		await recordVisit(services, visit, {row, query, visitor: visitorOf(visit), match: null, at: services.clock.now()});
	}
};

/** Registers the device that the query names. An invalid one is ignored: no query makes a visit a 400 (contract/resolution 2). */
const registerDevice = async (services: DataDeps, visit: Visit, row: ResolvedRow, query: Query | null) => {
	const deviceId = query?.['deviceId'];
	if (visit.isHead || query === null || !isDeviceId(deviceId)) {
		return;
	}

	// Loaded late: it loads joi, which pages do not need.
	const {registerVisitDevice} = await import('../devices/visit-device.ts');
	const opened = {linkId: row.id, attribution: attributionOfVisit(services, visit, row, query)};
	const visited = {organizationId: row.organization_id, deviceId, opened, ip: visit.ip};
	await registerVisitDevice(services, visited).catch((error: unknown) => {
		// Known links keep resolving without the database (contract/requests 11); a session registers the device later.
		if (!isConnectionFault(error)) {
			throw error;
		}
	});
};

/** Notes a request for data. @param status 404 for a link that does not exist. */
export const noteData = (
	{appRequests}: Pick<Services, 'appRequests'>,
	{headers}: Pick<Visit, 'headers'>,
	{
		organization,
		query,
		text,
		isFound = true,
	}: Pick<AppRequest, 'organization'> & {query: Query | null; text: string; isFound?: boolean},
): void => {
	const deviceId = query?.['deviceId'];
	appRequests.note({
		organization,
		counts: [[isFound ? 'data' : 'data_not_found']],
		deviceId: isDeviceId(deviceId) ? deviceId : null,
		userAgent: headers['user-agent'],
		live: {type: isFound ? 'data' : 'refusal', text},
	});
};

const DATA_HEADERS = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

const answerData = async (
	services: DataDeps,
	visit: Visit,
	row: ResolvedRow,
	query: Query | null,
): Promise<VisitAnswer> => {
	await registerDevice(services, visit, row, query);
	await recordPlain(services, visit, row, query);
	const body = {linkId: row.id, ...appDataOf(row, query ?? {})};
	if (!visit.isHead) {
		const text = `data of ${row.short_code}: ${body.path}`;
		noteData(services, visit, {organization: {id: row.organization_id}, query, text});
	}

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
	const isWarned = safetyStateOf(services.linkPolicy, row) === 'warn';
	if (isCrawler(visitor)) {
		if (isWarned) {
			return {outcome: 'warned', headers: crawlerPageHeaders, body: bareCrawlerPage};
		}

		await recordPlain(services, visit, row, query);
		return {outcome: 'preview', headers: crawlerPageHeaders, body: services.pages.forCrawlers(row)};
	}

	// A prefetched page is not seen yet: it records no click and gets no token (contract/resolution 4).
	const counts = !visit.isHead && !isPrefetch(headers);
	const globalPrivacyControl = headers['sec-gpc'] === '1';
	const tapQuery = visitQueryOf(row, query);
	const reader = {
		class: visitor.class,
		wayOut: wayOutOf(visitor),
		isIpad: row.destinations?.ipad !== undefined && visitor.os === 'iPadOS',
		isAndroidFirefox: visitor.class === 'android-browser' && visitor.browser === 'Firefox',
	};
	if (isWarned) {
		const page = services.pages.forWarned(row, {visitor: reader, query: tapQuery}, headers['accept-language']);
		return {outcome: 'warned', ...page};
	}

	const pageWith = (token: string | null): VisitAnswer => {
		const page = services.pages.of(row, {
			token,
			visitor: reader,
			language: pageLanguage(headers['accept-language']),
			globalPrivacyControl,
			hasQrCode: showsQrCode(visitor),
			query: tapQuery,
		});
		return {outcome: 'page', ...page};
	};
	const at = services.clock.now();
	if (!counts || !row.deferred_deep_linking) {
		if (counts) {
			await recordVisit(services, visit, {row, query, visitor, match: null, at});
		}

		return pageWith(null);
	}

	const [pepper] = await services.matchPeppers.at(at);
	const cookie = globalPrivacyControl ? null : visitorCookie(headers.cookie, at);
	// The row for the app's first open (contract/match 7).
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
		return pageWith(null);
	}

	const page = pageWith(match.token);
	return cookie === null
		? page
		: {...page, headers: [...page.headers, 'Set-Cookie', setVisitorCookie(services, cookie, match)]};
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
