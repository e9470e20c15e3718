import {LRUCache} from 'lru-cache';
import {randomAlphanumeric} from '../../platform/text.ts';
import type {ResolvedRow} from '../visit/resolved-row.ts';
import {renderCrawlerPage} from './crawler-page.ts';
import {bytesAsText} from './html.ts';
import {type LinkTexts, linkTextsOf} from './link-texts.ts';
import {baseViewOf, type LinkView, sharedUrl, type ViewDeps, viewOfVisit} from './link-view.ts';
import {noticePage} from './notice-page.ts';
import {outwardUrl, type PageVisitor} from './page-actions.ts';
import {pageQr} from './page-qr.ts';
import {type PageParts, pageParts, withQueryOfVisit} from './redirect-page.ts';
import type {PageLanguage} from './translations.ts';

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

/** A page without a query. A visit adds its token, which some of the texts contain, and its query. */
type FilledPage = {parts: PageParts; withToken: Array<{place: number; around: string[]}>};

const filledOf = (parts: PageParts): FilledPage => ({
	parts,
	withToken: [...parts.texts.entries()]
		.filter(([, text]) => text?.includes(TOKEN))
		.map(([place, text]) => ({place, around: text.split(TOKEN)})),
});

/** The parts with the token of a visit. In a copy: texts of a visit in an array that is kept would outlive many scavenges. */
const withTokenOf = ({parts, withToken}: FilledPage, token: string | null): PageParts => {
	if (token === null) {
		return parts;
	}

	const texts = [...parts.texts];
	for (const {place, around} of withToken) {
		texts[place] = around.join(token);
	}

	return {...parts, texts};
};

/** The pages of links. The parts of a page that depend on its link alone are built once for each row. */
export const createPages = (services: ViewDeps) => {
	/** Kept for as long as their rows are cached. */
	const links = new WeakMap<ResolvedRow, {id: number; view: LinkView; texts: LinkTexts}>();
	let lastId = 0;
	/** Drawing one takes longer than all else of a page. */
	const codes = new LRUCache<string, string>({maxSize: MAX_QR_CHARACTERS, sizeCalculation: (svg) => svg.length});
	/** Making the URLs of a page takes as long as the rest of a visit; with a query some are made for each. */
	const filled = new LRUCache<string, FilledPage>({max: MAX_FILLED});

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

	/** The page without a query for all visits that differ by their tokens alone. */
	const filledFor = (row: ResolvedRow, visit: PageVisit): FilledPage => {
		const {id, view, texts} = linkOf(row);
		const {token, visitor, language, globalPrivacyControl, hasQrCode} = visit;
		const {class: name, isIpad, isAndroidFirefox, wayOut} = visitor;
		const key = `${id} ${name} ${language} ${token !== null}${globalPrivacyControl}${isIpad}${isAndroidFirefox} ${wayOut}`;
		const kept = filled.get(key);
		if (kept !== undefined) {
			return kept;
		}

		const visited = viewOfVisit(view, token === null ? null : TOKEN, null);
		const qrSvg = hasQrCode ? codeOf(visited) : null;
		const made = filledOf(pageParts(visited, {visitor, language, globalPrivacyControl, qrSvg}, texts));
		filled.set(key, made);
		return made;
	};

	return {
		/** The page of a visit: headers, names and values alternating, and UTF-8 bytes as one character each. */
		of: (row: ResolvedRow, visit: PageVisit): Page => {
			let parts = withTokenOf(filledFor(row, visit), visit.token);
			if (visit.query !== null) {
				const visited = viewOfVisit(linkOf(row).view, visit.token, visit.query);
				parts = withQueryOfVisit(parts, visited, {...visit, qrSvg: visit.hasQrCode ? codeOf(visited) : null});
			}

			const {template, texts} = parts;
			return {headers: template.headers, body: template.write(texts)};
		},
		/** The page of a link that a list warns of, for people. */
		forWarned: (
			row: ResolvedRow,
			{query, visitor}: Pick<PageVisit, 'query' | 'visitor'>,
			acceptLanguage: string | undefined,
		): Page => {
			const view = viewOfVisit(linkOf(row).view, null, query);
			const {organizationName, reportUrl} = view;
			const href = outwardUrl(view, visitor);
			return noticePage({notice: 'warned', organizationName, acceptLanguage, href, reportUrl});
		},
		/** The page for crawlers, as `of`. */
		forCrawlers: (row: ResolvedRow): string => bytesAsText(renderCrawlerPage(linkOf(row).view)),
	};
};
