import {isUuid} from '../../uuid.ts';
import {usageError} from '../cli-errors.ts';

/** A link by its id or its short code; the code of a short URL is its last segment. */
export type LinkReference = {id: string} | {shortCode: string};

const SHORT_CODE = /^[\w-]{1,64}$/;

/** The parameters behind a link's name, each with its first value; undefined if there are none. */
export const queryOf = (text: string): Record<string, string> | undefined => {
	const [, query = ''] = /\?([^#]*)/.exec(text) ?? [];
	const pairs = [...new URLSearchParams(query)];
	const firsts = pairs.filter(([name], index) => pairs.findIndex(([other]) => other === name) === index);
	return firsts.length === 0 ? undefined : Object.fromEntries(firsts);
};

const WEB = /^https?:\/\//i;

/**
 * Parses an id, a short code or a short URL, each without its query; a URL may be without its scheme.
 * @throws OperatorError for a text that is none of them.
 */
export const linkReference = (named: string): LinkReference => {
	const [text = ''] = named.trim().split(/[?#]/);
	if (isUuid(text)) {
		return {id: text};
	}

	const shortCode = text.split('/').findLast((segment) => segment !== '');
	if (shortCode === undefined || !SHORT_CODE.test(shortCode)) {
		throw usageError(
			`'${named}' is not a short URL, a short code or an id`,
			'A short URL looks like https://go.acme.example/Ab12/spring; oplink links list shows the codes',
		);
	}

	return {shortCode};
};

/** The same for a look-up in all organizations, which needs a URL as a whole. */
export const linkName = (named: string): LinkReference | {url: string} => {
	const reference = linkReference(named);
	const [text = ''] = named.trim().split(/[?#]/);
	return text.includes('/') ? {url: WEB.test(text) ? text : `https://${text}`} : reference;
};
