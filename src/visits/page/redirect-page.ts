import {bytesAsText, jsonBlock, render, slotText} from './html.ts';
import {type LinkTexts, linkTextsOf} from './link-texts.ts';
import {type LinkView, sharedUrl} from './link-view.ts';
import {type Offer, type PageVisitor, planPage} from './page-actions.ts';
import type {PageConfig} from './page-script.ts';
import {type PageLanguage, pageStrings} from './page-strings.ts';
import {type Kind, place, showsHost, type Template, templateOf} from './page-template.ts';

/** The visit for which a page is drawn. */
type PageVisit = {
	visitor: PageVisitor;
	language: PageLanguage;
	/** The request sent `Sec-GPC: 1`: no signals are posted. */
	globalPrivacyControl: boolean;
	/** The short URL's QR code as our own markup, with its quiet zone; null for none. */
	qrSvg: string | null;
};

const fillOffer = (texts: string[], {actions}: Offer, first: number): void => {
	let at = first;
	for (const action of actions) {
		texts[at] = slotText(action.href);
		texts[at + 1] = showsHost(action) ? slotText(new URL(action.href).host) : '';
		at += 2;
	}
};

/** A page as its parts: the template of its kind, and the texts of its slots. */
export type PageParts = {template: Template; texts: string[]};

/**
 * A link's page for one visit. A page is drawn once for its kind; a visit fills in the texts of its link, its token and
 * its query.
 * @param shown the texts of the link, if they are at hand.
 */
export const pageParts = (
	link: LinkView,
	{visitor, language, globalPrivacyControl, qrSvg}: PageVisit,
	shown: LinkTexts = linkTextsOf(link),
): PageParts => {
	const plan = planPage(link, visitor);
	const hasSignals = link.token !== null && !globalPrivacyControl;
	const kind: Kind = {
		class: visitor.class,
		plan,
		language,
		has: shown.has,
		hasSignals,
		hasQr: plan.offer.qr && qrSvg !== null,
		hasReport: link.reportUrl !== null,
	};
	const words = pageStrings[language];
	const {token, orgKey, shortCode} = link;
	const config: PageConfig = {
		token,
		...(link.clipboardFormat === 'url' && token !== null ? {copies: `${link.url}#${token}`} : {}),
		signalUrl: hasSignals ? `/${orgKey}/${shortCode}/signals` : null,
		redirectTo: plan.redirectTo,
		hasIpadOffer: plan.ipadOffer !== null,
		codeCopied: words.codeCopied,
		linkCopied: words.linkCopied,
	};
	const texts = [
		...shown.slots,
		slotText(sharedUrl(link)),
		bytesAsText(render(jsonBlock(config))),
		slotText(plan.redirectTo ?? ''),
		slotText(plan.bannerAppStoreId ?? ''),
		qrSvg ?? '',
		slotText(plan.offer.wayOut?.href ?? ''),
		slotText(link.reportUrl ?? ''),
	];
	fillOffer(texts, plan.offer, place.offer);
	if (plan.ipadOffer !== null) {
		fillOffer(texts, plan.ipadOffer, place.ipadOffer);
	}

	return {template: templateOf(kind), texts};
};
