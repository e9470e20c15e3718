import {createHash} from 'node:crypto';
import {memoize} from '../../platform/memoize.ts';
import {type Html, html, trusted} from './html.ts';
import {scriptParts} from './page-script.ts';
import {styleParts} from './page-style.ts';
import type {PageLanguage} from './translations.ts';

/** The style sheet of a page, of the parts that its content needs. */
export const styleOf = (wanted: ReadonlySet<keyof typeof styleParts>): string =>
	Object.entries(styleParts)
		.filter(([name]) => name === 'base' || (wanted as ReadonlySet<string>).has(name))
		.map(([, part]) => part)
		.join('');

/** The script of a page, of the parts that its content needs. */
export const scriptOf = (wanted: ReadonlySet<keyof typeof scriptParts>): string => {
	const parts = Object.entries(scriptParts).filter(
		([name]) => name === 'base' || (wanted as ReadonlySet<string>).has(name),
	);
	return `(function(){${parts.map(([, part]) => part).join('')}})()`;
};

/** Style and script of pages without a link's content. */
const noticeStyle = styleOf(new Set(['where']));
const noticeScript = scriptOf(new Set());

/** The head of every page for people. @param title escaped. @param tags come before those of its appearance. */
export const pageHead = (title: string | Html, tags: Html | null, style = noticeStyle): Html => html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title>
${tags}<meta name="theme-color" media="(prefers-color-scheme: light)" content="#f3f3ef">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0d0e11">
<link rel="icon" href="data:,">
<style>${trusted(style)}</style>
</head>`;

/** The source of a policy that allows an inline text and no other. */
const sourceOf = memoize((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);

/**
 * Headers of a page for people, names and values alternating (contract/resolution 18). Its policy allows its own style and
 * script, and no other; `script` null: none.
 */
export const pageHeaders = (
	language: PageLanguage,
	{
		style = noticeStyle,
		script = noticeScript,
		vary = 'User-Agent, Accept-Language',
		formAction = "'none'",
	}: {style?: string; script?: string | null; vary?: string; formAction?: string} = {},
): string[] => [
	'Content-Type',
	'text/html; charset=utf-8',
	'Content-Language',
	language,
	'Cache-Control',
	'no-store',
	'Accept-CH',
	'Sec-CH-Timezone',
	'Vary',
	vary,
	'X-Robots-Tag',
	'noindex, nofollow',
	'Referrer-Policy',
	'strict-origin-when-cross-origin',
	'Content-Security-Policy',
	`default-src 'none'; script-src ${script === null ? "'none'" : sourceOf(script)}; style-src ${sourceOf(style)}; img-src https: data:; connect-src 'self'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
];
