import {memoize} from '../../platform/memoize.ts';
import {abuseStrings} from './abuse-strings.ts';
import {compile, html, slot, slotText, withSlot} from './html.ts';
import {type Notice, noticeStrings} from './notice-strings.ts';
import {pageHead, pageHeaders} from './page-head.ts';
import {directionOf, pageLanguage} from './page-language.ts';
import {type PageLanguage, pageStrings} from './page-strings.ts';

/** A page without a link: the URL to which an unknown code leads, or why there is no content. */
type NoticePage = {
	notice: Notice;
	organizationName: string;
	acceptLanguage: string | undefined;
	/** Where its only button leads; null: it has none. */
	href: string | null;
	/** Whether the page redirects by itself. */
	movesOn: boolean;
	vary?: string;
};

/** The parts by which notices differ, besides the texts of their slots. */
type Kind = {language: PageLanguage; notice: Notice; hasButton: boolean; movesOn: boolean};

/** The slots of a notice. */
const place = {initial: 0, name: 1, href: 2, host: 3};

const draw = ({language, notice, hasButton, movesOn}: Kind) => {
	const {blocked, blockedAdvice} = abuseStrings[language];
	const words = {...noticeStrings[language], blocked, blockedAdvice};
	const title = withSlot(words[notice], '{host}', place.host);
	const advice = notice === 'leadsTo' ? null : words[`${notice}Advice`];
	const refresh = movesOn ? html`<meta http-equiv="refresh" content="0;url=${slot(place.href)}">\n` : null;
	return compile(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
${pageHead(title, refresh)}
<body>
<main>
<div class="body">
<div class="intro">
<p class="sender"><span class="mark" aria-hidden="true">${slot(place.initial)}</span><bdi>${slot(place.name)}</bdi></p>
<h1>${title}</h1>
${advice !== null && html`<p class="about">${advice}</p>\n`}</div>
${
	hasButton &&
	html`<div class="offer">
<a class="button primary" href="${slot(place.href)}">${pageStrings[language].website}<bdi class="where" dir="ltr">${slot(place.host)}</bdi></a>
</div>\n`
}</div>
</main>
</body>
</html>
`);
};

const templates = memoize((kind) => draw(JSON.parse(kind) as Kind));

/** The page in the visitor's language. It needs no script. @returns its headers, names and values alternating, and its bytes as text. */
export const noticePage = ({notice, organizationName, acceptLanguage, href, movesOn, ...headers}: NoticePage) => {
	const language = pageLanguage(acceptLanguage);
	const [initial = ''] = organizationName.trim();
	const kind: Kind = {language, notice, hasButton: href !== null, movesOn};
	const host = href === null ? '' : new URL(href).host;
	const texts = [initial.toUpperCase(), organizationName, href ?? '', host].map(slotText);
	const body = templates(JSON.stringify(kind))(texts);
	return {headers: pageHeaders(language, headers), body};
};
