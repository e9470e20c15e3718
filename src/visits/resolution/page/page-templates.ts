import {LRUCache} from 'lru-cache';
import {qrSvg} from '../../../links/links/qr/qr-svg.ts';
import type {Addresses} from '../../../platform/config/config.ts';
import {randomAlphanumeric} from '../../../platform/random-text.ts';
import type {ResolvedRow} from '../visit/resolved-row.ts';
import {rowBytes} from '../visit/row-bytes.ts';
import type {VisitorClass} from '../visit/visitor.ts';
import {type LinkView, linkViewOf, sharedUrl, urlOf} from './link-view.ts';
import {pageScript} from './page-script.ts';
import type {PageLanguage} from './page-strings.ts';
import {pageStyle} from './page-style.ts';
import {renderRedirectPage} from './redirect-page.ts';

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
	/** As in `PageVisitor`. */
	isAndroidFirefox: boolean;
	/** The query of the visit; null if there is none. */
	query: LinkView['query'];
};

/**
 * Writes a page with its token, as UTF-8 bytes, one character per byte, so that writing it as `latin1` needs no encoding.
 */
type PageTemplate = (token: string | null) => string;

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

/** Placeholders of the style and the script: four fifths of a page are common to all, and are stored once. */
const texts = {style: randomAlphanumeric(32), script: randomAlphanumeric(32)};
const SHARED = new Map([
	[texts.style, bytesAsText(pageStyle)],
	[texts.script, bytesAsText(pageScript)],
]);
const PLACEHOLDER = new RegExp(`(${[TOKEN, ...SHARED.keys()].join('|')})`);

/** A copy that does not retain the whole page in memory, as a V8 slice would. */
const ownCopy = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** The parts of a page drawn with placeholders, and what those take that are not shared. */
const partsOf = (page: string): {parts: string[]; bytes: number} => {
	const pieces = bytesAsText(page).split(PLACEHOLDER);
	return {
		parts: pieces.map((piece) => SHARED.get(piece) ?? (piece === TOKEN ? TOKEN : ownCopy(piece))),
		bytes: pieces.reduce((sum, piece) => sum + BYTES_PER_PART + piece.length, 0),
	};
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
type Kept = {templates: Map<string, Promise<PageTemplate>>; bytes: number};

/** A cache of templates for the most requested links. */
export const createPageTemplates = (services: {addresses: Addresses}) => {
	/** A changed link is read again as a new row, and the old one is evicted in time. */
	const kept = new LRUCache<ResolvedRow, Kept>({maxSize: MOST_BYTES, sizeCalculation: ({bytes}) => bytes});

	const draw = (row: ResolvedRow, kind: PageKind, code: string | null, token: string | null, shared = {}): string =>
		renderRedirectPage({
			link: linkViewOf(services, row, token, kind.query),
			visitor: kind,
			language: kind.language,
			globalPrivacyControl: kind.globalPrivacyControl,
			qrSvg: code,
			...shared,
		});

	/** The page of one visit with its query. Its code is without it where it would take long to draw, and to scan. */
	const drawOnce = async (row: ResolvedRow, kind: PageKind): Promise<PageTemplate> => {
		const view = linkViewOf(services, row, null, kind.query);
		const shared = sharedUrl(view);
		const code = kind.hasQrCode ? await qrSvg(shared.length > MOST_IN_CODE ? view.url : shared) : null;
		return (token) => bytesAsText(draw(row, kind, code, token));
	};

	/** The template of a page without a query, and what it takes in memory. */
	const drawTemplate = async (row: ResolvedRow, kind: PageKind): Promise<{template: PageTemplate; bytes: number}> => {
		const code = kind.hasQrCode ? await qrSvg(urlOf(services, row)) : null;
		const {parts, bytes} = partsOf(draw(row, kind, code, kind.hasToken ? TOKEN : null, {texts}));
		return {template: templateOf(parts), bytes: BYTES_PER_PAGE + bytes};
	};

	return {
		/** The template of a link's page, which is not kept if it has a query. */
		of: (row: ResolvedRow, kind: PageKind): Promise<PageTemplate> => {
			if (kind.query !== null) {
				return drawOnce(row, kind);
			}

			const key = `${kind.class} ${kind.language} ${Number(kind.globalPrivacyControl)}${Number(kind.hasToken)}${Number(kind.isIpad)}${Number(kind.isAndroidFirefox)}${kind.wayOut ?? ''}`;
			// A row evicted from the link cache stays alive here.
			const pages = kept.get(row) ?? {templates: new Map(), bytes: BYTES_PER_LINK + rowBytes(row)};
			const found = pages.templates.get(key);
			if (found !== undefined) {
				return found;
			}

			const drawing = drawTemplate(row, kind).then(({template, bytes}) => {
				// A value of its own, because the cache asks for the size of a new value only.
				kept.set(row, {...pages, bytes: (kept.get(row) ?? pages).bytes + key.length + bytes});
				return template;
			});
			pages.templates.set(key, drawing);
			kept.set(row, pages);
			return drawing;
		},
	};
};
