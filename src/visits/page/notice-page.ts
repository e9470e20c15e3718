import type {IncomingHttpHeaders} from 'node:http';
import {memoize} from '../../platform/memoize.ts';
import {isCrawler, visitorOf} from '../visit/visitor.ts';
import {bareCrawlerPage, crawlerPageHeaders} from './crawler-page.ts';
import {compile, html, slot, slotText, withSlot} from './html.ts';
import {pageHead, pageHeaders, styleOf} from './page-head.ts';
import {directionOf, type PageLanguage, pageLanguage, translations} from './translations.ts';

/** The reason for a page that replaces a link's page. */
type Notice = 'leadsTo' | 'notFound' | 'gone' | 'blocked' | 'warned';

/** A page that replaces a link's page: it leads to a URL, or says why there is no content. */
type NoticePage = {
	notice: Notice;
	organizationName: string;
	acceptLanguage: string | undefined;
	/** The target of its only button; null: it has none. */
	href: string | null;
	/** Whether the page redirects by itself. */
	redirects?: boolean;
	/** Where to report the link; null: nowhere. */
	reportUrl?: string | null;
	vary?: string;
};

/** The parts by which notices differ, besides the texts of their slots. */
type Kind = {language: PageLanguage; notice: Notice; hasButton: boolean; redirects: boolean; hasReport: boolean};

/** The slots of a notice. */
const slots = {initial: 0, name: 1, href: 2, host: 3, report: 4};

/** The warning shows the whole address as text. */
const warning = {style: styleOf(new Set(['ground', 'panel', 'quiet'])), script: null};

/** The content of a warning: the target, its button, and the link for reports. */
const warnedOffer = ({language, hasButton, hasReport}: Kind) => {
	const words = translations[language];
	const target = html`<div class="panel"><p class="url"><bdi dir="ltr">${slot(slots.href)}</bdi></p></div>
<a class="button" rel="nofollow" href="${slot(slots.href)}">${withSlot(words.continueTo, '{host}', slots.host)}</a>\n`;
	return html`<div class="offer">
${hasButton ? target : html`<p>${translations[language].nothing}</p>\n`}${hasReport && html`<a class="quiet" href="${slot(slots.report)}">${words.report}</a>\n`}</div>\n`;
};

const draw = (kind: Kind) => {
	const {language, notice, hasButton, redirects} = kind;
	const words = translations[language];
	const title = withSlot(words[notice], '{host}', slots.host);
	const advice = notice === 'leadsTo' ? null : words[`${notice}Advice`];
	const refresh = redirects ? html`<meta http-equiv="refresh" content="0;url=${slot(slots.href)}">\n` : null;
	const button =
		hasButton &&
		html`<div class="offer">
<a class="button primary" href="${slot(slots.href)}">${translations[language].website}<bdi class="where" dir="ltr">${slot(slots.host)}</bdi></a>
</div>\n`;
	return compile(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
${pageHead(title, refresh, notice === 'warned' ? warning.style : undefined)}
<body>
<main>
<div class="body">
<div class="intro">
<p class="sender"><span class="mark" aria-hidden="true">${slot(slots.initial)}</span><bdi>${slot(slots.name)}</bdi></p>
<h1>${title}</h1>
${advice !== null && html`<p class="about">${advice}</p>\n`}</div>
${notice === 'warned' ? warnedOffer(kind) : button}</div>
</main>
</body>
</html>
`);
};

const templates = memoize((kind) => draw(JSON.parse(kind) as Kind));

/** The page in the visitor's language. It needs no script. @returns its headers, names and values alternating, and its bytes as text. */
export const noticePage = ({
	notice,
	organizationName,
	acceptLanguage,
	href,
	redirects = false,
	reportUrl = null,
	...headers
}: NoticePage) => {
	const language = pageLanguage(acceptLanguage);
	const [initial = ''] = organizationName.trim();
	const kind: Kind = {language, notice, hasButton: href !== null, redirects, hasReport: reportUrl !== null};
	const host = href === null ? '' : new URL(href).host;
	const texts = [initial.toUpperCase(), organizationName, href ?? '', host, reportUrl ?? ''].map(slotText);
	const body = templates(JSON.stringify(kind))(texts);
	return {headers: pageHeaders(language, notice === 'warned' ? {...warning, ...headers} : headers), body};
};

/** The warning before the website of a domain's root or of its unknown codes. Crawlers get the bare page. */
export const warningBefore = (
	href: string,
	{organizationName}: {organizationName: string},
	headers: IncomingHttpHeaders,
) =>
	isCrawler(visitorOf({headers}))
		? {headers: crawlerPageHeaders, body: bareCrawlerPage}
		: noticePage({notice: 'warned', organizationName, acceptLanguage: headers['accept-language'], href});
