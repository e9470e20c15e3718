import {memoize} from '../../platform/memoize.ts';

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
