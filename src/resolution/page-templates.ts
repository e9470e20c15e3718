import type {Addresses} from '../config/config.ts';
import {qrSvg} from '../links/qr/qr-svg.ts';
import {randomAlphanumeric} from '../random-text.ts';
import {type LinkView, linkViewOf, sharedUrl, urlOf} from './link-view.ts';
import {pageScript} from './page-script.ts';
import type {PageLanguage} from './page-strings.ts';
import {pageStyle} from './page-style.ts';
import {renderRedirectPage} from './redirect-page.ts';
import type {ResolvedRow} from './resolved-row.ts';
import {rowBytes} from './row-bytes.ts';
import type {VisitorClass} from './visitor.ts';

/** The inputs of a page beside its link. */
type PageKind = {
	class: VisitorClass;
	language: PageLanguage;
	globalPrivacyControl: boolean;
	/** Whether the page carries a token. */
	hasToken: boolean;
	hasQrCode: boolean;
	/** As `wayOutOf`. */
	wayOut: string | null;
	/** Whether the page is one for iPads: only where the link leads them elsewhere than phones. */
	isIpad: boolean;
	/** The query of the visit; null if there is none. */
	query: LinkView['query'];
};

/**
 * Writes a page with its token, as UTF-8 bytes, one character per byte, so that writing it as `latin1` needs no encoding.
 */
export type PageTemplate = (token: string | null) => string;

/** Bytes of cached pages and their links. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Overhead of a link, and of a page beside the characters of its parts. */
const BYTES_PER_LINK = 300;
const BYTES_PER_PAGE = 400;
const BYTES_PER_PART = 32;

/** The longest URL that is drawn with a visit's query, in about 2 ms. */
const MOST_IN_CODE = 200;

/** The bytes of a text in UTF-8, as one character each. */
export const bytesAsText = (text: string): string => Buffer.from(text).toString('latin1');

// As long as the value it stands for and of the same alphabet, but random, so that no author of a link can guess it.
const TOKEN = `opl_${randomAlphanumeric(32)}`;

/** Four fifths of a page are common to all; they are stored once. */
const SHARED = [pageStyle, pageScript].map(bytesAsText);
const MARKERS = [TOKEN, ...SHARED];

/** A copy that does not retain the whole page in memory, as a V8 slice would. */
const ownCopy = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** The parts of a page. Equal markers share one string. */
const partsOf = (page: string): string[] => {
	let parts = [bytesAsText(page)];
	for (const marker of MARKERS) {
		parts = parts.flatMap((part) =>
			part.split(marker).flatMap((piece, index) => (index === 0 ? [piece] : [marker, piece])),
		);
	}

	return parts.map((part) => MARKERS.find((marker) => marker === part) ?? ownCopy(part));
};

/** Joined as text: copying bytes into a buffer per answer costs more than writing an existing string. */
const templateOf =
	(parts: readonly string[]): PageTemplate =>
	(token) => {
		let filled = '';
		for (const part of parts) {
			filled += part === TOKEN ? token : part;
		}

		return filled;
	};

/** The pages of a link, by kind. */
type Kept = {templates: Map<string, PageTemplate | Promise<PageTemplate>>; bytes: number};

/** A cache of templates for the most requested links. */
export const createPageTemplates = (services: {addresses: Addresses}) => {
	/** Least recently used first. A changed link is read again as a new row, and the old one is evicted in time. */
	const kept = new Map<ResolvedRow, Kept>();
	let bytes = 0;

	const take = (pages: Kept, more: number) => {
		pages.bytes += more;
		bytes += more;
	};

	const drop = (row: ResolvedRow) => {
		bytes -= kept.get(row)?.bytes ?? 0;
		kept.delete(row);
	};

	/** The link's pages, now marked as most recently used. */
	const use = (row: ResolvedRow): Kept => {
		const known = kept.get(row);
		const pages = known ?? {templates: new Map(), bytes: 0};
		kept.delete(row);
		kept.set(row, pages);
		if (known === undefined) {
			// A row evicted from the link cache stays alive here.
			take(pages, BYTES_PER_LINK + rowBytes(row));
		}

		return pages;
	};

	const keep = (key: string, row: ResolvedRow, page: string): PageTemplate => {
		const parts = partsOf(page);
		const template = templateOf(parts);
		const pages = use(row);
		pages.templates.set(key, template);
		take(
			pages,
			parts.reduce(
				(sum, part) => sum + BYTES_PER_PART + (MARKERS.includes(part) ? 0 : part.length),
				BYTES_PER_PAGE + key.length,
			),
		);
		while (bytes > MOST_BYTES) {
			const [oldest = row] = kept.keys();
			drop(oldest);
		}

		return template;
	};

	const draw = (row: ResolvedRow, kind: PageKind, code: string | null, token: string | null): string =>
		renderRedirectPage({
			link: linkViewOf(services, row, token, kind.query),
			visitor: kind,
			language: kind.language,
			globalPrivacyControl: kind.globalPrivacyControl,
			qrSvg: code,
		});

	/** The page of one visit with its query. Its code is without it where it would take long to draw, and to scan. */
	const drawOnce = async (row: ResolvedRow, kind: PageKind): Promise<PageTemplate> => {
		const view = linkViewOf(services, row, null, kind.query);
		const shared = sharedUrl(view);
		const code = kind.hasQrCode ? await qrSvg(shared.length > MOST_IN_CODE ? view.url : shared) : null;
		return (token) => bytesAsText(draw(row, kind, code, token));
	};

	return {
		/** The template of a link's page, which is not kept if it has a query; a promise while its QR code is being drawn. */
		of: (row: ResolvedRow, kind: PageKind): PageTemplate | Promise<PageTemplate> => {
			if (kind.query !== null) {
				return drawOnce(row, kind);
			}

			const key = `${kind.class} ${kind.language} ${Number(kind.globalPrivacyControl)}${Number(kind.hasToken)}${Number(kind.isIpad)}${kind.wayOut ?? ''}`;
			const {templates} = use(row);
			const found = templates.get(key);
			if (found !== undefined) {
				return found;
			}

			const token = kind.hasToken ? TOKEN : null;
			if (!kind.hasQrCode) {
				return keep(key, row, draw(row, kind, null, token));
			}

			const drawing = qrSvg(urlOf(services, row)).then((code) => keep(key, row, draw(row, kind, code, token)));
			templates.set(key, drawing);
			return drawing;
		},
	};
};

export type PageTemplates = ReturnType<typeof createPageTemplates>;
