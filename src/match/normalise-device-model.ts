/** What browsers and simulators say where they tell no model. */
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

/** Words that some systems put before the code and others leave out (`SAMSUNG SM-S911B`). */
const MANUFACTURERS = new Set(
	'samsung xiaomi huawei honor oneplus oppo vivo realme google motorola sony lg lge htc lenovo asus zte tcl meizu sharp nothing fairphone'.split(
		' ',
	),
);

const withoutManufacturer = (name: string): string => {
	const [first = ''] = name.split(/[ _]/, 1);
	return first !== name && MANUFACTURERS.has(first) ? name.slice(first.length).replace(/^[ _]+/, '') : name;
};

/** Families whose code on Android really is a name with a space in it, as `Build.MODEL` has it. */
const NAMED_BY_CODE = /^(?:pixel|nexus|redmi|poco|mi|moto|nokia|infinix|tecno|itel|hmd) /;

/**
 * A device's code in one spelling (`iphone15,2`, `sm-s911b`, `pixel 8`), or null where the text names none. A marketing
 * name (`iPhone 14 Pro`, `Galaxy S23`) is null too: against a code it says nothing, and is no contradiction
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
	return code.includes(' ') && !NAMED_BY_CODE.test(code) ? null : code;
};
