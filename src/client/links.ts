import {bearer, type CallApi, segment} from './api-caller.ts';
import type {Link, LinkChanges, LinkQuery, LinkWithDomain, NewLink, Page} from './link-shapes.ts';
import {randomKey} from './random-key.ts';
import {retryRules} from './retry.ts';

/** Link management. Needs a SERVER key, which belongs on servers alone and never into an app. */
export type Links = {
	/**
	 * Creates a link. Retries make no second one: all of them carry the same Idempotency-Key.
	 * @param options `idempotencyKey` (at most 255 characters) makes the call repeatable for 24 hours, in another process too.
	 */
	create(body: NewLink, options?: {idempotencyKey?: string | undefined}): Promise<Link>;
	/** A page of the organization's links, the newest first. */
	list(query?: LinkQuery): Promise<Page<LinkWithDomain>>;
	/** @throws OplinkApiError 404 for a link that the organization does not have. */
	get(id: string): Promise<LinkWithDomain>;
	/** Changes what is named; null clears an optional field. `{isActive: false}` deactivates. */
	update(id: string, body: LinkChanges): Promise<Link>;
	/** Removes a link for good. After a lost answer the retry finds nothing left, and that is a 404 like any other. */
	delete(id: string): Promise<{id: string; deleted: true}>;
};

export const createLinks = (call: CallApi, serverKey: string | undefined): Links => {
	const common = {rule: retryRules.resolution, headers: bearer(serverKey)};
	// Async, so that a bad id is a rejection like every other failure.
	const pathOf = async (id: string) => `/links/${segment(id, 'id')}`;
	return {
		create: (body, {idempotencyKey = randomKey()} = {}) =>
			call({
				...common,
				method: 'POST',
				path: '/links',
				body,
				headers: {...common.headers, 'Idempotency-Key': idempotencyKey},
			}),
		list: (query = {}) => call({...common, method: 'GET', path: '/links', query}),
		get: async (id) => call({...common, method: 'GET', path: await pathOf(id)}),
		update: async (id, body) => call({...common, method: 'PATCH', path: await pathOf(id), body}),
		delete: async (id) => call({...common, method: 'DELETE', path: await pathOf(id)}),
	};
};
