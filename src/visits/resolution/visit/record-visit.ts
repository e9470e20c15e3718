import type {RequestFacts} from '../../../accounts/route.ts';
import type {Services} from '../../../services.ts';
import type {ClickContext} from '../../clicks/click-context.ts';
import type {OpenMatch} from '../../clicks/open-match.ts';
import type {ResolvedRow} from './resolved-row.ts';
import {isCrawler, type Visitor} from './visitor.ts';

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

/** The contexts of a visitor's clicks, by country. Requests with equal headers share a visitor. */
const contexts = new WeakMap<Visitor, Map<string | null, ClickContext>>();

const contextOf = (visitor: Visitor, country: string | null): ClickContext => {
	const own = contexts.get(visitor) ?? new Map<string | null, ClickContext>();
	const known = own.get(country);
	if (known !== undefined) {
		return known;
	}

	const {class: name, osVersion, ...words} = visitor;
	const context = {...words, osVersion: versionText(osVersion), country, botClass: isCrawler(visitor) ? name : null};
	contexts.set(visitor, own.set(country, context));
	return context;
};

/** A visit of a link, and the match that it opens. */
type Visited = {
	row: Pick<ResolvedRow, 'id' | 'channel' | 'organization_id'>;
	visitor: Visitor;
	match: OpenMatch | null;
	at: Date;
};

/** Records a visit. @returns whether it was stored. */
export const recordVisit = async (
	services: Pick<Services, 'clickJournal' | 'clientIp' | 'metrics'>,
	request: VisitRequest,
	{row, visitor, match, at}: Visited,
): Promise<boolean> => {
	const context = contextOf(visitor, countryOf(services, request));
	const click = {
		organizationId: row.organization_id,
		linkId: row.id,
		channel: row.channel,
		context,
		referrerHost: referrerHost(request.headers.referer),
		match,
	};
	const isKept = await new Promise<boolean>((resolve) => services.clickJournal.record(click, at, resolve));
	if (isKept) {
		services.metrics.click(context.botClass === null ? 'person' : 'crawler');
	}

	return isKept;
};
