import {createHmac, randomBytes} from 'node:crypto';
import test from 'ava';
import {canonicalTimezone, utcOffset} from '../../../src/platform/timezone.ts';
import {type Contradiction, likenessOf} from '../../../src/visits/matches/likeness.ts';
import {normalize, type RawSignals, signalsOfApp} from '../../../src/visits/matches/match-signals.ts';
import {networkKeysOf} from '../../../src/visits/matches/network-keys.ts';
import {languageOf, modelCode, osVersionOf, sameModel} from '../../../src/visits/matches/normalize-signals.ts';
import {offsetsAt} from '../../../src/visits/matches/phone-comparison.ts';
import {androidVersion, iosVersion} from '../../../src/visits/visit/user-agent.ts';

test('names of one timezone are equal, whatever system they come from', (t) => {
	for (const names of [
		['Asia/Kolkata', 'Asia/Calcutta', 'asia/kolkata'],
		['Europe/Kyiv', 'Europe/Kiev'],
		['Asia/Ho_Chi_Minh', 'Asia/Saigon'],
		['Asia/Kathmandu', 'Asia/Katmandu'],
		['America/Argentina/Buenos_Aires', 'America/Buenos_Aires'],
		['Asia/Yangon', 'Asia/Rangoon'],
		['America/Nuuk', 'America/Godthab'],
		['Africa/Asmara', 'Africa/Asmera'],
		['GMT', 'Etc/UTC', 'Etc/GMT', 'UTC'],
		['US/Pacific', 'America/Los_Angeles'],
		['PRC', 'Asia/Chongqing', 'Asia/Shanghai'],
	]) {
		const canonical = new Set(names.map(canonicalTimezone));
		t.is(canonical.size, 1, names.join());
		t.false(canonical.has(null), names.join());
	}
});

test('an invalid timezone is unknown', (t) => {
	for (const name of ['', '+05:30', '-03', 'GMT+2', 'Not/AZone', 'Europe/Berlin; drop', 'x'.repeat(100)]) {
		t.is(canonicalTimezone(name), null, name);
		t.is(utcOffset(name, new Date(0)), null, name);
	}
});

test('offsets are those of the time that is asked for', (t) => {
	const [winter, summer] = [new Date('2026-01-10T12:00:00Z'), new Date('2026-07-10T12:00:00Z')];
	t.is(utcOffset('Europe/London', winter), utcOffset('Africa/Abidjan', winter));
	t.not(utcOffset('Europe/London', summer), utcOffset('Africa/Abidjan', summer));
});

test('languages are read from locales of every system', (t) => {
	for (const [tag, language, region] of [
		['en-US', 'en', 'US'],
		['en_us', 'en', 'US'],
		['en', 'en', null],
		['zh_CN', 'zh', 'CN'],
		['zh-Hans-CN', 'zh', 'CN'],
		['en_IR@calendar=gregorian', 'en', 'IR'],
		['de_DE.UTF-8', 'de', 'DE'],
		['iw-IL', 'he', 'IL'],
		['in', 'id', null],
		['tl', 'fil', null],
		['nb-NO', 'no', 'NO'],
		['nn-NO', 'no', 'NO'],
		['no-NO', 'no', 'NO'],
	] as const) {
		t.deepEqual(languageOf(tag), {language, region}, tag);
	}

	for (const tag of ['', 'C', '*', 'english', '1234', 'x'.repeat(100)]) {
		t.is(languageOf(tag), null, tag);
	}
});

test('versions are read from the names that SDKs report', (t) => {
	for (const [text, major, minor, patch, precision] of [
		['17.5.1', 17, 5, 1, 'patch'],
		['17_5_1', 17, 5, 1, 'patch'],
		['17.5', 17, 5, null, 'minor'],
		['14', 14, null, null, 'major'],
		['iOS 17.5', 17, 5, null, 'minor'],
		['Android 14 (API 34)', 14, null, null, 'major'],
		['14.0.0.1', 14, 0, 0, 'patch'],
	] as const) {
		t.deepEqual(osVersionOf(text), {major, minor, patch, precision}, text);
	}

	for (const text of ['', 'unknown', '1234567890']) {
		t.is(osVersionOf(text), null, text);
	}
});

test("models are compared by their codes; a shop's name with its maker is unknown, a code with its maker is a code", (t) => {
	for (const [text, code] of [
		['iPhone15,2', 'iphone15,2'],
		['SAMSUNG SM-S911B', 'sm-s911b'],
		['SM-S911B', 'sm-s911b'],
		[' Pixel  8 ', 'pixel 8'],
		['Google Pixel 8', 'pixel 8'],
		['Redmi Note 8 Pro', 'redmi note 8 pro'],
		['ONEPLUS A6003', 'a6003'],
		['vivo V2254', 'v2254'],
		['vivo 1901', '1901'],
		['HUAWEI VNS-L31', 'vns-l31'],
		['Xiaomi Redmi Note 8', 'redmi note 8'],
	] as const) {
		t.is(modelCode(text), code, text);
	}

	const general = ['', 'K', 'iPhone', 'iPad', 'iPhone 14 Pro', 'Galaxy S23', 'Samsung Galaxy S23', 'arm64'];
	const ofShops = ['vivo Y36', 'OPPO A78', 'OnePlus 12', 'realme C55', 'Xiaomi 14', 'HUAWEI P30'];
	for (const text of [...general, ...ofShops]) {
		t.is(modelCode(text), null, text);
	}
});

test("a name that shops and systems both use contradicts no code, and another maker's code does", (t) => {
	for (const [one, other, expected] of [
		['redmi note 13', '23129raa4g', null],
		['moto g54', 'xt2343-1', null],
		['moto g54', 'moto g54', 'same'],
		['pixel 8', 'sm-s911b', 'other'],
		['iphone14,3', 'iphone15,2', 'other'],
	] as const) {
		t.is(sameModel(one, other), expected, `${one} ${other}`);
		t.is(sameModel(other, one), expected, `${other} ${one}`);
	}
});

const now = new Date('2026-03-10T12:00:00Z');

const safari = (version: string, shown = version.replaceAll('.', '_')) =>
	iosVersion(
		`Mozilla/5.0 (iPhone; CPU iPhone OS ${shown} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version.split('.').slice(0, 2).join('.')} Mobile/15E148 Safari/604.1`,
	);

const nothing: RawSignals = {platform: null, osVersion: null, deviceModel: null, language: null, timezone: null};
const american = {language: 'en-US', timezone: 'America/New_York'};
const iosClick: RawSignals = {...nothing, ...american, platform: 'ios', osVersion: safari('17.5.1')};
const iosApp = {...american, platform: 'iOS', osVersion: '17.5.1'} as const;
const ios26 = {...iosClick, osVersion: safari('26.0', '18_6')};
const androidClick: RawSignals = {...nothing, platform: 'android', language: 'en-IN', timezone: 'Asia/Calcutta'};
const androidPhone = {platform: 'Android', osVersion: '14', deviceModel: 'Pixel 8'} as const;
const androidApp = {...androidPhone, language: 'en-IN', timezone: 'Asia/Kolkata'};

type App = Parameters<typeof signalsOfApp>[0];

const model = {deviceModel: 'iPhone15,2'};
const elsewhere = {timezone: 'Europe/Paris'};
const pixel = {deviceModel: 'Pixel 8', osVersion: androidVersion('', '14.0.0')};

/** The table of contract/match 4, in its order. */
const vectors: Array<[name: string, click: RawSignals, app: App, sum: number | Contradiction, exact?: 'exact']> = [
	['1 the same iPhone, model unknown', iosClick, iosApp, 45, 'exact'],
	['2 and the model is the same', {...iosClick, ...model}, {...iosApp, ...model}, 60, 'exact'],
	['3 without a timezone', {...iosClick, timezone: null}, iosApp, 30],
	['4 iOS 26 reports its major version only', ios26, {...iosApp, osVersion: '26.1'}, 38, 'exact'],
	['5 and no timezone', {...ios26, timezone: null}, {...iosApp, osVersion: '26.1'}, 23],
	['6 a frozen Android User-Agent', androidClick, {...androidApp, deviceModel: null}, 30],
	['7 and client hints', {...androidClick, ...pixel}, androidApp, 53, 'exact'],
	['9 another language', {...iosClick, language: 'fr-FR'}, iosApp, 25],
	['10 another timezone', {...iosClick, ...elsewhere}, iosApp, 5],
	['11 another timezone of the same offset', {...iosClick, ...elsewhere}, {...iosApp, timezone: 'Europe/Madrid'}, 35],
	['12 another platform', androidClick, iosApp, 'platform'],
	['13 an app on an older system', {...iosClick, osVersion: safari('18.1')}, iosApp, 'os_version'],
	['14 an app on a newer system', {...iosClick, osVersion: safari('16.6')}, iosApp, 10],
	['15 another model', {...iosClick, deviceModel: 'iPhone14,3'}, {...iosApp, ...model}, 'device_model'],
	['16 only the platform is known', {...nothing, platform: 'ios'}, {platform: 'iOS'}, 5],
	['17 nothing is known', iosClick, {}, 0],
	['20 a language without its region', {...iosClick, language: 'en'}, iosApp, 42],
	['21 the same language of another region', {...iosClick, language: 'en-GB'}, iosApp, 39],
	['22 an iPad that looks like a Mac', {...iosClick, platform: null, osVersion: null}, iosApp, 25],
	['23 another patch', {...iosClick, osVersion: safari('17.5')}, iosApp, 42],
];

const compare = (click: RawSignals, app: App) => likenessOf(normalize(click), signalsOfApp(app), offsetsAt(now));

for (const [name, click, app, expected, exact] of vectors) {
	test(`vector ${name}: ${expected}`, (t) => {
		const {sum, contradiction, isExact} = compare(click, app);
		t.is(contradiction ?? sum, expected);
		t.is(isExact, exact === 'exact');
	});
}

test('points are given per attribute and add up; those of an older minor version rule nothing out', (t) => {
	const {sum, points} = compare({...iosClick, ...model}, {...iosApp, ...model, osVersion: '17.6'});
	t.deepEqual(points, {platform: 5, deviceModel: 15, osVersion: -4, timezone: 15, language: 10});
	t.is(sum, 41);
	t.like(compare(iosClick, {...iosApp, osVersion: '17.4'}), {points: {osVersion: -5}, contradiction: null});
});

test('the more is alike, the fewer other phones are expected to be; a mismatch makes no phone rarer', (t) => {
	const share = (click: Partial<RawSignals>) => compare({...iosClick, ...click}, iosApp).share;
	t.true(share({}) < share({osVersion: null}) && share({osVersion: null}) < share({osVersion: null, platform: null}));
	t.is(share({language: 'fr-FR'}), share({language: null}));
});

test('a model known on both sides is enough for an exact fingerprint where the timezone is unknown', (t) => {
	const click = {...iosClick, ...model, timezone: null};
	t.true(compare(click, {...iosApp, ...model}).isExact);
	t.false(compare(click, iosApp).isExact);
	t.false(compare({...click, ...elsewhere}, {...iosApp, ...model}).isExact);
});

const keyed = (pepper: Buffer, text: string): Buffer =>
	createHmac('sha256', pepper).update(text).digest().subarray(0, 16);

test('a place is kept as 16 bytes of the HMAC-SHA-256 of its network under the secret of the week', (t) => {
	const peppers = [randomBytes(32), randomBytes(32)];
	for (const [ip, whole, network] of [
		['192.0.2.7', '192.0.2.7', '192.0.2.'],
		['192.0.2.255', '192.0.2.255', '192.0.2.'],
		['10.0.0.0', '10.0.0.0', '10.0.0.'],
		['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.'],
		['2001:db8:1:2::9', '20010db800010002:', '20010db8000100:'],
	] as const) {
		for (const pepper of [...peppers, ...peppers]) {
			t.deepEqual(networkKeysOf(pepper, ip, false), {ipKey: keyed(pepper, whole), netKey: keyed(pepper, network)}, ip);
		}
	}
});
