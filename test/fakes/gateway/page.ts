import type {Call} from '../shared/faults.ts';
import type {Reply} from '../shared/http-server.ts';

const entities: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

/** Text as it stands in HTML, attributes included. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);

/** A button of a form that posts `action` to the page itself. `more` is HTML inside of the form. */
export const button = (action: string, label: string, fields: Record<string, string> = {}, more = ''): string => {
	const hidden = Object.entries(fields).map(
		([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
	);
	return `<form method="post">${hidden.join('')}${more}<button name="action" value="${action}">${label}</button></form>`;
};

/** A whole page of a gateway's hosted parts. `body` is HTML. */
export const page = (title: string, body: string, status = 200): Reply => ({
	status,
	html: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>body{font:16px/1.5 system-ui;max-width:38rem;margin:3rem auto;padding:0 1rem}form{display:inline-block;margin:0 .5rem .5rem 0}
button{font:inherit;padding:.4rem 1rem}table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left}</style>
<h1>${escapeHtml(title)}</h1>
${body}
<p><small>A fake for tests. No money moves.</small></p></html>`,
});

/** The body that a form or a script posted to a page: form-encoded, or JSON of strings and booleans. */
export const readPosted = ({body, headers}: Call): Map<string, string> => {
	const posted = typeof body === 'string' ? body : '';
	const entries = String(headers['content-type']).startsWith('application/json')
		? Object.entries(JSON.parse(posted) as object).map(([name, value]): [string, string] => [name, String(value)])
		: [...new URLSearchParams(posted)];
	return new Map(entries);
};

/** Whether a script asks, which wants JSON and no redirect. */
export const isScript = ({headers}: Call): boolean =>
	[headers['accept'], headers['content-type']].some((value) => String(value).startsWith('application/json'));

/** Sends a browser on, after a post by GET. */
export const goTo = (url: string): Reply => ({status: 303, headers: {location: url}, html: ''});

/** Minor units for people. */
export const money = (minor: number, currency: string): string =>
	`${(minor / 100).toFixed(2)} ${escapeHtml(currency.toUpperCase())}`;
