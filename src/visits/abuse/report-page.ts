import {type Html, html, render} from '../page/html.ts';
import {pageHead, pageHeaders, styleOf} from '../page/page-head.ts';
import {directionOf, pageLanguage, translations} from '../page/translations.ts';
import {reportReasons} from './abuse-report-store.ts';

/** The content of the page: the form, with the values of a refused report, or the receipt. */
export type ReportPage =
	| {shows: 'form'; fault: 'invalid' | 'tooMany' | null; values: Readonly<Record<string, string>>}
	| {shows: 'thanks'};

export const MAX_LINK = 2048;
export const MAX_DETAILS = 1000;
export const MAX_EMAIL = 254;

const style = styleOf(new Set(['form']));

const formMarkup = (
	words: (typeof translations)['en'],
	{fault, values}: Extract<ReportPage, {shows: 'form'}>,
): Html => html`<div class="intro">
<h1>${words.heading}</h1>
<p class="about">${words.intro}</p>
${fault !== null && html`<p class="fault" role="alert">${words[fault]}</p>\n`}</div>
<form class="offer" method="post" action="/report">
<label>${words.link}<input name="link" type="url" required maxlength="${MAX_LINK}" dir="ltr" value="${values['link'] ?? ''}"></label>
<fieldset><legend>${words.reason}</legend>
${reportReasons.map(
	(reason) =>
		html`<label class="choice"><input type="radio" name="reason" value="${reason}" required${values['reason'] === reason && html` checked`}><span>${words[reason]}</span></label>\n`,
)}</fieldset>
<label>${words.details}<textarea name="details" rows="4" maxlength="${MAX_DETAILS}" dir="auto">${values['details'] ?? ''}</textarea></label>
<label>${words.email}<input name="email" type="email" maxlength="${MAX_EMAIL}" dir="ltr" autocomplete="email" value="${values['email'] ?? ''}"></label>
<button class="button primary">${words.send}</button>
</form>`;

/** The page in the reader's language. It needs no script. @returns its headers, names and values alternating, and its text. */
export const reportPage = (acceptLanguage: string | undefined, page: ReportPage) => {
	const language = pageLanguage(acceptLanguage);
	const words = translations[language];
	const title = page.shows === 'form' ? words.heading : words.thanks;
	const body = render(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
${pageHead(title, null, style)}
<body>
<main>
<div class="body">
${
	page.shows === 'form'
		? formMarkup(words, page)
		: html`<div class="intro">
<h1>${words.thanks}</h1>
<p class="about">${words.thanksAdvice}</p>
</div>`
}
</div>
</main>
</body>
</html>
`);
	return {
		headers: pageHeaders(language, {style, vary: 'Accept-Language', formAction: "'self'"}),
		body,
	};
};
