import {socialTags} from './crawler-page.ts';
import {type Html, html, jsonBlock, render, trusted} from './html.ts';
import {descriptionOf, imageOf, type LinkView, titleOf} from './link-view.ts';
import {type Action, type Offer, planPage} from './page-actions.ts';
import {type PageConfig, pageScript} from './page-script.ts';
import {directionOf, type PageLanguage, type PageStrings, pageLanguage, pageStrings} from './page-strings.ts';
import {pageStyle} from './page-style.ts';
import type {Visitor} from './visitor.ts';

const TITLE_LENGTH = 70;
const DESCRIPTION_LENGTH = 200;

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

const actionLink = ({label, weight, href, copies}: Action, words: PageStrings): Html => {
	const names = {...words, appStore: 'App Store', googlePlay: 'Google Play'};
	const isQuiet = weight === 'quiet';
	return html`<a class="${isQuiet ? weight : `button ${weight}`}" href="${href}"${copies !== null && html` data-copies="${copies}"`}>${
		names[label]
	}${label === 'website' && !isQuiet && html`<bdi class="where" dir="ltr">${new URL(href).host}</bdi>`}</a>\n`;
};

/** The short URL for people, with a line break opportunity after each slash. */
const shortUrl = ({url}: LinkView): Html => {
	const parts = url.replace(/^https:\/\//, '').split(/(?<=\/)/);
	return html`<p class="url"><bdi dir="ltr">${parts.map((part) => html`${part}<wbr>`)}</bdi></p>`;
};

const copyButton = (link: LinkView, words: PageStrings): Html =>
	html`<button type="button" hidden data-copy-link="${link.url}">${words.copyLink}</button>`;

const sharePanel = (text: string, link: LinkView, words: PageStrings): Html =>
	html`<div class="panel"><p>${text}</p>${shortUrl(link)}${copyButton(link, words)}</div>\n`;

const scanPanel = (qrSvg: string, link: LinkView, words: PageStrings): Html => html`<div class="panel scan">
<div class="qr" role="img" aria-label="${words.qrAlt.replace('{url}', () => link.url)}">${trusted(qrSvg)}</div>
<div class="beside"><p>${words.scan}</p>${shortUrl(link)}${copyButton(link, words)}</div>
</div>
`;

const isStore = ({label}: Action): boolean => label === 'appStore' || label === 'googlePlay';

/** From top to bottom: main link, the copied text and the link without copying, QR code, other links, hint. */
const offerMarkup = ({actions, hint, qr}: Offer, link: LinkView, words: PageStrings, qrSvg: string | null): Html => {
	const draw = (isWanted: (action: Action) => boolean) =>
		actions.filter(isWanted).map((action) => actionLink(action, words));
	const withoutCopying = draw(({label}) => label === 'withoutCopying');
	const stores = draw(isStore);
	const scan = qr && qrSvg !== null && scanPanel(qrSvg, link, words);
	return html`${draw(({weight}) => weight === 'primary')}${
		withoutCopying.length > 0 && html`<div class="consent"><p>${words.copyNote}</p>\n${withoutCopying}</div>\n`
	}${scan}${draw((action) => action.weight === 'secondary' && !isStore(action))}${
		stores.length > 0 && html`<div class="stores">\n${stores}</div>\n`
	}${draw(({label, weight}) => weight === 'quiet' && label !== 'withoutCopying')}${
		hint !== null && sharePanel(words.hint.replace('{browser}', hint), link, words)
	}${actions.length === 0 && !scan && sharePanel(words.nothing, link, words)}`;
};

const cover = (link: LinkView): Html | null => {
	const image = imageOf(link);
	// The policy blocks images over plain http.
	return image?.startsWith('https:')
		? html`<figure><img src="${image}" alt="" referrerpolicy="no-referrer"></figure>\n`
		: null;
};

const sender = ({organizationName}: LinkView, title: string): Html => {
	const [initial = ''] = organizationName.trim();
	return html`<p class="sender"><span class="mark" aria-hidden="true">${initial.toUpperCase()}</span>${
		title !== organizationName && html`<bdi>${organizationName}</bdi>`
	}</p>`;
};

/** The short URL's own page for people: 200; its links work without script (contract/page 1 to 7). */
export const renderRedirectPage = ({
	link,
	visitor,
	acceptLanguage,
	nonce,
	qrSvg,
	globalPrivacyControl = false,
}: {
	link: LinkView;
	visitor: Pick<Visitor, 'class'>;
	acceptLanguage?: string | undefined;
	/** Of `redirectPageHeaders`. */
	nonce: string;
	/** The short URL's QR code as our own markup, with its quiet zone. */
	qrSvg: string | null;
	/** The request sent `Sec-GPC: 1`: no signals are posted. */
	globalPrivacyControl?: boolean;
}): string => {
	const language = pageLanguage(acceptLanguage);
	const words = pageStrings(language);
	const plan = planPage(link, visitor);
	const title = titleOf(link);
	const description = descriptionOf(link);
	const config: PageConfig = {
		token: link.token,
		signalUrl: link.token === null || globalPrivacyControl ? null : `/${link.orgKey}/${link.shortCode}/signals`,
		redirectTo: plan.redirectTo,
		hasIpadOffer: plan.ipadOffer !== null,
		codeCopied: words.codeCopied,
		linkCopied: words.linkCopied,
	};
	return render(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}" prefix="og: https://ogp.me/ns#">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title>
${socialTags(link)}
${plan.bannerAppStoreId !== null && html`<meta name="apple-itunes-app" content="app-id=${plan.bannerAppStoreId}, app-argument=${link.url}">\n`}${
	plan.redirectTo !== null &&
	html`<noscript><meta http-equiv="refresh" content="0;url=${plan.redirectTo}"></noscript>\n`
}<meta name="theme-color" media="(prefers-color-scheme: light)" content="#f3f3ef">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0d0e11">
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trusted(pageStyle)}</style>
</head>
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
<script nonce="${nonce}">${trusted(pageScript)}</script>
</body>
</html>
`);
};

/** The policy of a page (contract/page 5). `nonce`: at least 16 random bytes as base64, new for each response. */
const contentSecurityPolicy = (nonce: string): string =>
	`default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Headers of the page for people (contract/page 5), names and values alternating. `nonce` as in the policy. */
export const redirectPageHeaders = (nonce: string, language: PageLanguage): string[] => [
	'Content-Type',
	'text/html; charset=utf-8',
	'Content-Language',
	language,
	'Cache-Control',
	'no-store',
	'Accept-CH',
	'Sec-CH-Timezone',
	'Vary',
	'User-Agent, Accept-Language',
	'X-Robots-Tag',
	'noindex, nofollow',
	'Referrer-Policy',
	'strict-origin-when-cross-origin',
	'Content-Security-Policy',
	contentSecurityPolicy(nonce),
];
