const markup = Symbol('markup');

/** Markup that is safe as it stands. Only this file makes it, so no value read from elsewhere can pass for it. */
export type Html = {readonly [markup]: string};

type Fragment = Html | string | number | null | undefined | false | readonly Fragment[];

const entities: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

/** The text as it may stand in HTML text and in quoted attributes. */
const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

const write = (fragment: Fragment): string => {
	if (fragment === null || fragment === undefined || fragment === false) {
		return '';
	}

	if (typeof fragment === 'object') {
		return markup in fragment ? fragment[markup] : fragment.map(write).join('');
	}

	return escapeText(String(fragment));
};

/** A template whose values are escaped unless they are `Html`; null, undefined and false write nothing. */
export const html = (literals: TemplateStringsArray, ...values: Fragment[]): Html => ({
	[markup]: literals.map((literal, index) => literal + write(values[index])).join(''),
});

/** Marks a text of our own as markup. Never for a text that a tenant or a request had a hand in. */
export const trusted = (text: string): Html => ({[markup]: text});

/**
 * A JSON value for a `<script type="application/json">` block: no `<`, `>` or `&` that could end it (contract/page 6).
 */
export const jsonBlock = (value: unknown): Html =>
	trusted(
		JSON.stringify(value).replace(
			/[<>&\u2028\u2029]/g,
			(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
		),
	);

/** The finished text. */
export const render = (page: Html): string => page[markup];
