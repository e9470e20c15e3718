import {randomBytes} from 'node:crypto';
import Joi from 'joi';
import {mintMatchToken, type OpenMatch} from '../clicks/open-match.ts';
import {deviceIdField} from '../devices/device-fields.ts';
import {registerDevice} from '../devices/device-store.ts';
import {type Reply, type RequestFacts, reply} from '../http/route.ts';
import {validateUrlPart} from '../http/validate.ts';
import {qrSvg} from '../links/qr.ts';
import {networkKeysOf} from '../match/network-keys.ts';
import type {Services} from '../services.ts';
import {crawlerPageHeaders, renderCrawlerPage} from './crawler-page.ts';
import type {LinkView} from './link-view.ts';
import {redirectPageHeaders, renderRedirectPage} from './redirect-page.ts';
import {type ResolutionPath, type ResolvedLink, resolveLink} from './resolve-link.ts';
import {isPrefetch, type Visitor} from './visitor.ts';
import {setVisitorCookie, type VisitorCookie, visitorCookie} from './visitor-cookie.ts';
import {visitorOf} from './visitor-of-request.ts';

const isCrawler = (visitor: Visitor): boolean => visitor.class === 'preview-crawler' || visitor.class === 'search-bot';

const referrerHost = (referrer: string | undefined): string | null =>
	referrer !== undefined && URL.canParse(referrer) ? new URL(referrer).hostname.slice(0, 255) || null : null;

/** ISO 3166 country that a trusted proxy found out; 'XX' and 'T1' are its words for not knowing. */
const countryOf = ({clientIp}: Services, {stream, headers}: RequestFacts): string | null => {
	const country = String(headers['cf-ipcountry'] ?? headers['x-country'] ?? '').toUpperCase();
	return clientIp.isTrustedPeer(stream) && /^[A-Z]{2}$/.test(country) && country !== 'XX' ? country : null;
};

const versionText = (version: Visitor['osVersion']): string | null =>
	version === null ? null : [version.major, version.minor, version.patch].filter((part) => part !== null).join('.');

const record = (
	services: Services,
	request: RequestFacts,
	link: ResolvedLink,
	visitor: Visitor,
	match: OpenMatch | null,
) =>
	services.clickJournal.record({
		organizationId: link.organization.id,
		linkId: link.id,
		channel: link.channel,
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

/** What this visit leaves for the app's first open (facts 4.7). */
const openMatch = async (
	{matchPeppers, clock}: Services,
	{ip}: RequestFacts,
	link: ResolvedLink,
	visitor: Visitor,
	cookie: VisitorCookie | null,
): Promise<OpenMatch> => {
	const [pepper] = await matchPeppers.at(clock.now());
	return {
		token: mintMatchToken(),
		windowHours: link.matchWindowHours,
		network: networkKeysOf(pepper, ip),
		signals: visitor,
		visitor: cookie,
	};
};

const linkView = ({addresses}: Services, link: ResolvedLink, token: string | null): LinkView => ({
	organizationName: link.organization.name,
	orgKey: link.organization.orgKey,
	shortCode: link.shortCode,
	url: link.url,
	title: link.title,
	og: link.og,
	path: link.path,
	params: link.params,
	fallbackUrl: link.fallbackUrl,
	utm: link.utm,
	token,
	ios: link.ios,
	android: link.android,
	host: URL.canParse(link.url) ? new URL(link.url).host : addresses.linkDomain,
});

/** Classes whose page may show the short URL as a QR code, to go on with a phone. */
const showsQrCode = (visitor: Visitor): boolean => visitor.class === 'desktop' || visitor.class === 'mac-or-ipad';

const page = async (services: Services, request: RequestFacts, link: ResolvedLink): Promise<Reply> => {
	const visitor = visitorOf(request);
	if (isCrawler(visitor)) {
		if (!request.isHead) {
			await record(services, request, link, visitor, null);
		}

		return reply({headers: crawlerPageHeaders(), body: renderCrawlerPage(linkView(services, link, null))});
	}

	// A page that nobody looks at yet is no click and gets no token (facts 1.10).
	const counts = !request.isHead && !isPrefetch(request.headers);
	const globalPrivacyControl = request.headers['sec-gpc'] === '1';
	const cookie = globalPrivacyControl ? null : visitorCookie(request.headers.cookie);
	const opened = counts && link.deferredDeepLinking ? await openMatch(services, request, link, visitor, cookie) : null;
	// Whoever is shown a token can rely on it. Where nothing could keep the click, the page goes without.
	const match = counts && (await record(services, request, link, visitor, opened)) ? opened : null;

	const nonce = randomBytes(16).toString('base64');
	return reply({
		headers: {
			...redirectPageHeaders(nonce, request.headers['accept-language']),
			...(match === null || cookie === null ? {} : {'Set-Cookie': setVisitorCookie(services, cookie, match)}),
		},
		body: renderRedirectPage({
			link: linkView(services, link, match?.token ?? null),
			visitor,
			acceptLanguage: request.headers['accept-language'],
			nonce,
			globalPrivacyControl,
			qrSvg: showsQrCode(visitor) ? await qrSvg(link.url) : null,
		}),
	});
};

/** Most parameters, and most bytes of them as JSON, that a link's `params` hold (decisions 4). */
const MAX_PARAMS = 50;
const MAX_PARAMS_BYTES = 8192;

/** The link's parameters, and below them what the query adds, as far as the limits of `params` reach (decisions 5). */
const withQuery = (params: Record<string, string>, query: Record<string, unknown>): Record<string, string> => {
	const merged = {...params};
	for (const [name, given] of Object.entries(query)) {
		const value = Array.isArray(given) ? given[0] : given;
		if (name === 'deviceId' || Object.hasOwn(params, name) || typeof value !== 'string') {
			continue;
		}

		const wider = {...merged, [name]: value};
		if (Object.keys(wider).length <= MAX_PARAMS && Buffer.byteLength(JSON.stringify(wider)) <= MAX_PARAMS_BYTES) {
			merged[name] = value;
		}
	}

	return merged;
};

/** Of the query only `deviceId` is ours: it registers the device (interface 4.3). */
const deviceQuery = Joi.object<{deviceId?: string}>({deviceId: deviceIdField});

const data = async (services: Services, request: RequestFacts, link: ResolvedLink, query: Record<string, unknown>) => {
	const {deviceId} = validateUrlPart(deviceQuery, query);
	if (!request.isHead) {
		if (deviceId !== undefined) {
			await registerDevice(services.db, {organizationId: link.organization.id, deviceId, now: services.clock.now()});
		}

		await record(services, request, link, visitorOf(request), null);
	}

	return reply({
		headers: {'Cache-Control': 'no-store'},
		body: {linkId: link.id, path: link.path, params: withQuery(link.params, query)},
	});
};

/** Answers a resolution path: the page for people, the static one for crawlers, or the link's data. @throws 400, 404, 410. */
export const visitLink = async (
	services: Services,
	request: RequestFacts,
	path: ResolutionPath,
	query: Record<string, unknown>,
): Promise<Reply> => {
	const found = await resolveLink(services, request.hostname, path);
	return found.data ? data(services, request, found.link, query) : page(services, request, found.link);
};
