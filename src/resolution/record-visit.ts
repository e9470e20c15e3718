import {networkKeyTextsOf} from '../clicks/network-keys.ts';
import {mintMatchToken, type OpenMatch} from '../clicks/open-match.ts';
import type {RequestFacts} from '../http/route.ts';
import type {Services} from '../services.ts';
import type {LinkRow} from './link-row.ts';
import {isCrawler, type Visitor} from './visitor.ts';
import type {VisitorCookie} from './visitor-cookie.ts';

const referrerHost = (referrer: string | undefined): string | null =>
	referrer !== undefined && URL.canParse(referrer) ? new URL(referrer).hostname.slice(0, 255) || null : null;

/** The data of a request that a visit is recorded from. */
type VisitRequest = Pick<RequestFacts, 'ip' | 'headers' | 'stream'>;

/** ISO 3166 country found by a trusted proxy; 'XX' and 'T1' are its codes for an unknown one. */
const countryOf = ({clientIp}: Pick<Services, 'clientIp'>, {stream, headers}: VisitRequest): string | null => {
	const header = headers['cf-ipcountry'] ?? headers['x-country'];
	if (header === undefined) {
		return null;
	}

	const country = String(header).toUpperCase();
	return /^[A-Z]{2}$/.test(country) && country !== 'XX' && clientIp.isTrustedPeer(stream) ? country : null;
};

const versionText = (version: Visitor['osVersion']): string | null =>
	version === null ? null : [version.major, version.minor, version.patch].filter((part) => part !== null).join('.');

/** Records the visit of a link. @returns whether it was stored. */
export const recordVisit = async (
	services: Pick<Services, 'clickJournal' | 'clientIp' | 'metrics'>,
	request: VisitRequest,
	row: Pick<LinkRow, 'id' | 'channel' | 'organization_id'>,
	visitor: Visitor,
	match: OpenMatch | null,
): Promise<boolean> => {
	const isKept = await services.clickJournal.record({
		organizationId: row.organization_id,
		linkId: row.id,
		channel: row.channel,
		platform: visitor.platform,
		os: visitor.os,
		osVersion: versionText(visitor.osVersion),
		browser: visitor.browser,
		deviceModel: visitor.deviceModel,
		language: visitor.language,
		timezone: visitor.timezone,
		referrerHost: referrerHost(request.headers.referer),
		country: countryOf(services, request),
		botClass: isCrawler(visitor) ? visitor.class : null,
		match,
	});
	if (isKept) {
		services.metrics.click(isCrawler(visitor) ? 'crawler' : 'person');
	}

	return isKept;
};

/** The data stored for the app's first open (contract/match 7). */
export const openMatchOf = async (
	{matchPeppers, clock}: Pick<Services, 'matchPeppers' | 'clock'>,
	{ip}: Pick<VisitRequest, 'ip'>,
	row: Pick<LinkRow, 'match_window_hours'>,
	visitor: Visitor,
	cookie: VisitorCookie | null,
): Promise<OpenMatch> => {
	const now = clock.now();
	const [pepper] = await matchPeppers.at(now);
	return {
		token: mintMatchToken(now),
		windowHours: row.match_window_hours,
		network: networkKeyTextsOf(pepper, ip),
		signals: visitor,
		visitor: cookie,
	};
};
