import {createHash} from 'node:crypto';
import {socialTags} from './crawler-page.ts';
import {type Html, html, jsonBlock, render, trusted} from './html.ts';
import {descriptionOf, imageOf, type LinkView, logoOf, sharedUrl, titleOf} from './link-view.ts';
import {type Action, type Offer, type PageVisitor, planPage} from './page-actions.ts';
import {directionOf} from './page-language.ts';
import {type PageConfig, pageScript} from './page-script.ts';
import {type PageLanguage, type PageStrings, pageStrings} from './page-strings.ts';
import {pageStyle} from './page-style.ts';

const TITLE_LENGTH = 70;
const DESCRIPTION_LENGTH = 200;
const NAME_LENGTH = 50;

/** Truncates the text to a number of graphemes, so that no emoji is cut in two. */
const clamp = (text: string, length: number): string => {
	if (text.length <= length) {
		return text;
	}

	const characters = [...new Intl.Segmenter().segment(text)].map(({segment}) => segment);
	return characters.length <= length
		? text
		: `${characters
				.slice(0, length - 1)
				.join('')
				.trimEnd()}…`;
};

/** Letters of right-to-left scripts, and controls of direction. */
const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;

/** The organization's name within a button's text, isolated where it might turn the words around it. */
const nameWithin = ({organizationName}: LinkView): string => {
	const name = clamp(organizationName, NAME_LENGTH);
	return TURNS.test(name) ? `\u2068${name}\u2069` : name;
};

const actionLink = ({label, weight, href, copies}: Action, link: LinkView, words: PageStrings): Html => {
	const names = {...words, appStore: 'App Store', googlePlay: 'Google Play'};
	const isQuiet = weight === 'quiet';
	return html`<a class="${isQuiet ? weight : `button ${weight}`}" href="${href}"${copies !== null && html` data-copies="${copies}"`}>${names[
		label
	].replace('{name}', () =>
		nameWithin(link),
	)}${label === 'website' && !isQuiet && html`<bdi class="where" dir="ltr">${new URL(href).host}</bdi>`}</a>\n`;
};

/** The short URL for people, with a line break opportunity after each slash. */
const shortUrl = ({url}: LinkView): Html => {
	const parts = url.replace(/^https:\/\//, '').split(/(?<=\/)/);
	return html`<p class="url"><bdi dir="ltr">${parts.map((part) => html`${part}<wbr>`)}</bdi></p>`;
};

const copyButton = (url: string, words: PageStrings): Html =>
	html`<button type="button" hidden data-copy-link="${url}">${words.copyLink}</button>`;

const sharePanel = (text: string, link: LinkView, words: PageStrings, wayOut?: Action): Html =>
	html`<div class="panel"><p>${text}</p>${shortUrl(link)}${wayOut && actionLink(wayOut, link, words)}${copyButton(sharedUrl(link), words)}</div>\n`;

const scanPanel = (qrSvg: string, link: LinkView, words: PageStrings): Html => html`<div class="panel scan">
<div class="qr" role="img" aria-label="${words.qrAlt.replace('{url}', () => link.url)}">${trusted(qrSvg)}</div>
<div class="beside"><p>${words.scan}</p>${shortUrl(link)}${copyButton(link.url, words)}</div>
</div>
`;

const isStore = ({label}: Action): boolean => label === 'appStore' || label === 'googlePlay';

/**
 * From top to bottom: main link, QR code, other links, hint. Below the first link that copies: what it copies, and the
 * link without copying.
 */
const offerMarkup = (
	{actions, hint, wayOut, qr}: Offer,
	link: LinkView,
	words: PageStrings,
	qrSvg: string | null,
): Html => {
	const copying = actions.find(({copies}) => copies !== null);
	const consent = html`<div class="consent"><p>${words.copyNote}</p>\n${actions
		.filter(({label}) => label === 'withoutCopying')
		.map((action) => actionLink(action, link, words))}</div>\n`;
	const draw = (isWanted: (action: Action) => boolean) =>
		actions.filter(isWanted).map((action) => html`${actionLink(action, link, words)}${action === copying && consent}`);
	const stores = draw(isStore);
	const scan = qr && qrSvg !== null && scanPanel(qrSvg, link, words);
	const isEmpty = actions.length === 0 && !scan;
	const panelText = isEmpty ? words.nothing : hint && words.hint.replace('{browser}', hint);
	return html`${draw(({weight}) => weight === 'primary')}${scan}${draw((action) => action.weight === 'secondary' && !isStore(action))}${
		stores.length > 0 && html`<div class="stores">\n${stores}</div>\n`
	}${draw(({label, weight}) => weight === 'quiet' && label !== 'withoutCopying')}${panelText !== null && sharePanel(panelText, link, words, wayOut)}`;
};

const cover = (link: LinkView): Html | null => {
	const image = imageOf(link);
	// The policy blocks images over plain http.
	return image?.startsWith('https:')
		? html`<figure><img src="${image}" alt="" referrerpolicy="no-referrer"></figure>\n`
		: null;
};

const sender = (link: LinkView, title: string): Html => {
	const {organizationName} = link;
	const [initial = ''] = organizationName.trim();
	const logo = logoOf(link);
	// Over the initial, which shows where the picture cannot be loaded.
	const picture = logo && html`<span class="logo"><img src="${logo}" alt="" referrerpolicy="no-referrer"></span>`;
	return html`<p class="sender"><span class="mark" aria-hidden="true">${initial.toUpperCase()}${picture}</span>${
		title !== organizationName && html`<bdi>${organizationName}</bdi>`
	}</p>`;
};

/** The head of every page for people. @param tags come before those of its appearance. */
export const pageHead = (title: string, tags: Html | null, style = pageStyle): Html => html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title>
${tags}<meta name="theme-color" media="(prefers-color-scheme: light)" content="#f3f3ef">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0d0e11">
<link rel="icon" href="data:,">
<style>${trusted(style)}</style>
</head>`;

/** The short URL's own page for people: 200; its links work without script (contract/resolution 14 to 20). */
export const renderRedirectPage = ({
	link,
	visitor,
	language = 'en',
	qrSvg,
	globalPrivacyControl = false,
	texts = {style: pageStyle, script: pageScript},
}: {
	link: LinkView;
	visitor: PageVisitor;
	language?: PageLanguage;
	/** The short URL's QR code as our own markup, with its quiet zone. */
	qrSvg: string | null;
	/** The request sent `Sec-GPC: 1`: no signals are posted. */
	globalPrivacyControl?: boolean;
	/** Placeholders for the style and the script, which are the same for all pages. */
	texts?: {style: string; script: string};
}): string => {
	const words = pageStrings[language];
	const plan = planPage(link, visitor);
	const title = titleOf(link);
	const description = descriptionOf(link);
	const copies = link.clipboardFormat === 'url' && link.token !== null ? `${link.url}#${link.token}` : null;
	const config: PageConfig = {
		token: link.token,
		...(copies === null ? {} : {copies}),
		signalUrl: link.token === null || globalPrivacyControl ? null : `/${link.orgKey}/${link.shortCode}/signals`,
		redirectTo: plan.redirectTo,
		hasIpadOffer: plan.ipadOffer !== null,
		codeCopied: words.codeCopied,
		linkCopied: words.linkCopied,
	};
	return render(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}" prefix="og: https://ogp.me/ns#">
${pageHead(
	title,
	html`${socialTags(link)}
${plan.bannerAppStoreId !== null && html`<meta name="apple-itunes-app" content="app-id=${plan.bannerAppStoreId}, app-argument=${sharedUrl(link)}">\n`}${
	plan.redirectTo !== null &&
	html`<noscript><meta http-equiv="refresh" content="0;url=${plan.redirectTo}"></noscript>\n`
}`,
	texts.style,
)}
<body>
<main>
${cover(link)}<div class="body">
<div class="intro">
${sender(link, title)}
<h1 dir="auto">${clamp(title, TITLE_LENGTH)}</h1>
${description !== null && html`<p class="about" dir="auto">${clamp(description, DESCRIPTION_LENGTH)}</p>`}
</div>
<div class="offer" id="offer">
${offerMarkup(plan.offer, link, words, qrSvg)}</div>
${plan.ipadOffer && html`<div class="offer" id="ipad-offer" hidden>\n${offerMarkup(plan.ipadOffer, link, words, null)}</div>`}
<p class="status" id="status" role="status"></p>
</div>
</main>
<script type="application/json" id="config">${jsonBlock(config)}</script>
<script>${trusted(texts.script)}</script>
</body>
</html>
`);
};

/** The source of a policy that allows an inline text and no other. */
const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The policy of a page (contract/resolution 18): its one script and its one style, which are the same for all pages. */
const POLICY = `default-src 'none'; script-src ${sourceOf(pageScript)}; style-src ${sourceOf(pageStyle)}; img-src https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const HEADERS = Object.entries({
	'Cache-Control': 'no-store',
	'Accept-CH': 'Sec-CH-Timezone',
	Vary: 'User-Agent, Accept-Language',
	'X-Robots-Tag': 'noindex, nofollow',
	'Referrer-Policy': 'strict-origin-when-cross-origin',
	'Content-Security-Policy': POLICY,
}).flat();

/** Headers of the page for people (contract/resolution 18), names and values alternating. */
export const redirectPageHeaders = (language: PageLanguage): string[] => [
	'Content-Type',
	'text/html; charset=utf-8',
	'Content-Language',
	language,
	...HEADERS,
];
