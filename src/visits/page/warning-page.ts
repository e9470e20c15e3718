import type {IncomingHttpHeaders} from 'node:http';
import {memoize} from '../../platform/memoize.ts';
import {isCrawler, visitorOf} from '../visit/visitor.ts';
import {abuseStrings} from './abuse-strings.ts';
import {bareCrawlerPage, crawlerPageHeaders} from './crawler-page.ts';
import {compile, html, slot, slotText, withSlot} from './html.ts';
import {pageHead, pageHeaders, styleOf} from './page-head.ts';
import {directionOf, pageLanguage} from './page-language.ts';
import {type PageLanguage, pageStrings} from './page-strings.ts';

/** The content of the page of a link that a list warns of. */
type WarningPage = {
	organizationName: string;
	acceptLanguage: string | undefined;
	/** Where the link leads on the visitor's system; null if nowhere without the app. */
	href: string | null;
	/** Where to report the link; null if reports are not taken. */
	reportUrl: string | null;
	vary?: string;
};

type Kind = {language: PageLanguage; hasTarget: boolean; hasReport: boolean};

/** The slots of the page. */
const place = {initial: 0, name: 1, href: 2, host: 3, report: 4};

const style = styleOf(new Set(['ground', 'panel', 'quiet']));

const draw = ({language, hasTarget, hasReport}: Kind) => {
	const words = abuseStrings[language];
	const target = html`<div class="panel"><p class="url"><bdi dir="ltr">${slot(place.href)}</bdi></p></div>
<a class="button" rel="nofollow" href="${slot(place.href)}">${withSlot(words.continueTo, '{host}', place.host)}</a>\n`;
	return compile(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
${pageHead(words.warned, null, style)}
<body>
<main>
<div class="body">
<div class="intro">
<p class="sender"><span class="mark" aria-hidden="true">${slot(place.initial)}</span><bdi>${slot(place.name)}</bdi></p>
<h1>${words.warned}</h1>
<p class="about">${words.warnedAdvice}</p>
</div>
<div class="offer">
${hasTarget ? target : html`<p>${pageStrings[language].nothing}</p>\n`}${hasReport && html`<a class="quiet" href="${slot(place.report)}">${words.report}</a>\n`}</div>
</div>
</main>
</body>
</html>
`);
};

const templates = memoize((kind) => draw(JSON.parse(kind) as Kind));

/** The page in the visitor's language: no script, no redirect, no token. @returns its headers and its bytes as text. */
export const warningPage = ({organizationName, acceptLanguage, href, reportUrl, ...headers}: WarningPage) => {
	const language = pageLanguage(acceptLanguage);
	const [initial = ''] = organizationName.trim();
	const host = href === null ? '' : new URL(href).host;
	const kind: Kind = {language, hasTarget: href !== null, hasReport: reportUrl !== null};
	const texts = [initial.toUpperCase(), organizationName, href ?? '', host, reportUrl ?? ''].map(slotText);
	return {
		headers: pageHeaders(language, {style, script: null, ...headers}),
		body: templates(JSON.stringify(kind))(texts),
	};
};

/** The warning before an address that is no link's: of a domain's root or its unknown codes. Crawlers get the bare page. */
export const warningBefore = (
	href: string,
	{organizationName}: {organizationName: string},
	headers: IncomingHttpHeaders,
) =>
	isCrawler(visitorOf({headers}))
		? {headers: crawlerPageHeaders, body: bareCrawlerPage}
		: warningPage({organizationName, acceptLanguage: headers['accept-language'], href, reportUrl: null});
