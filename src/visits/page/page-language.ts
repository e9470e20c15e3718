import Negotiator from 'negotiator';
import {memoize} from '../../platform/memoize.ts';
import {type PageLanguage, pageLanguages} from './page-strings.ts';

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
