import type {ApiClient} from './admin-client.ts';
import {usageError} from './cli-errors.ts';
import type {Context} from './command.ts';
import type {Page} from './list-pages.ts';

/** Path of an organization in the admin API; `org` is its id or its orgKey. */
export const organizationPath = (org: string): string => `/admin/organizations/${encodeURIComponent(org)}`;

/**
 * The organization that is named, else the only one there is.
 * @throws OperatorError where there are several, or none.
 */
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

/** Where links are managed: the same routes under `base`, with the admin token or with a SERVER key. */
export type LinkSurface = {client: ApiClient; base: string; credential: 'admin' | 'key'};

/** The SERVER key where one is given and no organization is named, otherwise the admin token (decisions 12). */
export const linkSurface = async ({connection, options}: Context<{org?: string}>): Promise<LinkSurface> => {
	const client = options.org ? null : connection.key();
	if (client) {
		return {client, base: '/links', credential: 'key'};
	}

	const admin = connection.admin();
	const org = await chosenOrganization(admin, options.org, '--org ORG');
	return {client: admin, base: `${organizationPath(org)}/links`, credential: 'admin'};
};

/** Path of one link on a surface. */
export const linkPath = ({base}: LinkSurface, id: string): string => `${base}/${encodeURIComponent(id)}`;
