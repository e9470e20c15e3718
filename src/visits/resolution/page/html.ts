const markup = Symbol('markup');

/** Safe markup. Only this file creates it, so no foreign value can pass for it. */
export type Html = {readonly [markup]: string};

type Fragment = Html | string | number | null | undefined | false | readonly Fragment[];

const entities: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

/** The text, escaped for HTML text and quoted attributes. */
const escapeText = (text: string): string =>
	/[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => entities[character] ?? '') : text;

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
