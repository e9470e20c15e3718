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
