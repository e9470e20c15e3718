import {html, render} from './html.ts';
import {type Notice, noticeStrings} from './notice-strings.ts';
import {directionOf, pageLanguage} from './page-language.ts';
import {pageStrings} from './page-strings.ts';
import {bytesAsText} from './page-templates.ts';
import {pageHead, redirectPageHeaders} from './redirect-page.ts';

/** A page without a link: the URL to which an unknown code leads, or why there is no content. */
type NoticePage = {
	notice: Notice;
	organizationName: string;
	acceptLanguage: string | undefined;
	/** Where its only button leads; null: it has none. */
	href: string | null;
	/** Whether the page redirects by itself. */
	movesOn: boolean;
};

/** The page in the visitor's language. It needs no script. @returns its headers, names and values alternating, and its bytes as text. */
export const noticePage = ({notice, organizationName, acceptLanguage, href, movesOn}: NoticePage) => {
	const language = pageLanguage(acceptLanguage);
	const host = href === null ? '' : new URL(href).host;
	const [initial = ''] = organizationName.trim();
	const words = noticeStrings[language];
	const title = words[notice].replace('{host}', () => host);
	const advice = notice === 'leadsTo' ? null : words[`${notice}Advice`];
	const page = html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
${pageHead(title, movesOn ? html`<meta http-equiv="refresh" content="0;url=${href}">\n` : null)}
<body>
<main>
<div class="body">
<div class="intro">
<p class="sender"><span class="mark" aria-hidden="true">${initial.toUpperCase()}</span><bdi>${organizationName}</bdi></p>
<h1>${title}</h1>
${advice !== null && html`<p class="about">${advice}</p>\n`}</div>
${
	href !== null &&
	html`<div class="offer">
<a class="button primary" href="${href}">${pageStrings[language].website}<bdi class="where" dir="ltr">${host}</bdi></a>
</div>\n`
}</div>
</main>
</body>
</html>
`;
	return {headers: redirectPageHeaders(language), body: bytesAsText(render(page))};
};
