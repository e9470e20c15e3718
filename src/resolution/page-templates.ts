import {qrSvg} from '../links/qr.ts';
import {randomAlphanumeric} from '../organizations/org-key.ts';
import type {Services} from '../services.ts';
import {linkViewOf} from './link-view.ts';
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
	/** How long every page of it is. */
	bytes: number;
	fill(given: {nonce: string; token: string | null}): string;
};

/** Templates of a process, for the links that are asked for most. */
export type PageTemplates = {
	/** The template of a link's page; null where it is not made yet, but will be. */
	of(row: LinkRow, kind: PageKind): PageTemplate | null;
};

/** Characters of pages that are kept. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

// As long and of the same alphabets as what they stand for, and never those: who writes a link cannot know them.
const TOKEN = `opl_${randomAlphanumeric(32)}`;
const NONCE = `${randomAlphanumeric(22)}==`;

/** Joined as text: to copy bytes into a buffer for each answer costs more than to write a text that is at hand. */
const templateOf = (page: string): PageTemplate => {
	const parts = page.split(new RegExp(`(${TOKEN}|${NONCE})`));
	return {
		bytes: Buffer.byteLength(page),
		fill: ({nonce, token}) => {
			let filled = '';
			for (const part of parts) {
				filled += part === NONCE ? nonce : part === TOKEN ? token : part;
			}

			return filled;
		},
	};
};

export const createPageTemplates = (services: Pick<Services, 'addresses' | 'background'>): PageTemplates => {
	/** Least recently used first. */
	const kept = new Map<string, {row: LinkRow; template: PageTemplate | null; length: number}>();
	let characters = 0;

	const drop = (key: string) => {
		characters -= kept.get(key)?.length ?? 0;
		kept.delete(key);
	};

	const keep = (key: string, row: LinkRow, page: string): PageTemplate => {
		const template = templateOf(page);
		drop(key);
		kept.set(key, {row, template, length: page.length});
		characters += page.length;
		while (characters > MOST_CHARACTERS) {
			const [oldest = ''] = kept.keys();
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
			const key = `${row.id} ${kind.class} ${kind.language} ${Number(kind.globalPrivacyControl)}${Number(kind.hasToken)}`;
			const found = kept.get(key);
			// A link that has been changed is read anew, as another row.
			if (found?.row === row) {
				if (found.template !== null) {
					kept.delete(key);
					kept.set(key, found);
				}

				return found.template;
			}

			if (!kind.hasQrCode) {
				return keep(key, row, draw(row, kind, null));
			}

			drop(key);
			kept.set(key, {row, template: null, length: 0});
			const drawing = qrSvg(toResolvedLink(services, row).url).then((code) => keep(key, row, draw(row, kind, code)));
			services.background.run('draw a QR code', drawing);
			return null;
		},
	};
};
