import type {LinkView} from '../../../src/visits/page/link-view.ts';
import {planPage, Targets} from '../../../src/visits/page/page-actions.ts';
import {type PageParts, pageParts} from '../../../src/visits/page/redirect-page.ts';
import {pageLanguage} from '../../../src/visits/page/translations.ts';
import type {VisitorClass} from '../../../src/visits/visit/visitor.ts';
import {linkView, matchToken} from '../../fixtures/link-view.ts';

export const qrSvg = '<svg viewBox="0 0 37 37"><path d="M4 4h7"/></svg>';

/** The page as text. */
export const textOf = ({template, texts}: PageParts): string => Buffer.from(template.write(texts), 'latin1').toString();

/** The URLs of the page's links. */
export const hrefsOf = (overrides: Partial<LinkView>, visitorClass: VisitorClass): string[] => {
	const [link, visitor] = [linkView(overrides), {class: visitorClass}];
	const targets = new Targets(link, visitor);
	return planPage(link, visitor).offer.actions.map(({target}) => targets[target] ?? '');
};

export const render = (
	visitorClass: VisitorClass,
	overrides: Partial<LinkView> = {},
	acceptLanguage = 'en',
	code: string | null = qrSvg,
) =>
	textOf(
		pageParts(linkView(overrides), {
			visitor: {class: visitorClass},
			language: pageLanguage(acceptLanguage),
			globalPrivacyControl: false,
			qrSvg: code,
		}),
	);

type Anchor = {text: string; href: string; copies: string | null; isPrimary: boolean};

const decode = (text: string) =>
	text.replace(
		/&(amp|lt|gt|quot|#39);/g,
		(_, name) => ({amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'"})[String(name)] ?? '',
	);

export const anchorsOf = (page: string): Anchor[] =>
	[...page.matchAll(/<a class="([^"]*)" href="([^"]*)"(?: data-copies="([^"]*)")?>([^<]*)/g)].map(
		([, names = '', href = '', copies, text = '']) => ({
			text: decode(text),
			href: decode(href),
			copies: copies ?? null,
			isPrimary: names.includes('primary'),
		}),
	);

export const configOf = (page: string): Record<string, unknown> =>
	JSON.parse(/<script type="application\/json" id="config">(.*?)<\/script>/s.exec(page)?.[1] ?? '');

export const appStore = 'https://apps.apple.com/app/id123456789';
export const play = `https://play.google.com/store/apps/details?id=com.acme.app&referrer=${matchToken}`;
export const intent = `intent://go.example.com/AB12/sale#Intent;scheme=https;package=com.acme.app;S.browser_fallback_url=${encodeURIComponent(play)};end`;
export const website = 'https://shop.example.com/sale?utm_source=mail';
export const openInApp = 'acme://sale/summer?ref=mail';

export const withoutApps = {ios: null, android: []};

export const classes: VisitorClass[] = [
	'ios-browser',
	'ios-inapp',
	'android-browser',
	'android-inapp',
	'mac-or-ipad',
	'desktop',
	'unknown',
];
