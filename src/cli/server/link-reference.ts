import {usageError} from '../cli-errors.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A link as an operator names it; `org` is the orgKey where a short URL has it. */
export type LinkReference = {linkId?: string; shortCode?: string; org?: string};

/** What an id, a short code or a short URL names. @throws OperatorError for a URL that is no short one. */
export const linkReference = (text: string): LinkReference => {
	if (UUID.test(text)) {
		return {linkId: text};
	}

	if (!text.includes('/')) {
		return {shortCode: text};
	}

	const [path = ''] = text.replace(/^https?:\/\//i, '').split(/[?#]/);
	const [, ...segments] = path.split('/').filter((segment) => segment !== '');
	const [first, second] = segments;
	if (first === undefined || segments.length > 2) {
		throw usageError(`'${text}' is no short URL`, 'It looks like https://go.acme.example/Ab12/spring');
	}

	return second === undefined ? {shortCode: first} : {org: first, shortCode: second};
};
