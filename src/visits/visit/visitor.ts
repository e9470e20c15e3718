import type {IncomingHttpHeaders} from 'node:http';
import Negotiator from 'negotiator';
import {memoize} from '../../platform/memoize.ts';
import {canonicalTimezone} from '../../platform/timezone.ts';
import {
	androidModel,
	androidVersion,
	appleModel,
	browserName,
	desktopOs,
	iosVersion,
	type OsVersion,
} from './user-agent.ts';
import {namedIn} from './user-agent-lists.ts';

export type VisitorClass =
	| 'preview-crawler'
	| 'search-bot'
	| 'other-bot'
	| 'ios-browser'
	| 'ios-inapp'
	| 'android-browser'
	| 'android-inapp'
	| 'mac-or-ipad'
	| 'desktop'
	| 'unknown';

/** The visitor as the headers describe it. Null: absent or implausible. */
export type Visitor = {
	class: VisitorClass;
	/** Null for `mac-or-ipad` too: only script can distinguish them. */
	platform: 'ios' | 'android' | 'desktop' | null;
	os: string | null;
	osVersion: OsVersion | null;
	/** The browser, the app of an in-app browser, or the service of a crawler. */
	browser: string | null;
	/** The device's code (`SM-S911B`, `iPhone15,3`), not its marketing name. */
	deviceModel: string | null;
	/** The preferred language, as a BCP 47 tag. */
	language: string | null;
	/** The IANA zone as it was sent. */
	timezone: string | null;
};

/** Raw values of headers: `timezone` is `Sec-CH-Timezone`, the last two `Sec-CH-UA-Model` and `-Platform-Version`. */
export type VisitorHeaders = {
	[Name in 'userAgent' | 'acceptLanguage' | 'timezone' | 'uaModel' | 'uaPlatformVersion']?: string | undefined;
};

const USER_AGENT_LIMIT = 1024;
const LANGUAGE_LIMIT = 512;
const HINT_LIMIT = 100;

const unquoted = (value: string | undefined): string | null => {
	const text = (value ?? '')
		.slice(0, HINT_LIMIT + 2)
		.trim()
		.replace(/^"(.*)"$/, '$1')
		.trim();
	return text === '' || text.length > HINT_LIMIT ? null : text;
};

/** The zone if it is a valid name, else null. Offsets such as `+05:30` are not valid names. */
export const readTimezone = (value: string | undefined): string | null => {
	const zone = unquoted(value);
	return zone === null || canonicalTimezone(zone) === null ? null : zone;
};

/** A language tag in canonical form without extensions (`zh_hans_cn` → `zh-Hans-CN`), or null if invalid. */
export const readLanguage = (value: string): string | null => {
	try {
		return new Intl.Locale(value.trim().replaceAll('_', '-').split('@', 1)[0] ?? '').baseName;
	} catch {
		// The only way to validate a language tag.
		return null;
	}
};

const firstLanguage = (acceptLanguage: string | undefined): string | null => {
	const header = (acceptLanguage ?? '').slice(0, LANGUAGE_LIMIT);
	const wanted = new Negotiator({headers: {'accept-language': header}}).languages();
	return wanted.map((tag) => (tag === '*' ? null : readLanguage(tag))).find((tag) => tag !== null) ?? null;
};

/** A Mac's WebKit, or an iPad's that requests desktop pages; only script can distinguish them. */
const isMacOrIpad = (userAgent: string): boolean =>
	userAgent.includes('(Macintosh') &&
	/AppleWebKit\/6\d\d/.test(userAgent) &&
	!/Chrome|Chromium|Edg|OPR|Firefox/.test(userAgent);

/** True for browsers that exist on iOS only: an iPad that requests desktop pages still names them. */
const isIosBrowser = (userAgent: string): boolean => /\b(?:CriOS|FxiOS|EdgiOS|OPiOS|OPT|DuckDuckGo)\//.test(userAgent);

const isIos = (userAgent: string): boolean =>
	userAgent.includes('WebKit/') &&
	(/\b(?:iPhone|iPad|iPod)\b/.test(userAgent) ||
		(userAgent.includes('(Macintosh') && (isIosBrowser(userAgent) || /\bMobile\/\w/.test(userAgent))));

type Client = Pick<Visitor, 'class' | 'platform' | 'os' | 'osVersion' | 'browser' | 'deviceModel'>;

const unknown = {platform: null, os: null, osVersion: null, browser: null, deviceModel: null} as const;

/** Order and rules of contract/resolution 6. */
const identify = (userAgent: string, headers: VisitorHeaders): Client => {
	const {preview, search, robot, inApp: app} = namedIn(userAgent);
	if (preview !== null) {
		return {...unknown, class: 'preview-crawler', browser: preview};
	}

	if (search !== null || robot !== null) {
		return {...unknown, class: search === null ? 'other-bot' : 'search-bot', browser: search ?? robot};
	}

	if (isIos(userAgent)) {
		const isApp = app !== null || !(/Safari\/\d/.test(userAgent) || isIosBrowser(userAgent));
		return {
			class: isApp ? 'ios-inapp' : 'ios-browser',
			platform: 'ios',
			os: /\((?:iPad|Macintosh)\b/.test(userAgent) ? 'iPadOS' : 'iOS',
			osVersion: iosVersion(userAgent),
			browser: isApp ? (app ?? 'WebView') : browserName(userAgent),
			deviceModel: appleModel(userAgent),
		};
	}

	// Some apps put their own name before the web view's User-Agent.
	if (/Mozilla\/5\.0 \(|^Opera\//.test(userAgent) && /\bAndroid\b/.test(userAgent)) {
		return {
			class: app === null ? 'android-browser' : 'android-inapp',
			platform: 'android',
			os: 'Android',
			osVersion: androidVersion(userAgent, unquoted(headers.uaPlatformVersion)),
			browser: app ?? browserName(userAgent),
			deviceModel: unquoted(headers.uaModel) ?? androidModel(userAgent),
		};
	}

	if (isMacOrIpad(userAgent)) {
		return {...unknown, class: 'mac-or-ipad', browser: 'Safari'};
	}

	// Desktop browsers freeze the system's version, so none is read.
	return /^Mozilla\/5\.0 \((?:Windows|Macintosh|X11)/.test(userAgent)
		? {...unknown, class: 'desktop', platform: 'desktop', os: desktopOs(userAgent), browser: browserName(userAgent)}
		: {...unknown, class: 'unknown'};
};

/** Parses the headers. Never throws, and reads no more of a header than a browser would send. */
export const readVisitor = (headers: VisitorHeaders): Visitor => ({
	...identify((headers.userAgent ?? '').slice(0, USER_AGENT_LIMIT), headers),
	language: firstLanguage(headers.acceptLanguage),
	timezone: readTimezone(headers.timezone),
});

const MAX_KNOWN = 5000;
const MAX_KNOWN_LENGTH = 600;

/** @param lines one header each; an absent header reads as an empty one. */
const visitorOfLines = (lines: string): Visitor => {
	const [userAgent = '', acceptLanguage = '', timezone = '', uaModel = '', uaPlatformVersion = ''] = lines.split('\n');
	return readVisitor({userAgent, acceptLanguage, timezone, uaModel, uaPlatformVersion});
};

/** Many visitors send the same headers: parsing a User-Agent takes 10 µs, a lookup here 1 µs. */
const knownVisitor = memoize(visitorOfLines, MAX_KNOWN);

/** The visitor, as far as the headers identify one. */
export const visitorOf = ({headers}: {headers: IncomingHttpHeaders}): Visitor => {
	const one = (name: string): string => {
		const value = headers[name];
		return (Array.isArray(value) ? value[0] : value) ?? '';
	};
	// A header cannot contain a line end, so different headers have different keys.
	const lines = `${one('user-agent')}\n${one('accept-language')}\n${one('sec-ch-timezone')}\n${one('sec-ch-ua-model')}\n${one('sec-ch-ua-platform-version')}`;
	return lines.length <= MAX_KNOWN_LENGTH ? knownVisitor(lines) : visitorOfLines(lines);
};

/** Classes whose page may show the short URL as a QR code, to continue on a phone. */
export const showsQrCode = (visitor: Pick<Visitor, 'class'>): boolean =>
	visitor.class === 'desktop' || visitor.class === 'mac-or-ipad';

/** True for a prefetch, which is not a click and gets no token (contract/resolution 4). */
export const isPrefetch = (headers: IncomingHttpHeaders): boolean =>
	['sec-purpose', 'purpose', 'x-moz'].some((name) =>
		String(headers[name] ?? '')
			.toLowerCase()
			.includes('prefetch'),
	);

const CRAWLERS: ReadonlySet<Visitor['class']> = new Set(['preview-crawler', 'search-bot', 'other-bot']);

/** True for robots, whose visits are not clicks; plain HTTP tools are not robots (contract/resolution 2). */
export const isCrawler = (visitor: Visitor): boolean => CRAWLERS.has(visitor.class);
