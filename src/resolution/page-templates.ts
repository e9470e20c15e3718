import {qrSvg} from '../links/qr-svg.ts';
import {randomAlphanumeric} from '../organizations/org-key.ts';
import type {Services} from '../services.ts';
import {linkViewOf} from './link-view.ts';
import {pageScript} from './page-script.ts';
import {pageStyle} from './page-style.ts';
import {renderRedirectPage} from './redirect-page.ts';
import {type LinkRow, toResolvedLink} from './resolve-link.ts';
import type {VisitorClass} from './visitor.ts';

/** What a page depends on beside its link. */
export type PageKind = {
	class: VisitorClass;
	/** The header, of which the page's language comes. */
	acceptLanguage: string | undefined;
	language: string;
	globalPrivacyControl: boolean;
	/** Whether the page carries a token. */
	hasToken: boolean;
	hasQrCode: boolean;
};

/** A page but for what is new in each answer. */
export type PageTemplate = {
	/** The page as bytes of UTF-8, each of them a character: what is to be written as `latin1` needs no encoding. */
	fill(given: {nonce: string; token: string | null}): string;
};

/** Templates of a process, for the links that are asked for most. */
export type PageTemplates = {
	/** The template of a link's page; null where it is not made yet, but will be. */
	of(row: LinkRow, kind: PageKind): PageTemplate | null;
};

/** Characters of pages that are kept. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** The bytes of a text in UTF-8 as the characters of another one. */
export const bytesAsText = (text: string): string => Buffer.from(text).toString('latin1');

// As long and of the same alphabets as what they stand for, and never those: who writes a link cannot know them.
const TOKEN = `opl_${randomAlphanumeric(32)}`;
const NONCE = `${randomAlphanumeric(22)}==`;

/** What all pages have in common, four fifths of one: kept once, and not with every page. */
const SHARED = [pageStyle, pageScript].map(bytesAsText);
const MARKERS = [TOKEN, NONCE, ...SHARED];

/** A copy that does not keep the whole page in memory, as a part of a longer text does in V8. */
const ownCopy = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** The parts of a page, each marker among them as the one text that it is everywhere. */
const partsOf = (page: string): string[] => {
	let parts = [bytesAsText(page)];
	for (const marker of MARKERS) {
		parts = parts.flatMap((part) =>
			part.split(marker).flatMap((piece, index) => (index === 0 ? [piece] : [marker, piece])),
		);
	}

	return parts.map((part) => MARKERS.find((marker) => marker === part) ?? ownCopy(part));
};

/** Joined as text: to copy bytes into a buffer for each answer costs more than to write a text that is at hand. */
const templateOf = (parts: readonly string[]): PageTemplate => ({
	fill: ({nonce, token}) => {
		let filled = '';
		for (const part of parts) {
			filled += part === NONCE ? nonce : part === TOKEN ? token : part;
		}

		return filled;
	},
});

/** The pages of a link, by their kind; null: it is being made. */
type Kept = {templates: Map<string, PageTemplate | null>; length: number};

export const createPageTemplates = (services: Pick<Services, 'addresses' | 'background'>): PageTemplates => {
	/** Least recently used first. A link that has been changed is read anew, as another row, and the old one is dropped in time. */
	const kept = new Map<LinkRow, Kept>();
	let characters = 0;

	const drop = (row: LinkRow) => {
		characters -= kept.get(row)?.length ?? 0;
		kept.delete(row);
	};

	/** Those of the link, which is now the one that was used last. */
	const use = (row: LinkRow): Kept => {
		const pages = kept.get(row) ?? {templates: new Map(), length: 0};
		kept.delete(row);
		kept.set(row, pages);
		return pages;
	};

	const keep = (key: string, row: LinkRow, page: string): PageTemplate => {
		const parts = partsOf(page);
		const template = templateOf(parts);
		const length = parts.reduce((sum, part) => sum + (SHARED.includes(part) ? 0 : part.length), 0);
		const pages = use(row);
		pages.templates.set(key, template);
		pages.length += length;
		characters += length;
		while (characters > MOST_CHARACTERS) {
			const [oldest = row] = kept.keys();
			drop(oldest);
		}

		return template;
	};

	const draw = (row: LinkRow, kind: PageKind, code: string | null): string =>
		renderRedirectPage({
			link: linkViewOf(services, toResolvedLink(services, row), kind.hasToken ? TOKEN : null),
			visitor: kind,
			acceptLanguage: kind.acceptLanguage,
			nonce: NONCE,
			globalPrivacyControl: kind.globalPrivacyControl,
			qrSvg: code,
		});

	return {
		of: (row, kind) => {
			const key = `${kind.class} ${kind.language} ${Number(kind.globalPrivacyControl)}${Number(kind.hasToken)}`;
			const {templates} = use(row);
			const found = templates.get(key);
			if (found !== undefined) {
				return found;
			}

			if (!kind.hasQrCode) {
				return keep(key, row, draw(row, kind, null));
			}

			templates.set(key, null);
			const drawing = qrSvg(toResolvedLink(services, row).url).then((code) => keep(key, row, draw(row, kind, code)));
			services.background.run('draw a QR code', drawing);
			return null;
		},
	};
};
