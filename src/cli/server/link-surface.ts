import type {Links} from '../../client/oplink.ts';
import {usageError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import type {ApiClient} from './admin-client.ts';
import type {Page} from './list-pages.ts';

/** Path of an organization in the admin API; `org` is its id or its orgKey. */
export const organizationPath = (org: string): string => `/admin/organizations/${encodeURIComponent(org)}`;

/** The named organization, else the only one. @throws OperatorError if there are several or none. */
export const chosenOrganization = async (client: ApiClient, org: string | undefined, how: string): Promise<string> => {
	if (org) {
		return org;
	}

	const {data, total} = await client.get<Page<{id: string}>>('/admin/organizations', {limit: 1});
	const [only] = data;
	if (!only || total !== 1) {
		throw usageError(
			total === 0 ? 'There is no organization yet' : `There are ${total} organizations: ${how} is needed`,
			total === 0 ? 'oplink orgs create --name NAME' : 'oplink orgs list shows them',
		);
	}

	return only.id;
};

/** The API for links: the same routes under `base`, with the admin token or with a SERVER key. */
export type LinkSurface = {links: Links; client: ApiClient; base: string; credential: 'admin' | 'key'};

/** An organization's links through the admin API, in the form of the client library for a SERVER key. */
const adminLinks = (client: ApiClient, base: string): Links => {
	const pathOf = (id: string) => `${base}/${encodeURIComponent(id)}`;
	return {
		create: (body) => client.post(base, body),
		list: (query = {}) => client.get(base, query),
		get: (id) => client.get(pathOf(id)),
		update: (id, body) => client.patch(pathOf(id), body),
		delete: (id) => client.delete(pathOf(id)),
	};
};

/** Uses the SERVER key if one is given and no organization is named, otherwise the admin token (contract/cli 1). */
export const linkSurface = async ({connection, options}: Context<{org?: string}>): Promise<LinkSurface> => {
	const key = options.org ? null : connection.key();
	if (key) {
		return {...key, base: '/links', credential: 'key'};
	}

	const admin = connection.admin();
	const org = await chosenOrganization(admin, options.org, '--org ORG');
	const base = `${organizationPath(org)}/links`;
	return {links: adminLinks(admin, base), client: admin, base, credential: 'admin'};
};

/** The given link id. @throws OperatorError for a text that would name another path. */
export const linkId = (id: string): string => {
	if (/^\.{0,2}$/.test(id)) {
		throw usageError(`'${id}' is not a valid link id`, 'oplink links list shows them');
	}

	return id;
};
