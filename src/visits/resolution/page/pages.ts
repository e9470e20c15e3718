import {LRUCache} from 'lru-cache';
import {qrSvg} from '../../../links/links/qr/qr-svg.ts';
import type {Addresses} from '../../../platform/config/config.ts';
import type {ResolvedRow} from '../visit/resolved-row.ts';
import {renderCrawlerPage} from './crawler-page.ts';
import {bytesAsText} from './html.ts';
import {type LinkTexts, linkTextsOf} from './link-texts.ts';
import {baseViewOf, type LinkView, sharedUrl, viewOfVisit} from './link-view.ts';
import type {PageVisitor} from './page-actions.ts';
import type {PageLanguage} from './page-strings.ts';
import {redirectPage} from './redirect-page.ts';

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

/** Characters of cached QR codes: those of some 1,500 links. */
const MAX_QR_CHARACTERS = 4 * 1024 * 1024;

/** The longest URL that is drawn with a visit's query, in about 2 ms. */
const MAX_IN_CODE = 200;

/** The pages of links. What a page shows of its link alone is worked out once for each row. */
export const createPages = (services: {addresses: Addresses}) => {
	/** As long as their rows are cached. */
	const links = new WeakMap<ResolvedRow, {view: LinkView; texts: LinkTexts}>();
	/** Drawing one takes longer than all else of a page. */
	const codes = new LRUCache<string, string>({maxSize: MAX_QR_CHARACTERS, sizeCalculation: (svg) => svg.length});

	const linkOf = (row: ResolvedRow) => {
		let known = links.get(row);
		if (known === undefined) {
			const view = baseViewOf(services, row);
			known = {view, texts: linkTextsOf(view)};
			links.set(row, known);
		}

		return known;
	};

	/** The QR code of a link; with a visit's query unless it would take long to draw, and to scan. */
	const codeOf = async (view: LinkView): Promise<string> => {
		const shared = sharedUrl(view);
		if (shared !== view.url && shared.length <= MAX_IN_CODE) {
			return qrSvg(shared);
		}

		const kept = codes.get(view.url) ?? (await qrSvg(view.url));
		codes.set(view.url, kept);
		return kept;
	};

	return {
		/** The page of a visit: headers, names and values alternating, and UTF-8 bytes as one character each. */
		of: async (
			row: ResolvedRow,
			{token, query, hasQrCode, ...visit}: PageVisit,
		): Promise<{headers: readonly string[]; body: string}> => {
			const {view, texts} = linkOf(row);
			const visited = viewOfVisit(view, token, query);
			return redirectPage(visited, {...visit, qrSvg: hasQrCode ? await codeOf(visited) : null}, texts);
		},
		/** The page for crawlers, as `of`. */
		forCrawlers: (row: ResolvedRow): string => bytesAsText(renderCrawlerPage(linkOf(row).view)),
	};
};
