import {metros} from './metros.ts';
import type {Weighted} from './random.ts';
import {assumed, from, type Stated} from './stated.ts';

const HINTS = "facts of the vendors' documentation: Safari has no client hints, Chromium has them by script";

/** Who lives where, with whom. */
export const places = {
	metros,
	householdSize: from('United States households by size, Census Bureau', [
		[1, 0.27],
		[2, 0.33],
		[3, 0.16],
		[4, 0.14],
		[5, 0.06],
		[6, 0.04],
	] satisfies Weighted<number>),
	/** A further member of a household that comes across the same apps in the same week. */
	housemateTakesPart: assumed(0.15),
	housemateSamePlatform: assumed(0.75),
	housemateSameModel: assumed(0.15),
	/** Of equal models. */
	housemateSameVersion: assumed(0.6),
	housemateSameLanguage: assumed(0.92),
	housemateSameApp: assumed(0.6),
	/** Of those, who were sent the very link. */
	housemateSameLink: assumed(0.5),
	/** Hours later. */
	housemateFollows: assumed({from: 0.1, to: 48}),
} as const;

/** Networks: who shares an address with whom. 'Active' are the people of the simulated week. */
export const networks = {
	/** Where a phone is, at any hour. */
	whereabouts: assumed([
		['home', 0.5],
		['carrier', 0.28],
		['work', 0.15],
		['public', 0.07],
	] satisfies Weighted<'home' | 'carrier' | 'work' | 'public'>),
	homeHasIPv6: from('Google, share of users over IPv6, April 2026: 50 %; homes somewhat below mobile', 0.45),
	carrierHasIPv6: from('Google, share of users over IPv6, April 2026: 50 %; mobile somewhat above homes', 0.55),
	/** Of connections where both families work: each connection races anew (RFC 8305). */
	prefersIPv6: assumed(0.92),
	homeBehindCarrierNat: assumed(0.15),
	/** Active homes in a /24, and so strangers who share a network key. */
	activeHomesPer24: assumed(4),
	/** Active people behind one IPv4 address of three carriers: of 'hundreds or even thousands' (Cloudflare, 2025). */
	activePerCarrierAddress: assumed([4, 12, 40]),
	activePerHomeNatAddress: assumed(8),
	office: assumed({share: 0.4, median: 6, spread: 1}),
	campus: assumed({share: 0.06, median: 120, spread: 0.5}),
	/** Companies hand out one model on one version. */
	officeHasEqualPhones: assumed(0.1),
	publicWifi: assumed({median: 6, spread: 0.8}),
	event: assumed({share: 0.04, median: 250, spread: 0.4, hours: 3, posterLink: 0.75}),
	vpn: assumed({share: 0.05, inUse: 0.6, activePerExit: 20, newExit: 0.15}),
	/** iCloud Private Relay covers Safari only; traffic share was 'in the permille range' in 2023 (DENOG 15). */
	relay: assumed({shareOfIphones: 0.07, activePerExit: 25}),
	/** Hours after which half of the phones have another one, RFC 4787's paired pooling aside. */
	carrierAddressHalfLife: assumed(4),
	carrierPrefixHalfLife: assumed(12),
	/** That a phone is still on the same network right after, and the hours after which half of the rest have moved. */
	staysPut: assumed({atOnce: 0.93, halfLife: 2.5}),
} as const;

/** What people do. */
export const behaviour = {
	days: assumed(7),
	hours: assumed([1, 1, 1, 1, 1, 2, 3, 5, 6, 6, 6, 6, 7, 7, 6, 6, 6, 7, 8, 9, 9, 8, 6, 3]),
	/** Whoever is organic has clicked no link of the app that they install. */
	roles: from('organic share of installs: MWM, April 2026 (61.5 %); one visit in four installs: assumed', [
		['installs', 25],
		['only clicks', 75],
		['organic', 40],
	] satisfies Weighted<'installs' | 'only clicks' | 'organic'>),
	/** Hours from the click to the first open. */
	delay: from('AppsFlyer, click to install time: 75 % within an hour, 94 % within a day; within the hour assumed', {
		withinHour: 0.75,
		withinDay: 0.94,
		medianMinutes: 5,
		spread: 0.9,
	}),
	/** Of those who only click. */
	onDesktop: assumed(0.13),
	tapsAgain: assumed(0.12),
	tapsAgainInSameBrowser: assumed(0.85),
	tapsAnotherLink: assumed(0.1),
	tapsAnotherTenant: assumed(0.06),
	/** Per day. */
	updatesIos: assumed(0.015),
	updatesAndroid: assumed(0.002),
	travels: assumed(0.004),
} as const;

export type Browser =
	| 'safari'
	| 'chrome'
	| 'firefox'
	| 'samsung'
	| 'opera'
	| 'xiaomi'
	| 'facebook'
	| 'instagram'
	| 'tiktok'
	| 'other app'
	| 'google app';

/** What a page sees of its visitor. */
export const sight = {
	iosBrowsers: assumed([
		['safari', 60],
		['chrome', 11],
		['instagram', 9],
		['facebook', 7],
		['tiktok', 5],
		['other app', 5],
		['google app', 3],
	] satisfies Weighted<Browser>),
	androidBrowsers: assumed([
		['chrome', 55],
		['samsung', 7],
		['firefox', 2],
		['opera', 3],
		['xiaomi', 3],
		['facebook', 11],
		['instagram', 8],
		['tiktok', 5],
		['other app', 6],
	] satisfies Weighted<Browser>),
	withHints: from(HINTS, new Set<Browser>(['chrome', 'samsung', 'opera'])),
	iPadAsksForDesktop: from('the default of iPadOS since 13', 0.95),
	withoutScript: assumed(0.03),
	beaconLost: assumed(0.04),
	globalPrivacyControl: assumed(0.015),
	/** What the app tells as its language beside what the browser told. */
	appLanguage: assumed([
		['same', 84],
		['other region', 6],
		['no region', 3],
		['English', 4],
		['another', 3],
	] satisfies Weighted<'same' | 'other region' | 'no region' | 'English' | 'another'>),
	otherRegions: assumed([
		['US', 4],
		['GB', 2],
		['DE', 1],
		['EG', 1],
		['IN', 1],
		['BR', 1],
	] satisfies Weighted<string>),
} as const;

/** Proof: what the token methods get to see. */
export const tokens = {
	tapsContinue: assumed(0.8),
	/** Of those. */
	clipboardUsable: from('Tolinku: 60 to 80 % of clipboards are usable', 0.7),
	clipboardHalfLifeHours: assumed(3),
	installsFromThePage: assumed(0.85),
	referrerKept: from('Tolinku: the referrer works in about 99 %', 0.99),
} as const;

export type LinkStyle = 'campaigns' | 'referrals' | 'catalogue';

export type Tenant = {id: string; style: LinkStyle};

/** Six tenants of one server, told apart by how many people see them and how many links they have. */
export const tenants: Stated<Weighted<Tenant>> = assumed([
	[{id: 'shop', style: 'catalogue'}, 30],
	[{id: 'food', style: 'campaigns'}, 25],
	[{id: 'game', style: 'referrals'}, 20],
	[{id: 'bank', style: 'campaigns'}, 10],
	[{id: 'news', style: 'catalogue'}, 10],
	[{id: 'ride', style: 'referrals'}, 5],
]);

/** Links per style, the most popular first; a referral link is its owner's own. */
export const links = assumed({campaigns: 12, catalogue: 400, clicksPerReferral: 3});
