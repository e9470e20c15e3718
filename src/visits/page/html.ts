const markup = Symbol('markup');

/** Safe markup. Only this file creates it, so no foreign value can pass for it. */
export type Html = {readonly [markup]: string};

type Fragment = Html | string | number | null | undefined | false | readonly Fragment[];

const entities: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

/** The text, escaped for HTML text and quoted attributes. URLs have ampersands alone. */
export const escapeText = (text: string): string =>
	/[<>"']/.test(text)
		? text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
		: text.replaceAll('&', '&amp;');

const write = (fragment: Fragment): string => {
	if (fragment === null || fragment === undefined || fragment === false) {
		return '';
	}

	if (typeof fragment === 'object') {
		return markup in fragment ? fragment[markup] : fragment.map(write).join('');
	}

	return escapeText(String(fragment));
};

/** A template that escapes all values except `Html`; null, undefined and false write nothing. */
export const html = (literals: TemplateStringsArray, ...values: Fragment[]): Html => {
	let text = '';
	for (const [index, literal] of literals.entries()) {
		text += literal + write(values[index]);
	}

	return {[markup]: text};
};

/** Marks our own text as markup. Never use it for text from a tenant or a request. */
export const trusted = (text: string): Html => ({[markup]: text});

/**
 * JSON for a `<script type="application/json">` block, without `<`, `>` and `&`, which could end it (contract/resolution 19).
 */
export const jsonBlock = (value: unknown): Html =>
	trusted(
		JSON.stringify(value).replace(
			/[<>&\u2028\u2029]/g,
			(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
		),
	);

export const render = (page: Html): string => page[markup];

/** The bytes of a text in UTF-8, as one character each: written as `latin1`, they need no encoding. */
export const bytesAsText = (text: string): string =>
	// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII from its first character on
	/[^\u0000-\u007f]/.test(text) ? Buffer.from(text).toString('latin1') : text;

/** No text of ours has this character, and only our own texts are in a template. */
const SLOT = '\0';

/** A place of a template that each page fills by itself, by its number. */
export const slot = (place: number): Html => trusted(`${SLOT}${place}${SLOT}`);

/** A text of ours whose `placeholder` is a place of the template. */
export const withSlot = (text: string, placeholder: string, place: number): Html => {
	const [before = '', ...after] = text.split(placeholder);
	return html`${before}${after.map((part) => html`${slot(place)}${part}`)}`;
};

/** The text of a slot: escaped, and as bytes. */
export const slotText = (text: string): string => bytesAsText(escapeText(text));

/** Compiles a template. @returns its pages, of the texts of its slots (`slotText`), as bytes. */
export const compile = (page: Html): ((texts: readonly string[]) => string) => {
	const [first = '', ...rest] = page[markup].split(SLOT).map(bytesAsText);
	const parts = rest.filter((_, index) => index % 2 === 1);
	const places = rest.filter((_, index) => index % 2 === 0).map(Number);
	return (texts) => {
		let filled = first;
		for (let index = 0; index < parts.length; index += 1) {
			filled += texts[places[index] ?? 0] ?? '';
			filled += parts[index];
		}

		return filled;
	};
};
