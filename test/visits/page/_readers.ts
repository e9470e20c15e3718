import {type BrowserContextOptions, devices} from 'playwright-core';
import {userAgents} from '../matches/_phones.ts';

/** Somebody with a device: how the browser presents itself, and how many fingers its screen feels at once. */
export type Reader = BrowserContextOptions & {touchPoints?: number};

const iPhone: Reader = {...devices['iPhone 14'], screen: {width: 390, height: 844}, touchPoints: 5};
const android: Reader = {...devices['Pixel 7'], userAgent: userAgents.android, touchPoints: 5};
const mac: Reader = {userAgent: userAgents.iPad};

export const readers = {
	iPhone,
	iPhoneInApp: {
		...iPhone,
		userAgent:
			'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F79 Instagram 330.0.3.29.91 (iPhone14,3; iOS 17_5; en_US; en; scale=3.00; 1125x2436; 594763264)',
	},
	android,
	androidInApp: {
		...android,
		userAgent:
			'Mozilla/5.0 (Linux; Android 14; SM-A546E Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.71 Mobile Safari/537.36 [LinkedInApp]',
	},
	mac,
	iPad: {...mac, viewport: {width: 820, height: 1180}, hasTouch: true, touchPoints: 5},
	desktop: {userAgent: userAgents.windows},
	tool: {userAgent: 'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP2A.240605.024)'},
	crawler: {userAgent: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'},
} satisfies Record<string, Reader>;

export type ReaderName = keyof typeof readers;

/** One reader of each class that people are in. */
export const people = [
	'iPhone',
	'iPhoneInApp',
	'android',
	'androidInApp',
	'mac',
	'iPad',
	'desktop',
	'tool',
] as const satisfies ReaderName[];
