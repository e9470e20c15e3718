import {osVersionOf} from '../matches/normalize-signals.ts';

/** A phone as a simulation names it. Language is a BCP 47 tag, timezone an IANA name. */
export type SimulatedPhone = {
	platform: 'iOS' | 'Android';
	osVersion: string;
	/** The code that the system gives (`iPhone15,2`, `Pixel 8`). */
	deviceModel: string;
	language: string;
	timezone: string;
};

export const examplePhones = {
	iOS: {osVersion: '17.5.1', deviceModel: 'iPhone15,2'},
	Android: {osVersion: '14', deviceModel: 'Pixel 8'},
} as const satisfies Record<SimulatedPhone['platform'], Partial<SimulatedPhone>>;

/** The addresses of click and first open, from ranges for documentation (RFC 5737, RFC 3849). */
export const simulatedNetworks = {
	same: {tap: '198.51.100.23', open: '198.51.100.23'},
	/** A carrier's pool: another address of the same /24. */
	nearby: {tap: '198.51.100.23', open: '198.51.100.77'},
	/** Wi-Fi at the click, mobile data at the first open. */
	other: {tap: '198.51.100.23', open: '192.0.2.45'},
	/** The phone's /64, whose lower half differs between apps. */
	ipv6: {tap: '2001:db8:23:1:1c2d:3e4f:5a6b:7c8d', open: '2001:db8:23:1:9f8e:7d6c:5b4a:3928'},
	'dual-stack': {tap: '2001:db8:23:1:1c2d:3e4f:5a6b:7c8d', open: '198.51.100.23'},
} as const;
export type SimulatedNetwork = keyof typeof simulatedNetworks;

/** The headers that a browser sends with a page view, and the signals that the page's script posts after it. */
type SimulatedBrowser = {headers: {'user-agent': string; 'accept-language': string}; signals: Record<string, unknown>};

const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

/**
 * Safari as it is: since 26 it freezes the system's version, and on an iPad it says that it is a Mac
 * (contract/match 13).
 */
const safari = ({osVersion, deviceModel}: SimulatedPhone): string => {
	const {major, minor, patch} = osVersionOf(osVersion) ?? {major: 0, minor: null, patch: null};
	const version = `Version/${major}.${minor ?? 0}`;
	if (deviceModel.startsWith('iPad')) {
		return `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} ${version} Safari/605.1.15`;
	}

	const system = major >= 26 ? '18_6' : [major, minor ?? 0, ...(patch === null ? [] : [patch])].join('_');
	return `Mozilla/5.0 (iPhone; CPU iPhone OS ${system} like Mac OS X) ${WEBKIT} ${version} Mobile/15E148 Safari/604.1`;
};

/** Chrome since 110: no model, and always Android 10 (contract/match 13). */
const CHROME =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

const screenOf = ({platform, deviceModel}: SimulatedPhone) => {
	if (platform === 'Android') {
		return {screen: {width: 412, height: 915}, pixelRatio: 2.625};
	}

	return deviceModel.startsWith('iPad')
		? {screen: {width: 820, height: 1180}, pixelRatio: 2}
		: {screen: {width: 393, height: 852}, pixelRatio: 3};
};

/** The phone's own browser, Safari or Chrome. */
export const browserOf = (phone: SimulatedPhone): SimulatedBrowser => {
	const {platform, osVersion, deviceModel, language, timezone} = phone;
	const [primary = language] = language.split('-');
	const platformVersion = [...osVersion.split('.'), '0', '0'].slice(0, 3).join('.');
	return {
		headers: {
			'user-agent': platform === 'iOS' ? safari(phone) : CHROME,
			'accept-language': primary === language ? language : `${language},${primary};q=0.9`,
		},
		signals: {
			timezone,
			languages: [language],
			...screenOf(phone),
			touchPoints: 5,
			// Client hints that Chrome's script can ask for, and Safari's cannot (contract/match 14).
			...(platform === 'Android' ? {model: deviceModel, platformVersion} : {}),
		},
	};
};
