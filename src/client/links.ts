import {type ApiCall, bearer, type CallApi, queryText, segment} from './api-caller.ts';
import {queryOf} from './link-address.ts';
import type {AppLink, Link, LinkChanges, LinkQuery, LinkWithDomain, NewAppLink, NewLink, Page} from './link-shapes.ts';
import {type RetryRule, randomKey, retryRules} from './retry.ts';

/** Link management. Requires a SERVER key, which belongs on servers and never in an app. */
export type Links = {
	/**
	 * Creates a link. Retries create no second one, because they share an Idempotency-Key.
	 * @param options `idempotencyKey` (at most 255 characters) makes the call repeatable for 24 hours, also in another
	 * process.
	 */
	create(body: NewLink, options?: {idempotencyKey?: string | undefined}): Promise<Link>;
	/** A page of the organization's links, the newest first. */
	list(query?: LinkQuery): Promise<Page<LinkWithDomain>>;
	/** @throws OplinkApiError 404 for an unknown link. */
	get(id: string): Promise<LinkWithDomain>;
	/** Changes the given fields; null clears an optional one. `{isActive: false}` deactivates. */
	update(id: string, body: LinkChanges): Promise<Link>;
	/** Deletes a link permanently. After a lost answer the retry gets a 404, as for any unknown link. */
	delete(id: string): Promise<{id: string; deleted: true}>;
};

export const createLinks = (call: CallApi, serverKey: string | undefined): Links => {
	// All are async, so that a missing key and an invalid id reject like every other failure.
	const send = async <T>(request: Omit<ApiCall, 'rule'>): Promise<T> => {
		if (!serverKey) {
			throw new Error('oplink: links needs the SERVER key: new Oplink({baseUrl, serverKey})');
		}

		const headers = {...bearer(serverKey), ...request.headers};
		return call({...request, headers, rule: retryRules.resolution});
	};
	const pathOf = (id: string) => `/links/${segment(id, 'id')}`;
	return {
		create: async (body, {idempotencyKey = randomKey()} = {}) =>
			send({method: 'POST', path: '/links', body, headers: {'Idempotency-Key': idempotencyKey}}),
		list: async (query = {}) => send({method: 'GET', path: '/links', query}),
		get: async (id) => send({method: 'GET', path: pathOf(id)}),
		update: async (id, body) => send({method: 'PATCH', path: pathOf(id), body}),
		delete: async (id) => send({method: 'DELETE', path: pathOf(id)}),
	};
};

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
