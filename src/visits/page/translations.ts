import Negotiator from 'negotiator';
import type shipped from '../../../config/translations.json';
import {memoize} from '../../platform/memoize.ts';
import {readConfigFile} from '../../platform/package-root.ts';

/**
 * The pages' own texts by language, in the order of contract/resolution 20; the first is the default. Everything else on
 * a page comes from its link. `{name}` stands for the organization, `{host}` for the host to which the link leads,
 * `{browser}` for Safari or Chrome, `{url}` for the short URL.
 */
export const translations = readConfigFile<typeof shipped>('translations.json');

export type PageLanguage = keyof typeof translations;

/** The texts of a page in one language. */
export type Words = (typeof translations)[PageLanguage];

export const pageLanguages = Object.keys(translations) as PageLanguage[];

const ACCEPT_LANGUAGE_LIMIT = 512;

const languageOf = memoize((header): PageLanguage => {
	const wanted = new Negotiator({headers: {'accept-language': header}}).language(pageLanguages);
	return pageLanguages.find((own) => own === wanted) ?? 'en';
}, 2000);

/** The page's language for an `Accept-Language` header: the best available by q-values, else English. */
export const pageLanguage = (acceptLanguage: string | undefined): PageLanguage =>
	languageOf((acceptLanguage ?? '').slice(0, ACCEPT_LANGUAGE_LIMIT));

/** The language's writing direction. */
export const directionOf = (language: PageLanguage): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');
