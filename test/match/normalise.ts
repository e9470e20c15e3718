import test from 'ava';
import {modelCode, sameModel} from '../../src/match/normalise-device-model.ts';
import {languageOf} from '../../src/match/normalise-language.ts';
import {osVersionOf} from '../../src/match/normalise-os-version.ts';
import {canonicalTimezone, utcOffset} from '../../src/timezone.ts';

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

test('what is no timezone is unknown', (t) => {
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

test('languages are told from locales of every system', (t) => {
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

test('versions are told from what SDKs say', (t) => {
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

test('models are compared by their codes', (t) => {
	for (const [text, code] of [
		['iPhone15,2', 'iphone15,2'],
		['SAMSUNG SM-S911B', 'sm-s911b'],
		['SM-S911B', 'sm-s911b'],
		[' Pixel  8 ', 'pixel 8'],
		['Google Pixel 8', 'pixel 8'],
		['Redmi Note 8 Pro', 'redmi note 8 pro'],
		['ONEPLUS A6003', 'a6003'],
	] as const) {
		t.is(modelCode(text), code, text);
	}

	for (const text of ['', 'K', 'iPhone', 'iPad', 'iPhone 14 Pro', 'Galaxy S23', 'Samsung Galaxy S23', 'arm64']) {
		t.is(modelCode(text), null, text);
	}
});

test("a shop's name with its maker is unknown, and a code with its maker is a code", (t) => {
	for (const text of ['vivo Y36', 'OPPO A78', 'OnePlus 12', 'realme C55', 'Xiaomi 14', 'HUAWEI P30']) {
		t.is(modelCode(text), null, text);
	}

	for (const [text, code] of [
		['vivo V2254', 'v2254'],
		['vivo 1901', '1901'],
		['HUAWEI VNS-L31', 'vns-l31'],
		['Xiaomi Redmi Note 8', 'redmi note 8'],
	] as const) {
		t.is(modelCode(text), code, text);
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
