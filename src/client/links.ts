import {bearer, type CallApi, segment} from './api-caller.ts';
import type {Link, LinkChanges, LinkQuery, LinkWithDomain, NewLink, Page} from './link-shapes.ts';
import {randomKey} from './random-key.ts';
import {retryRules} from './retry.ts';

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
	const common = {rule: retryRules.resolution, headers: bearer(serverKey)};
	// Async, so that an invalid id rejects like every other failure.
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
