import {memoize} from '../../platform/memoize.ts';
import {type OsVersion, versionFound} from '../visit/user-agent.ts';

/** Placeholders that browsers and simulators send instead of a model. */
const NO_MODEL = new Set([
	'',
	'k',
	'u',
	'wv',
	'iphone',
	'ipad',
	'ipod',
	'ipod touch',
	'android',
	'mobile',
	'tablet',
	'unknown',
	'generic',
	'arm64',
	'x86_64',
	'i386',
]);

/** Words that some systems put before the code and others omit (`SAMSUNG SM-S911B`). */
const MANUFACTURERS = new Set(
	'samsung xiaomi huawei honor oneplus oppo vivo realme google motorola sony lg lge htc lenovo asus zte tcl meizu sharp nothing fairphone'.split(
		' ',
	),
);

/** Families whose code on Android can be a name with a space in it, as `Build.MODEL` has it. */
const MAYBE_NAMED = /^(?:pixel|nexus|redmi|poco|mi|moto|nokia|infinix|tecno|itel|hmd) /;
/** Codes with a space that are also the only name of the phone in shops. */
const NAMED_BY_CODE = /^(?:pixel|nexus) /;

/** The text after the maker is a code only if it has the form of one: shops write the maker, too (`vivo Y36`). */
const withoutManufacturer = (name: string): string | null => {
	const [first = ''] = name.split(/[ _]/, 1);
	if (first === name || !MANUFACTURERS.has(first)) {
		return name;
	}

	const rest = name.slice(first.length).replace(/^[ _]+/, '');
	return /\d{4}|-/.test(rest) || MAYBE_NAMED.test(rest) ? rest : null;
};

/**
 * A device's code in one spelling (`iphone15,2`, `sm-s911b`, `pixel 8`), or null if the text has none. A marketing
 * name (`iPhone 14 Pro`, `Galaxy S23`, `OnePlus 12`) is null too: it does not contradict a code
 * (contract/match 15).
 */
export const modelCode = (text: string): string | null => {
	const name = text.trim().toLowerCase().replace(/\s+/g, ' ');
	if (NO_MODEL.has(name)) {
		return null;
	}

	if (/^i(?:phone|pad|pod)/.test(name)) {
		return /^i(?:phone|pad|pod)\d+,\d+$/.test(name) ? name : null;
	}

	const code = withoutManufacturer(name);
	return code?.includes(' ') && !MAYBE_NAMED.test(code) ? null : code;
};

/** Whether a code with a space in it may be a shop's name as well (`Redmi Note 13` is `23129RAA4G`). */
const mayBeShopName = (code: string): boolean => code.includes(' ') && !NAMED_BY_CODE.test(code);

/** Whether two codes are of one model; null if one may be a shop's name of the other. */
export const sameModel = (one: string, other: string): 'same' | 'other' | null => {
	if (one === other) {
		return 'same';
	}

	return mayBeShopName(one) || mayBeShopName(other) ? null : 'other';
};

export type Language = Readonly<{language: string; region: string | null}>;

/** Systems and apps write Norwegian as any of these (contract/match 15). */
const NORWEGIAN = new Set(['nb', 'nn']);

/** Language and region of a tag or a POSIX locale (`zh_Hans_CN`, `en_US.UTF-8`, `en_IR@calendar=gregorian`), or null. */
export const languageOf = memoize((tag): Language | null => {
	try {
		const [name = ''] = tag.trim().split(/[@.]/, 1);
		const {language, region} = new Intl.Locale(name.replaceAll('_', '-'));
		// Longer codes are well-formed, but no language has one.
		return language.length > 3 ? null : {language: NORWEGIAN.has(language) ? 'no' : language, region: region ?? null};
	} catch {
		// The only way to test whether a text is a language tag.
		return null;
	}
});

/** The version in a system name that an SDK reports (`17.5.1`, `14`, `iOS 17.5`); null if there is none. */
export const osVersionOf = (text: string): OsVersion | null =>
	versionFound(/(?<!\d)(\d{1,5})(?:[._](\d{1,5}))?(?:[._](\d{1,5}))?(?!\d)/.exec(text));

type OsComparison = 'samePatch' | 'sameMinor' | 'sameMajor' | 'newerMinor' | 'olderMinor' | 'newerMajor' | 'olderMajor';

/** Compares the app's system version with the click's. A missing patch counts as 0; parts beyond the precision are unknown. */
export const compareOsVersions = (click: OsVersion, app: OsVersion): OsComparison => {
	if (click.major !== app.major) {
		return app.major > click.major ? 'newerMajor' : 'olderMajor';
	}

	const [before, after] = [click, app].map(({minor, precision}) => (precision === 'major' ? null : minor));
	if (before == null || after == null) {
		return 'sameMajor';
	}

	if (before !== after) {
		return after > before ? 'newerMinor' : 'olderMinor';
	}

	return (click.patch ?? 0) === (app.patch ?? 0) ? 'samePatch' : 'sameMinor';
};
