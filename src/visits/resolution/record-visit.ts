import {linkFields} from '../../links/links/link-fields.ts';
import {isStorable} from '../../platform/http/storable.ts';
import {memoize} from '../../platform/memoize.ts';
import {firstValue, type Query} from '../../platform/query.ts';
import {cutText} from '../../platform/text.ts';
import type {Services} from '../../services.ts';
import {type Attribution, attributionOf} from '../devices/attribution.ts';
import type {OpenMatch} from '../matches/open-match.ts';
import {type ClickCampaign, type ClickContext, campaigns} from '../visit/click-context.ts';
import type {ResolvedRow} from '../visit/resolved-row.ts';
import type {Visit} from '../visit/visit.ts';
import {isCrawler, type Visitor} from '../visit/visitor.ts';

const referrerHost = (referrer: string | undefined): string | null =>
	referrer !== undefined && URL.canParse(referrer) ? new URL(referrer).hostname.slice(0, 255) || null : null;

/** The data of a request that a visit is recorded from. */
type VisitRequest = Pick<Visit, 'ip' | 'hostname' | 'headers' | 'stream'>;

/**
 * ISO 3166 country found by a trusted proxy, else by the address (contract/reports 4). 'XX' and 'T1' are a proxy's codes
 * for an unknown one.
 */
const countryOf = (
	{clientIp, countries}: Pick<Services, 'clientIp' | 'countries'>,
	{ip, stream, headers}: VisitRequest,
): string | null => {
	const header = headers['cf-ipcountry'] ?? headers['x-country'];
	if (header === undefined) {
		return countries.of(ip);
	}

	const country = String(header).toUpperCase();
	return /^[A-Z]{2}$/.test(country) && country !== 'XX' && clientIp.isTrustedPeer(stream) ? country : countries.of(ip);
};

const versionText = (version: Visitor['osVersion']): string | null =>
	version === null ? null : [version.major, version.minor, version.patch].filter((part) => part !== null).join('.');

/** The contexts of a visitor's clicks, by country and host. Requests with equal headers share a visitor. */
const contexts = new WeakMap<Visitor, Map<string, ClickContext>>();

const contextOf = (visitor: Visitor, country: string | null, host: string | null): ClickContext => {
	const own = contexts.get(visitor) ?? new Map<string, ClickContext>();
	const place = `${country} ${host}`;
	const known = own.get(place);
	if (known !== undefined) {
		return known;
	}

	const {class: name, osVersion, ...words} = visitor;
	const botClass = isCrawler(visitor) ? name : null;
	const context = {...words, osVersion: versionText(osVersion), country, host, botClass};
	contexts.set(visitor, own.set(place, context));
	return context;
};

type CampaignColumn = (typeof campaigns.columnsByName)[keyof typeof campaigns.columnsByName];
type CampaignRow = Pick<ResolvedRow, CampaignColumn>;

const UTM_LIMIT = linkFields.utmSource.max;

/** The campaigns of clicks without UTM values of their own. */
const ownCampaigns = new WeakMap<CampaignRow, {campaign: ClickCampaign}>();

/** Campaigns of UTM values in queries that are kept: about a kilobyte each. */
const MAX_CAMPAIGNS = 2000;

const words = Object.entries(campaigns.columnsByName);
const columns = words.map(([, column]) => column);

/**
 * The campaign of values in the order of `columns`, between null characters, which no stored text has. The same values
 * are one object, whose row and id are made once (`click-context.ts`).
 */
const campaignOfKey = memoize((key): ClickCampaign => {
	const values = key.split('\0');
	return values.every((value) => value === '')
		? null
		: (Object.fromEntries(words.map(([name], index) => [name, values[index] || null])) as ClickCampaign);
}, MAX_CAMPAIGNS);

/** @param read an empty text or null for none. */
const campaignOf = (read: (column: CampaignColumn) => string | null): ClickCampaign =>
	campaignOfKey(columns.map(read).join('\0'));

const ownCampaignOf = (row: CampaignRow): ClickCampaign => {
	let known = ownCampaigns.get(row);
	if (known === undefined) {
		known = {campaign: campaignOf((column) => row[column])};
		ownCampaigns.set(row, known);
	}

	return known.campaign;
};

/** The link's channel, and the UTM values: those of the visit, else those of the link (contract/reports 3). */
const campaignOfVisit = (row: CampaignRow, query: Query | null): ClickCampaign => {
	if (query === null || !Object.keys(query).some((name) => name.startsWith('utm_'))) {
		return ownCampaignOf(row);
	}

	return campaignOf((column) => {
		const value = column === 'channel' ? '' : firstValue(query[column]);
		return (isStorable(value) && cutText(value, UTM_LIMIT)) || row[column];
	});
};

/** The values by which funnels count the visit's click. */
export const attributionOfVisit = (
	services: Pick<Services, 'clientIp' | 'countries'>,
	request: VisitRequest,
	row: CampaignRow,
	query: Query,
): Attribution => attributionOf(campaignOfVisit(row, query), countryOf(services, request));

/** A visit of a link, and the match that it opens. */
type Visited = {
	row: Pick<ResolvedRow, 'id' | 'organization_id'> & CampaignRow;
	query: Query | null;
	visitor: Visitor;
	match: OpenMatch | null;
	at: Date;
};

/**
 * Records a visit. Whatever keeps it from being recorded, it is answered.
 * @returns whether it was stored.
 */
export const recordVisit = async (
	services: Pick<Services, 'clickJournal' | 'clientIp' | 'countries' | 'log' | 'metrics'>,
	request: VisitRequest,
	{row, query, visitor, match, at}: Visited,
): Promise<boolean> => {
	try {
		const context = contextOf(visitor, countryOf(services, request), request.hostname);
		const click = {
			organizationId: row.organization_id,
			linkId: row.id,
			context,
			campaign: campaignOfVisit(row, query),
			referrerHost: referrerHost(request.headers.referer),
			match,
		};
		const isKept = await new Promise<boolean>((resolve) => services.clickJournal.record(click, at, resolve));
		if (isKept) {
			services.metrics.click(context.botClass === null ? 'person' : 'crawler');
		}

		return isKept;
	} catch (error) {
		services.log.error({err: error}, 'a visit could not be recorded');
		return false;
	}
};
