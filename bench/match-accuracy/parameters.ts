/**
 * Everything that the simulation assumes, and nothing that the product knows. Figures are round on purpose: where a
 * source is named they follow it, elsewhere they are assumptions that make a scenario what its name says. None was
 * chosen to make a figure of the product better, and none may be: whoever changes the product looks at the development
 * seeds, and what is published comes from the confirmation seeds, which nobody chooses anything by.
 */
import type {Weighted} from './random.ts';

/** The first is for whoever changes the product; the second confirms (docs/measurements.md). */
export const seeds = {
	development: [1, 2, 3, 4, 5, 6],
	confirmation: [7001, 7002, 7003, 7004, 7005, 7006],
} as const;

/** What the issue asks of the product, over all scenarios and seeds. */
export const criteria = {
	guessPrecision: 0.95,
	guessRecall: 0.64,
	highAlone: 0.995,
	highWhole: 0.99,
	/** What each word promises in each scenario that has so many such answers. */
	perScenario: {high: 0.985, medium: 0.8, low: 0.5, answers: 50},
	medium: 0.9,
	/** Between what is predicted and what is seen, in each bin of at least so many guesses. */
	calibration: {within: 0.02, guesses: 200},
} as const;

/** Where guesses are: few below a half, and most near one, where a point more or less matters most. */
export const bins = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 1] as const;

/** A country: its phones, languages and clocks. `v8`: the name that Chromium gives a zone, where it has its own. */
export type Market = {
	/** StatCounter, January 2026, for the United States and India; the rest assumed. */
	ios: number;
	languages: Weighted<string>;
	zones: Weighted<{zone: string; v8?: string}>;
};

const market = (ios: number, languages: Weighted<string>, zones: Market['zones']): Market => ({ios, languages, zones});

export const markets = {
	us: market(
		0.6,
		[
			['en-US', 80],
			['es-US', 11],
			['zh-CN', 3],
			['ko-KR', 2],
			['fr-FR', 2],
			['ru-US', 2],
		],
		[
			[{zone: 'America/New_York'}, 47],
			[{zone: 'America/Chicago'}, 29],
			[{zone: 'America/Denver'}, 7],
			[{zone: 'America/Los_Angeles'}, 17],
		],
	),
	// A part of it with one clock.
	newYork: market(
		0.6,
		[
			['en-US', 80],
			['es-US', 11],
			['zh-CN', 3],
			['ko-KR', 2],
			['fr-FR', 2],
			['ru-US', 2],
		],
		[[{zone: 'America/New_York'}, 1]],
	),
	germany: market(
		0.4,
		[
			['de-DE', 82],
			['en-US', 6],
			['tr-TR', 5],
			['en-GB', 3],
			['ru-RU', 2],
			['pl-PL', 2],
		],
		[[{zone: 'Europe/Berlin'}, 1]],
	),
	egypt: market(
		0.15,
		[
			['ar-EG', 70],
			['en-US', 15],
			['en-EG', 5],
			['en-GB', 5],
			['fr-FR', 5],
		],
		[[{zone: 'Africa/Cairo'}, 1]],
	),
	india: market(
		0.05,
		[
			['en-IN', 65],
			['hi-IN', 15],
			['en-US', 8],
			['mr-IN', 6],
			['en-GB', 6],
		],
		[[{zone: 'Asia/Kolkata', v8: 'Asia/Calcutta'}, 1]],
	),
	brazil: market(
		0.2,
		[
			['pt-BR', 95],
			['en-US', 3],
			['es-419', 2],
		],
		[[{zone: 'America/Sao_Paulo'}, 1]],
	),
} satisfies Record<string, Market>;

export type MarketName = keyof typeof markets;

/** Where a phone is online. `shared`: a campus, an office, a café, a hotel; whatever its scenario makes of it. */
export type Whereabouts = 'home' | 'carrier' | 'shared' | 'vpn';

export type Scenario = {
	/** Who clicks, installs or does both in the week. The others of a place change nothing. */
	people: number;
	markets: Weighted<MarketName>;
	/** Share of people who are in another of these countries, where their phones' clocks are right. */
	abroad: number;
	tenants: number;
	/** Links of a tenant, the second half as popular as the first, the third a third; `topLink`: share of one of them. */
	links: number;
	topLink: number;
	/** Share of first opens that no click led to: 20 to 45 % of what attribution services publish. */
	organic: number;
	/** Share of visits that lead to an install. */
	converts: number;
	/** From click to first open, of those within the hour. */
	medianMinutes: number;
	whereabouts: Record<Whereabouts, number>;
	/** People of the week behind one address. Cloudflare, 2025: 'hundreds or even thousands' of subscribers. */
	peoplePer: Record<Exclude<Whereabouts, 'home'>, number>;
	/** Still on the network right after, of which half leave within 2.5 hours. */
	stays: number;
	/** Homes whose address is given to another home of the same eight at midnight. */
	reused: number;
	/** Share of carriers' phones and of homes with IPv6 (Google, April 2026: half of all users). */
	ipv6: number;
	/** Housemates who take part beside one who does; shares of their phones with the same model, and of those with the same version. */
	housemates: Weighted<number>;
	housemateSameModel: number;
	housemateSameVersion: number;
	/** All phones of the scenario are of so many models per system. */
	models: number;
	/** Shared places that hand out one phone to all. */
	equalPhones: number;
	/** Visits in an app's own browser. */
	inApp: number;
	/** People who act within the hour of a gathering at their shared place; three of four of them on its link. */
	gathers: number;
	/** People who act within six hours that all have in common. */
	burst: number;
	tapsAnotherTenant: number;
	/** Clicks of robots that pass for phones, per click; opens that try to steal a click, per open. */
	bots: number;
	thieves: number;
};

/** A plain app of the United States; the other scenarios say what they have otherwise. */
const plain: Scenario = {
	people: 7000,
	markets: [['us', 1]],
	abroad: 0,
	tenants: 1,
	links: 50,
	topLink: 0,
	organic: 0.35,
	converts: 0.3,
	medianMinutes: 5,
	whereabouts: {home: 0.5, carrier: 0.3, shared: 0.15, vpn: 0.05},
	peoplePer: {carrier: 30, shared: 10, vpn: 20},
	stays: 0.95,
	reused: 0.1,
	ipv6: 0.5,
	housemates: [
		[0, 85],
		[1, 12],
		[2, 3],
	],
	housemateSameModel: 0.15,
	housemateSameVersion: 0.5,
	models: Number.POSITIVE_INFINITY,
	equalPhones: 0,
	inApp: 0.3,
	gathers: 0,
	burst: 0,
	tapsAnotherTenant: 0,
	bots: 0,
	thieves: 0,
};

/** Populations of their own: nothing is shared between two of them, and none is pooled before it is judged. */
export const scenarios = {
	'plain US app': plain,
	// Thousands of students behind one IPv4 address, most with an iPhone, who hear of the app in lectures.
	campus: {
		...plain,
		whereabouts: {home: 0.1, carrier: 0.1, shared: 0.8, vpn: 0},
		peoplePer: {...plain.peoplePer, shared: 1500},
		organic: 0.3,
		medianMinutes: 3,
		gathers: 0.2,
		ipv6: 0.2,
	},
	// Markets where the phone is the only line, Android rules and downloads take longer.
	carriers: {
		...plain,
		markets: [
			['india', 50],
			['egypt', 30],
			['brazil', 20],
		],
		whereabouts: {home: 0.12, carrier: 0.85, shared: 0.03, vpn: 0},
		peoplePer: {...plain.peoplePer, carrier: 400},
		organic: 0.3,
		medianMinutes: 8,
		ipv6: 0.2,
		inApp: 0.4,
	},
	office: {
		...plain,
		markets: [
			['us', 50],
			['germany', 50],
		],
		whereabouts: {home: 0.2, carrier: 0.1, shared: 0.7, vpn: 0},
		peoplePer: {...plain.peoplePer, shared: 60},
		organic: 0.25,
		equalPhones: 0.3,
		gathers: 0.1,
	},
	// Families that buy the same phones, and recommend apps to each other at the table.
	households: {
		...plain,
		whereabouts: {home: 0.85, carrier: 0.1, shared: 0.05, vpn: 0},
		organic: 0.45,
		converts: 0.4,
		housemates: [
			[0, 40],
			[1, 35],
			[2, 15],
			[3, 10],
		],
		housemateSameModel: 0.4,
		models: 8,
	},
	// One address for a whole campus: hundreds of taps a day, and two in five opens without one.
	'campus of one zone': {
		...plain,
		people: 6000,
		markets: [['newYork', 1]],
		whereabouts: {home: 0.05, carrier: 0.05, shared: 0.9, vpn: 0},
		peoplePer: {...plain.peoplePer, shared: 3000},
		organic: 0.4,
		medianMinutes: 3,
		gathers: 0.2,
		ipv6: 0,
	},
	// Families whose members have equal phones, as one contract or one employer gives them.
	'equal phones': {
		...plain,
		people: 6000,
		whereabouts: {home: 0.9, carrier: 0.05, shared: 0.05, vpn: 0},
		organic: 0.4,
		converts: 0.4,
		housemates: [
			[0, 20],
			[1, 40],
			[2, 25],
			[3, 15],
		],
		housemateSameModel: 0.9,
		housemateSameVersion: 0.9,
	},
	// They tap on the way and install where they arrive: more than half of the taps are made elsewhere.
	commuters: {
		...plain,
		whereabouts: {home: 0.2, carrier: 0.65, shared: 0.15, vpn: 0},
		peoplePer: {...plain.peoplePer, carrier: 60},
		stays: 0.6,
		organic: 0.2,
		medianMinutes: 8,
	},
	// Twenty tenants of one server in one country, whose providers give homes new addresses every night.
	'agency of 20': {
		...plain,
		markets: [['germany', 1]],
		tenants: 20,
		reused: 0.5,
		organic: 0.4,
		tapsAnotherTenant: 0.2,
		links: 12,
	},
	'viral link': {
		...plain,
		markets: [
			['us', 60],
			['brazil', 40],
		],
		topLink: 0.8,
		organic: 0.45,
		converts: 0.2,
		peoplePer: {carrier: 100, shared: 40, vpn: 20},
		medianMinutes: 4,
		inApp: 0.7,
		burst: 0.5,
	},
	// Hotels and airports: everybody's language and phone is another, and the clock is that of the place.
	travellers: {
		...plain,
		markets: [
			['us', 30],
			['germany', 30],
			['egypt', 15],
			['india', 15],
			['brazil', 10],
		],
		abroad: 0.7,
		whereabouts: {home: 0, carrier: 0.25, shared: 0.6, vpn: 0.15},
		peoplePer: {carrier: 60, shared: 80, vpn: 40},
		stays: 0.8,
		organic: 0.3,
	},
	'bots and thieves': {...plain, bots: 0.3, thieves: 0.05, peoplePer: {carrier: 60, shared: 40, vpn: 40}},
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

/** What people of every scenario do. Shares are assumed where no source is named. */
export const behaviour = {
	days: 7,
	/** Weights of the hours of a day. */
	hours: [1, 1, 1, 1, 1, 2, 3, 5, 6, 6, 6, 6, 7, 7, 6, 6, 6, 7, 8, 9, 9, 8, 6, 3],
	/** AppsFlyer, click to install: three quarters within the hour, 94 % within the day. */
	delay: {withinHour: 0.75, withinDay: 0.94, spread: 1},
	onDesktop: 0.1,
	/** The same link again within ten minutes, or another one up to six hours before. */
	tapsAgain: 0.12,
	sameBrowserAgain: 0.85,
	tapsAnotherLink: 0.1,
	housemateSameApp: 0.7,
	housemateSameLink: 0.5,
	housemateSameLanguage: 0.9,
	/** Per day: systems that are updated, people who fly to another zone. */
	updates: 0.01,
	travels: 0.005,
	/** Of connections where both families work: each connection races anew (RFC 8305). */
	prefersIPv6: 0.95,
	/** Hours after which half of a carrier's phones have another address. */
	carrierHalfLife: 4,
	/** iPhones whose Safari goes through iCloud Private Relay, and people of the week behind one of its addresses. */
	relay: {iphones: 0.07, peoplePer: 25},
} as const;

/** What pages and apps get to know. */
export const sight = {
	withoutScript: 0.03,
	signalsLost: 0.04,
	refusesCookies: 0.02,
	/** Web views that say `Android 10; K; wv`: Chromium of 2026 has a switch for it. */
	reducedWebViews: 0.3,
	/** Frameworks that send a name as shops have it (`vivo Y36`) where others send the code (`V2254`). */
	shopNames: 0.05,
	/** The app's language beside the browser's. */
	appLanguage: [
		['same', 85],
		['other region', 6],
		['no region', 4],
		['English', 5],
	] satisfies Weighted<'same' | 'other region' | 'no region' | 'English'>,
	/** Proof that reaches the app. Tolinku: 60 to 80 % of clipboards, 99 % of referrers are usable. */
	clipboard: {taps: 0.8, usable: 0.7, halfLifeHours: 3},
	referrer: {fromThePage: 0.85, kept: 0.99},
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

/** StatCounter's shares, rounded; those of apps among themselves are assumed. */
export const browsers: Record<'ios' | 'android' | 'inApp', Weighted<Browser>> = {
	ios: [
		['safari', 80],
		['chrome', 16],
		['google app', 4],
	],
	android: [
		['chrome', 80],
		['samsung', 10],
		['opera', 4],
		['xiaomi', 4],
		['firefox', 2],
	],
	inApp: [
		['facebook', 35],
		['instagram', 30],
		['tiktok', 20],
		['other app', 15],
	],
};

/** Apple's App Store figures of February 2026 (two thirds on iOS 26); minor versions assumed. */
export const iosVersions: Weighted<string> = [
	['26.3', 30],
	['26.2.1', 14],
	['26.2', 8],
	['26.1', 7],
	['26.0.1', 7],
	['18.7.4', 5],
	['18.6.2', 6],
	['18.5', 5],
	['18.3.2', 3],
	['18.1.1', 3],
	['17.7.2', 3],
	['17.5.1', 2],
	['16.7.12', 4],
	['15.8.5', 3],
];

/** Google's platform distribution of December 2025, without what is older than 9. */
export const androidVersions: Weighted<string> = [
	['16', 8],
	['15', 19],
	['14', 17],
	['13', 14],
	['12', 11],
	['11', 14],
	['10', 8],
	['9', 4],
];

/** A model by the code that its system names, its screen in the browser's pixels, and its share. */
type Line = readonly [code: string, width: number, height: number, share: number];

export const iPhones: readonly Line[] = [
	['iPhone17,3', 393, 852, 10],
	['iPhone17,2', 440, 956, 8],
	['iPhone15,4', 393, 852, 8],
	['iPhone14,5', 390, 844, 8],
	['iPhone16,2', 430, 932, 7],
	['iPhone17,1', 402, 874, 6],
	['iPhone18,2', 440, 956, 6],
	['iPhone18,3', 402, 874, 6],
	['iPhone18,1', 402, 874, 5],
	['iPhone16,1', 393, 852, 5],
	['iPhone15,3', 430, 932, 5],
	['iPhone14,7', 390, 844, 5],
	['iPhone12,1', 414, 896, 5],
	['iPhone15,2', 393, 852, 4],
	['iPhone13,2', 390, 844, 4],
	['iPhone17,5', 390, 844, 3],
	['iPhone14,2', 390, 844, 3],
	['iPhone14,3', 428, 926, 3],
	['iPhone14,6', 375, 667, 2],
	['iPhone11,8', 414, 896, 2],
	['iPad13,18', 820, 1180, 2],
	['iPad12,1', 810, 1080, 2],
	['iPad14,1', 744, 1133, 1],
];

export const androids: readonly Line[] = [
	['SM-A155F', 412, 892, 4],
	['SM-A165F', 412, 892, 4],
	['SM-A546E', 412, 915, 3],
	['SM-A556B', 412, 915, 3],
	['SM-A057F', 384, 832, 3],
	['SM-A356B', 412, 915, 2],
	['SM-A146B', 384, 832, 2],
	['SM-S911B', 360, 780, 2],
	['SM-S918B', 384, 824, 2],
	['SM-S928B', 384, 824, 2],
	['SM-S938B', 384, 832, 2],
	['2201117TG', 393, 873, 2],
	['23021RAAEG', 393, 873, 2],
	['23129RAA4G', 393, 873, 2],
	['CPH2591', 360, 806, 2],
	['CPH2477', 360, 806, 2],
	['V2254', 393, 873, 2],
	['RMX3710', 360, 800, 2],
	['XT2343-2', 412, 915, 1],
	['Pixel 8', 412, 915, 1],
	['Pixel 9', 412, 923, 1],
	// The long tail: 240 codes with half of all phones among them.
	...Array.from(
		{length: 240},
		(_, index): Line => [
			`${['SM-M', 'CPH2', 'RMX3', 'V2', 'XT2'][index % 5]}${100 + index}`,
			360 + (index % 6) * 10,
			800,
			0.2,
		],
	),
];

/** What shops call the phones whose codes begin so. */
export const shopNames: ReadonlyArray<readonly [code: string, name: string]> = [
	['SM-', 'Galaxy A15'],
	['CPH', 'OPPO A78'],
	['V2', 'vivo Y36'],
	['RMX', 'realme C55'],
	['XT', 'moto g54'],
	['2', 'Redmi Note 13'],
];
