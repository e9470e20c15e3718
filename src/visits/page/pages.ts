import {LRUCache} from 'lru-cache';
import {randomAlphanumeric} from '../../platform/random-text.ts';
import type {ResolvedRow} from '../visit/resolved-row.ts';
import {renderCrawlerPage} from './crawler-page.ts';
import {bytesAsText} from './html.ts';
import {type LinkTexts, linkTextsOf} from './link-texts.ts';
import {baseViewOf, type LinkView, sharedUrl, type ViewDeps, viewOfVisit} from './link-view.ts';
import {outwardUrl, type PageVisitor} from './page-actions.ts';
import {pageQr} from './page-qr.ts';
import type {PageLanguage} from './page-strings.ts';
import {type PageParts, pageParts} from './redirect-page.ts';
import {warningPage} from './warning-page.ts';

/** The inputs of a page beside its link. */
type PageVisit = {
	visitor: PageVisitor;
	language: PageLanguage;
	globalPrivacyControl: boolean;
	token: string | null;
	hasQrCode: boolean;
	/** The query of the visit; null if there is none. */
	query: LinkView['query'];
};

type Page = {headers: readonly string[]; body: string};

/** Characters of cached QR codes: those of some 1,500 links. */
const MAX_QR_CHARACTERS = 4 * 1024 * 1024;

/** The longest URL that is drawn with a visit's query, in about 0.2 ms. */
const MAX_IN_CODE = 200;

/** Kinds of visits, over all links, whose texts are kept: about a kilobyte each. */
const MAX_FILLED = 10_000;

// Length and alphabet of a token, but random: no author of a link can guess it.
const TOKEN = `opl_${randomAlphanumeric(32)}`;

/** The texts of a page without a query. A visit adds its token alone, which some of them contain. */
type Filled = PageParts & {withToken: Array<{place: number; parts: string[]}>};

const filledOf = ({template, texts}: PageParts): Filled => ({
	template,
	texts,
	withToken: [...texts.entries()]
		.filter(([, text]) => text?.includes(TOKEN))
		.map(([place, text]) => ({place, parts: text.split(TOKEN)})),
});

const pageOf = ({template: {headers, write}, texts, withToken}: Filled, token: string | null): Page => {
	if (token !== null) {
		for (const {place, parts} of withToken) {
			texts[place] = parts.join(token);
		}
	}

	return {headers, body: write(texts)};
};

/** The pages of links. The parts of a page that depend on its link alone are built once for each row. */
export const createPages = (services: ViewDeps) => {
	/** As long as their rows are cached. */
	const links = new WeakMap<ResolvedRow, {id: number; view: LinkView; texts: LinkTexts}>();
	let lastId = 0;
	/** Drawing one takes longer than all else of a page. */
	const codes = new LRUCache<string, string>({maxSize: MAX_QR_CHARACTERS, sizeCalculation: (svg) => svg.length});
	/** Making the URLs of a page takes as long as the rest of a visit; with a query they are made for each. */
	const filled = new LRUCache<string, Filled>({max: MAX_FILLED});

	const linkOf = (row: ResolvedRow) => {
		let known = links.get(row);
		if (known === undefined) {
			const view = baseViewOf(services, row);
			lastId += 1;
			known = {id: lastId, view, texts: linkTextsOf(view)};
			links.set(row, known);
		}

		return known;
	};

	/** The QR code of a link; with a visit's query unless it would take long to draw, and to scan. */
	const codeOf = (view: LinkView): string => {
		const shared = sharedUrl(view);
		if (shared !== view.url && shared.length <= MAX_IN_CODE) {
			return pageQr(shared);
		}

		const kept = codes.get(view.url) ?? pageQr(view.url);
		codes.set(view.url, kept);
		return kept;
	};

	/** @param token TOKEN for texts that are kept. */
	const partsOf = (row: ResolvedRow, token: string | null, visit: PageVisit): PageParts => {
		const {view, texts} = linkOf(row);
		const {visitor, language, globalPrivacyControl} = visit;
		const visited = viewOfVisit(view, token, visit.query);
		const code = visit.hasQrCode ? codeOf(visited) : null;
		return pageParts(visited, {visitor, language, globalPrivacyControl, qrSvg: code}, texts);
	};

	return {
		/** The page of a visit: headers, names and values alternating, and UTF-8 bytes as one character each. */
		of: (row: ResolvedRow, visit: PageVisit): Page => {
			const {token, query, visitor, language, globalPrivacyControl} = visit;
			if (query !== null) {
				const {template, texts} = partsOf(row, token, visit);
				return {headers: template.headers, body: template.write(texts)};
			}

			const {class: name, isIpad, isAndroidFirefox, wayOut} = visitor;
			const key = `${linkOf(row).id} ${name} ${language} ${token !== null}${globalPrivacyControl}${isIpad}${isAndroidFirefox} ${wayOut}`;
			const kept = filled.get(key) ?? filledOf(partsOf(row, token === null ? null : TOKEN, visit));
			filled.set(key, kept);
			return pageOf(kept, token);
		},
		/** The page of a link that a list warns of, for people. */
		forWarned: (
			row: ResolvedRow,
			{query, visitor}: Pick<PageVisit, 'query' | 'visitor'>,
			acceptLanguage: string | undefined,
		): Page => {
			const view = viewOfVisit(linkOf(row).view, null, query);
			const {organizationName, reportUrl} = view;
			return warningPage({organizationName, acceptLanguage, href: outwardUrl(view, visitor), reportUrl});
		},
		/** The page for crawlers, as `of`. */
		forCrawlers: (row: ResolvedRow): string => bytesAsText(renderCrawlerPage(linkOf(row).view)),
	};
};
