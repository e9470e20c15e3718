import {isUuid} from '../../uuid.ts';
import {usageError} from '../cli-errors.ts';

/** A link as an operator names it; `org` is the orgKey of a short URL. */
export type LinkReference = {linkId?: string; shortCode?: string; org?: string};

/** Parses an id, a short code or a short URL. @throws OperatorError for a URL that is not a short URL. */
export const linkReference = (text: string): LinkReference => {
	if (isUuid(text)) {
		return {linkId: text};
	}

	if (!text.includes('/')) {
		return {shortCode: text};
	}

	const [path = ''] = text.replace(/^https?:\/\//i, '').split(/[?#]/);
	const [, ...segments] = path.split('/').filter((segment) => segment !== '');
	const [first, second] = segments;
	if (first === undefined || segments.length > 2) {
		throw usageError(`'${text}' is not a short URL`, 'It looks like https://go.acme.example/Ab12/spring');
	}

	return second === undefined ? {shortCode: first} : {org: first, shortCode: second};
};
