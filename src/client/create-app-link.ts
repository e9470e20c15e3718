import {queryText} from './api-caller.ts';
import {queryOf} from './link-address.ts';
import type {AppLink, NewAppLink} from './link-shapes.ts';
import {type RetryRule, retryRules} from './retry.ts';

/** The URL with these values in its query: they replace those of the same name. A fragment is dropped. */
const withParams = (url: string, params: Record<string, string> = {}): string => {
	const [before = ''] = url.split('#', 1);
	const [address = '', ...rest] = before.split('?');
	const kept = Object.entries(queryOf(rest.join('?'))).filter(([name]) => !Object.keys(params).includes(name));
	return address + queryText({...Object.fromEntries(kept), ...params});
};

type Deps = {
	report: (path: string, body: object, rule: RetryRule) => Promise<{url: string}>;
	warn: (message: string, error: unknown) => void;
};

/** Creates a link, or answers `link` with the params as its query. @throws without `link`. */
export const createAppLink = async (
	{report, warn}: Deps,
	body: NewAppLink,
	{link}: {link?: string | undefined},
): Promise<AppLink> => {
	try {
		const {url} = await report('/sdk/links', body, link === undefined ? retryRules.resolution : retryRules.hurried);
		return {url, stored: true};
	} catch (error) {
		if (link === undefined) {
			throw error;
		}

		warn('oplink: the link is not stored', error);
		return {url: withParams(link, body.params), stored: false};
	}
};
