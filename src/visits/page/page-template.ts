import {LRUCache} from 'lru-cache';
import type {VisitorClass} from '../visit/visitor.ts';
import {socialTags} from './crawler-page.ts';
import {compile, type Html, html, slot, trusted, withSlot} from './html.ts';
import {type LinkTexts, linkPlaces} from './link-texts.ts';
import type {Action, Offer, PagePlan} from './page-actions.ts';
import {pageHead, pageHeaders, scriptOf, styleOf} from './page-head.ts';
import type {scriptParts} from './page-script.ts';
import type {styleParts} from './page-style.ts';
import {directionOf, type PageLanguage, translations, type Words} from './translations.ts';

const AFTER_LINK = Object.keys(linkPlaces).length;
/** Maximum actions of an offer (`page-actions.ts`), each with a host below its label. */
const MAX_ACTIONS = 8;

/** The places of a template: those of its link, then those of the visit. */
export const place = {
	...linkPlaces,
	sharedUrl: AFTER_LINK,
	config: AFTER_LINK + 1,
	redirectTo: AFTER_LINK + 2,
	banner: AFTER_LINK + 3,
	qr: AFTER_LINK + 4,
	wayOut: AFTER_LINK + 5,
	report: AFTER_LINK + 6,
	offer: AFTER_LINK + 7,
	ipadOffer: AFTER_LINK + 7 + 2 * MAX_ACTIONS,
};

/** A kind of page: everything by which its markup differs, besides the texts of its slots. */
export type Kind = {
	class: VisitorClass;
	plan: PagePlan;
	language: PageLanguage;
	has: LinkTexts['has'];
	hasSignals: boolean;
	hasQr: boolean;
	/** Whether people can report the link. */
	hasReport: boolean;
};

/** A link's own website, with the host below its label. */
export const showsHost = ({label, weight}: Action): boolean => label === 'website' && weight !== 'quiet';

/** An action of an offer, with the place of its `href`; the next one is its host's. */
type PlacedAction = Action & {at: number};
const placed = ({actions}: Offer, first: number): PlacedAction[] =>
	actions.map((action, index) => ({...action, at: first + 2 * index}));

const actionLink = (action: PlacedAction, words: Words): Html => {
	const {label, weight, copies, at} = action;
	const names = {...words, appStore: 'App Store', googlePlay: 'Google Play'};
	return html`<a class="${weight === 'quiet' ? weight : `button ${weight}`}" href="${slot(at)}"${copies !== null && html` data-copies="${copies}"`}>${withSlot(
		names[label],
		'{name}',
		place.nameWithin,
	)}${showsHost(action) && html`<bdi class="where" dir="ltr">${slot(at + 1)}</bdi>`}</a>\n`;
};

const shortUrl = html`<p class="url"><bdi dir="ltr">${slot(place.breakableUrl)}</bdi></p>`;

const copyButton = (at: number, words: Words): Html =>
	html`<button type="button" hidden data-copy-link="${slot(at)}">${words.copyLink}</button>`;

const sharePanel = (text: string, words: Words, wayOut?: PlacedAction): Html =>
	html`<div class="panel"><p>${text}</p>${shortUrl}${wayOut && actionLink(wayOut, words)}${copyButton(place.sharedUrl, words)}</div>\n`;

const scanPanel = (words: Words): Html => html`<div class="panel scan">
<div class="qr" role="img" aria-label="${withSlot(words.qrAlt, '{url}', place.url)}">${slot(place.qr)}</div>
<div class="beside"><p>${words.scan}</p>${shortUrl}${copyButton(place.url, words)}</div>
</div>
`;

const isStore = ({label}: Action): boolean => label === 'appStore' || label === 'googlePlay';

const hasPanel = ({actions, hint}: Offer, hasQr: boolean): boolean => hint !== null || (actions.length === 0 && !hasQr);

/**
 * From top to bottom: main link, QR code, other links, hint. Below the first link that copies: a note on the copied
 * text, and the link without copying.
 */
const offerMarkup = (offer: Offer, first: number, words: Words, hasQr: boolean): Html => {
	const actions = placed(offer, first);
	const copying = actions.find(({copies}) => copies !== null);
	const consent = html`<div class="consent"><p>${words.copyNote}</p>\n${actions
		.filter(({label}) => label === 'withoutCopying')
		.map((action) => actionLink(action, words))}</div>\n`;
	const draw = (isWanted: (action: Action) => boolean) =>
		actions.filter(isWanted).map((action) => html`${actionLink(action, words)}${action === copying && consent}`);
	const stores = draw(isStore);
	const isEmpty = actions.length === 0 && !hasQr;
	const text = isEmpty || offer.hint === null ? words.nothing : words.hint.replace('{browser}', offer.hint);
	const wayOut = offer.wayOut && {...offer.wayOut, at: place.wayOut};
	return html`${draw(({weight}) => weight === 'primary')}${hasQr && scanPanel(words)}${draw((action) => action.weight === 'secondary' && !isStore(action))}${
		stores.length > 0 && html`<div class="stores">\n${stores}</div>\n`
	}${draw(({label, weight}) => weight === 'quiet' && label !== 'withoutCopying')}${hasPanel(offer, hasQr) && sharePanel(text, words, wayOut)}`;
};

const cover = html`<figure><img src="${slot(place.image)}" alt="" referrerpolicy="no-referrer"></figure>\n`;

// Over the initial, which shows where the picture cannot be loaded.
const logo = html`<span class="logo"><img src="${slot(place.logo)}" alt="" referrerpolicy="no-referrer"></span>`;

const sender = ({logo: hasLogo, ownTitle}: LinkTexts['has']): Html =>
	html`<p class="sender"><span class="mark" aria-hidden="true">${slot(place.initial)}${hasLogo && logo}</span>${
		ownTitle && html`<bdi>${slot(place.name)}</bdi>`
	}</p>`;

/** The parts of the style and the script that a kind of page needs. */
const partsOf = ({class: name, plan, language, has, hasSignals, hasQr, hasReport}: Kind) => {
	const offers = [plan.offer, plan.ipadOffer].filter((offer) => offer !== null);
	const actions = offers.flatMap((offer) => offer.actions);
	const waits = actions.some((action) => action.copies === 'before');
	const copies = waits || actions.some((action) => action.copies !== null);
	const isApple = name === 'mac-or-ipad' || name.startsWith('ios-');
	const panels = hasQr || offers.some((offer) => hasPanel(offer, offer === plan.offer && hasQr));
	const images = has.cover || has.logo;
	const style: Record<Exclude<keyof typeof styleParts, 'base'>, boolean> = {
		korean: language === 'ko',
		hover: !/^(?:ios|android)-/.test(name),
		hidden: panels || images || plan.ipadOffer !== null,
		status: copies || panels,
		image: images,
		ground: panels || has.cover,
		cover: has.cover,
		logo: has.logo,
		quiet: actions.some(({weight}) => weight === 'quiet'),
		where: actions.some(showsHost),
		stores: actions.some(isStore),
		consent: copies,
		copying: copies || panels,
		panel: panels,
		scan: hasQr,
		form: false,
		report: hasReport,
	};
	const script: Record<Exclude<keyof typeof scriptParts, 'base'>, boolean> = {
		each: copies || panels || images,
		copy: copies || panels,
		copiesBefore: waits,
		copiesAlong: copies && !waits,
		copyLink: panels,
		images,
		ipad: plan.ipadOffer !== null,
		signals: hasSignals,
		sendsAtOnce: hasSignals && isApple,
		sendsHints: hasSignals && !isApple,
		redirect: plan.redirects,
	};
	const wanted = <Name extends string>(parts: Record<Name, boolean>): Set<Name> =>
		new Set((Object.keys(parts) as Name[]).filter((name) => parts[name]));
	return {style: styleOf(wanted(style)), script: scriptOf(wanted(script))};
};

/** The short URL's own page for people: 200; its links work without script (contract/resolution 14 to 20). */
const draw = (kind: Kind) => {
	const {plan, language, has, hasQr, hasReport} = kind;
	const words = translations[language];
	const {style, script} = partsOf(kind);
	const social = socialTags({
		title: slot(place.title),
		description: has.description ? slot(place.description) : null,
		image: has.image ? slot(place.image) : null,
		url: slot(place.url),
		siteName: slot(place.name),
	});
	const page = html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}" prefix="og: https://ogp.me/ns#">
${pageHead(
	slot(place.title),
	html`${social}
${plan.bannerAppStoreId !== null && html`<meta name="apple-itunes-app" content="app-id=${slot(place.banner)}, app-argument=${slot(place.sharedUrl)}">\n`}${
	plan.redirects && html`<noscript><meta http-equiv="refresh" content="0;url=${slot(place.redirectTo)}"></noscript>\n`
}`,
	style,
)}
<body>
<main>
${has.cover && cover}<div class="body">
<div class="intro">
${sender(has)}
<h1 dir="auto">${slot(place.heading)}</h1>
${has.description && html`<p class="about" dir="auto">${slot(place.about)}</p>`}
</div>
<div class="offer" id="offer">
${offerMarkup(plan.offer, place.offer, words, hasQr)}</div>
${plan.ipadOffer && html`<div class="offer" id="ipad-offer" hidden>\n${offerMarkup(plan.ipadOffer, place.ipadOffer, words, false)}</div>`}
<p class="status" id="status" role="status"></p>
${hasReport && html`<p class="report"><a href="${slot(place.report)}">${translations[language].report}</a></p>\n`}</div>
</main>
<script type="application/json" id="config">${slot(place.config)}</script>
<script>${trusted(script)}</script>
</body>
</html>
`;
	return {write: compile(page), headers: pageHeaders(language, {style, script})};
};

const shapeOf = ({actions, hint, wayOut, qr}: Offer): string => {
	let shape = `${hint}${wayOut !== undefined}${qr}`;
	for (const {label, weight, copies} of actions) {
		shape += ` ${label}/${weight}/${copies}`;
	}

	return shape;
};

const keyOf = ({class: name, plan, language, has, hasSignals, hasQr, hasReport}: Kind): string =>
	`${hasReport}${name} ${language} ${has.ownTitle}${has.description}${has.image}${has.cover}${has.logo}${hasSignals}${hasQr}${plan.redirects}${
		plan.bannerAppStoreId !== null
	} ${shapeOf(plan.offer)} ${plan.ipadOffer === null ? '' : shapeOf(plan.ipadOffer)}`;

/** Kinds of pages that are kept drawn: all that one installation's visitors get in practice. */
const MAX_KINDS = 1000;
const drawn = new LRUCache<string, ReturnType<typeof draw>>({max: MAX_KINDS});

export type Template = ReturnType<typeof draw>;

/** The template of a kind of page, drawn once. */
export const templateOf = (kind: Kind): Template => {
	const key = keyOf(kind);
	let template = drawn.get(key);
	if (template === undefined) {
		template = draw(kind);
		drawn.set(key, template);
	}

	return template;
};
