/** The known part of an operating system's version; parts beyond `precision` are null. */
export type OsVersion = {
	major: number;
	minor: number | null;
	patch: number | null;
	precision: 'patch' | 'minor' | 'major';
};

/** The version of one to three numbers that a pattern has found. */
export const versionFound = (match: RegExpExecArray | null): OsVersion | null => {
	if (!match) {
		return null;
	}

	const [major, minor, patch] = [match[1], match[2], match[3]].map((part) =>
		part === undefined ? null : Number(part),
	);
	const precision = patch != null ? 'patch' : minor != null ? 'minor' : 'major';
	return {major: major ?? 0, minor: minor ?? null, patch: patch ?? null, precision};
};

const versionOf = (text: string): OsVersion | null =>
	versionFound(/^(\d{1,5})(?:[._](\d{1,5}))?(?:[._](\d{1,5}))?/.exec(text));

/** An Apple version that is not frozen is exact: Apple omits a patch of zero. */
const exactAppleVersion = (text: string): OsVersion | null => {
	const version = versionOf(text);
	return version && {...version, minor: version.minor ?? 0, patch: version.patch ?? 0, precision: 'patch'};
};

/** The last iOS whose number browsers report; since iOS 26 they keep reporting 18 (contract/match 13). */
const FROZEN_IOS = 18;
const FIRST_IOS_NAMED_BY_SAFARI = 26;

/** The version of iOS or iPadOS in a User-Agent, or null if it may be frozen (contract/match 13). */
export const iosVersion = (userAgent: string): OsVersion | null => {
	const stated = /\bFBSV\/([\d.]+)/.exec(userAgent)?.[1] ?? /; iOS (\d+(?:[._]\d+)*);/.exec(userAgent)?.[1];
	if (stated !== undefined) {
		return exactAppleVersion(stated);
	}

	const safari = versionOf(/\bVersion\/([\d.]+)/.exec(userAgent)?.[1] ?? '');
	if (safari && safari.major >= FIRST_IOS_NAMED_BY_SAFARI) {
		return {...safari, patch: null, precision: 'major'};
	}

	const token = exactAppleVersion(/ OS (\d+(?:_\d+)*) like Mac OS X/.exec(userAgent)?.[1] ?? '');
	if (!token || (safari && safari.major !== token.major)) {
		return null;
	}

	const isSafari = safari !== null && !/(?:CriOS|FxiOS|EdgiOS|OPT|OPiOS)\//.test(userAgent);
	return token.major === FROZEN_IOS && !isSafari ? null : token;
};

/** The version of Android, or null if the browser froze it at 10 (contract/match 13). */
export const androidVersion = (userAgent: string, platformVersion: string | null): OsVersion | null => {
	const hinted = versionOf(platformVersion ?? '');
	return (
		hinted ?? (/Android 10; K[;)]/.test(userAgent) ? null : versionOf(/Android (\d[\d.]*)/.exec(userAgent)?.[1] ?? ''))
	);
};

/** Words beside the model in the parenthesis. */
const NO_MODEL = /^(?:|K|U|wv|Mobile|Tablet|HarmonyOS|Android|rv:.*|(?:HMS|GMS)Core .*|[a-z]{2}(?:[-_][A-Za-z]{2})?)$/;

/** The word of an Android browser's parenthesis without what follows the device's code in it. */
const ofModel = (word: string): string => (word.split(' Build/', 1)[0] ?? '').trim();

/** The code of an Android device as in `Build.MODEL`, or null if the browser does not send it. */
export const androidModel = (userAgent: string): string | null => {
	const words = (/Android \d[\d.]*; ([^)]*)/.exec(userAgent)?.[1] ?? '').split(';');
	return words.map(ofModel).find((word) => !NO_MODEL.test(word)) ?? null;
};

/**
 * A phone's User-Agent without the names of the device, which may be any words: `M bot 60`, `Spider_A10`, `Fever_Plus`.
 * Instagram and Threads add a list with the maker's: `Android (24/7.0; 320dpi; 720x1280; Logicom; M bot 60; …)`.
 */
export const withoutDevice = (userAgent: string): string => {
	const model = androidModel(userAgent);
	// A robot in the device's place gives its version or its address.
	return model === null || model.includes('/') || !/\bSafari\/|^Dalvik\//.test(userAgent)
		? userAgent
		: userAgent
				.replaceAll(/(?<=Android \d[\d.]*;)[^)]*/g, (words) =>
					words
						.split(';')
						.filter((word) => ofModel(word) !== model)
						.join(';'),
				)
				.replaceAll(/ Android \(\d[^()]*\)/g, '');
};

/** The code of an Apple device (`iPhone15,3`), which only some in-app browsers send. */
export const appleModel = (userAgent: string): string | null =>
	/\bFBDV\/([A-Za-z]+\d+,\d+)/.exec(userAgent)?.[1] ?? /\((i[A-Za-z]+\d+,\d+); iOS /.exec(userAgent)?.[1] ?? null;

/** The order matters: most browsers also name another one. */
const BROWSERS: ReadonlyArray<readonly [pattern: {test(userAgent: string): boolean}, name: string]> = [
	[/\bEdg(?:iOS|A)?\//, 'Edge'],
	[/\b(?:OPR|OPT|OPiOS)\//, 'Opera'],
	[/\bSamsungBrowser\//, 'Samsung Internet'],
	[/\bHuaweiBrowser\//, 'Huawei Browser'],
	[/\bMiuiBrowser\//, 'Mi Browser'],
	[/\bYaBrowser\//, 'Yandex Browser'],
	[/\bDuckDuckGo\//, 'DuckDuckGo'],
	[/\b(?:Firefox|FxiOS)\//, 'Firefox'],
	[/\b(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
	[{test: (userAgent) => /\bVersion\//.test(userAgent) && /\bSafari\//.test(userAgent)}, 'Safari'],
];

/** The browser's name, or null if it is unknown. */
export const browserName = (userAgent: string): string | null =>
	BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null;

const DESKTOPS: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
	[/\(Windows/, 'Windows'],
	[/\(Macintosh/, 'macOS'],
	[/\bCrOS\b/, 'ChromeOS'],
	[/\bLinux\b/, 'Linux'],
];

/** The operating system of a desktop browser, or null. */
export const desktopOs = (userAgent: string): string | null =>
	DESKTOPS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null;
