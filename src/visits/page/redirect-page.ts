import {bytesAsText, jsonBlock, render, slotText} from './html.ts';
import {type LinkTexts, linkTextsOf} from './link-texts.ts';
import {type LinkView, sharedUrl} from './link-view.ts';
import {IPAD, type Offer, type PagePlan, type PageVisitor, planPage, Targets} from './page-actions.ts';
import type {PageConfig} from './page-script.ts';
import {type Kind, place, showsHost, type Template, templateOf} from './page-template.ts';
import {type PageLanguage, translations} from './translations.ts';

/** The visit for which a page is drawn. */
type PageVisit = {
	visitor: PageVisitor;
	language: PageLanguage;
	/** The request sent `Sec-GPC: 1`: no signals are posted. */
	globalPrivacyControl: boolean;
	/** The short URL's QR code as our own markup, with its quiet zone; null for none. */
	qrSvg: string | null;
};

const fillOffer = (texts: string[], {actions}: Offer, targets: Targets, first: number): void => {
	let at = first;
	for (const action of actions) {
		const href = targets[action.target] ?? '';
		texts[at] = slotText(href);
		texts[at + 1] = showsHost(action) ? slotText(new URL(href).host) : '';
		at += 2;
	}
};

/** A page as its parts: its plan, the template of its kind, and the texts of its slots. */
export type PageParts = {plan: PagePlan; template: Template; texts: string[]};

type PageInput = {link: LinkView; visit: PageVisit};

/** Whether the page posts the visitor's signals. */
const hasSignals = ({link, visit}: PageInput): boolean => link.token !== null && !visit.globalPrivacyControl;

const configOf = ({link, visit}: PageInput, {redirects, ipadOffer}: PagePlan, {website}: Targets): PageConfig => {
	const {token, orgKey, shortCode} = link;
	const {codeCopied, linkCopied} = translations[visit.language];
	return {
		token,
		...(link.clipboardFormat === 'url' && token !== null ? {copies: `${link.url}#${token}`} : {}),
		signalUrl: hasSignals({link, visit}) ? `/${orgKey}/${shortCode}/signals` : null,
		redirectTo: redirects ? website : null,
		hasIpadOffer: ipadOffer !== null,
		codeCopied,
		linkCopied,
	};
};

/** Writes the URLs of a page for one visit, with its query. */
const fillUrls = (texts: string[], plan: PagePlan, given: PageInput): void => {
	const {link, visit} = given;
	const {offer, ipadOffer, redirects} = plan;
	const targets = new Targets(link, visit.visitor);
	texts[place.sharedUrl] = slotText(sharedUrl(link));
	texts[place.qr] = visit.qrSvg ?? '';
	texts[place.wayOut] = slotText((offer.wayOut && targets.wayOut) ?? '');
	fillOffer(texts, offer, targets, place.offer);
	if (ipadOffer !== null) {
		fillOffer(texts, ipadOffer, new Targets(link, IPAD), place.ipadOffer);
	}

	if (redirects) {
		texts[place.redirectTo] = slotText(targets.website ?? '');
	}

	// Only the address to which a desktop goes on depends on the query.
	if (redirects || texts[place.config] === undefined) {
		texts[place.config] = bytesAsText(render(jsonBlock(configOf(given, plan, targets))));
	}
};

/**
 * A link's page for one visit. A page is drawn once for its kind; a visit fills in the texts of its link, its token and
 * its query.
 * @param shown the texts of the link, if they are at hand.
 */
export const pageParts = (link: LinkView, visit: PageVisit, shown: LinkTexts = linkTextsOf(link)): PageParts => {
	const plan = planPage(link, visit.visitor);
	const given = {link, visit};
	const kind: Kind = {
		class: visit.visitor.class,
		plan,
		language: visit.language,
		has: shown.has,
		hasSignals: hasSignals(given),
		hasQr: plan.offer.qr && visit.qrSvg !== null,
		hasReport: link.reportUrl !== null,
	};
	const texts = [...shown.slots];
	texts[place.banner] = slotText(plan.bannerAppStoreId ?? '');
	texts[place.report] = slotText(link.reportUrl ?? '');
	fillUrls(texts, plan, given);
	return {plan, template: templateOf(kind), texts};
};

/** The page of the same link, visitor and token for a visit with a query. */
export const withQueryOfVisit = ({plan, template, texts}: PageParts, link: LinkView, visit: PageVisit): PageParts => {
	const own = [...texts];
	fillUrls(own, plan, {link, visit});
	return {plan, template, texts: own};
};
