import {OplinkApiError} from '../../client/errors.ts';
import {notFoundError, usageError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import type {ApiClient} from './admin-client.ts';
import type {Page} from './list-pages.ts';

/** Path of an organization in the admin API; `org` is its id or its orgKey. */
export const organizationPath = (org: string): string => `/admin/organizations/${encodeURIComponent(org)}`;

/** The organization to which a token is bound. */
type BoundOrganization = {id: string; orgKey: string; name: string};

/**
 * The result of `all`, a request across organizations, or of `within` if the token is bound to one organization.
 * @throws as `all`.
 */
export const allOrBound = async <T>(
	client: ApiClient,
	all: () => Promise<T>,
	within: (orgKey: string, bound: BoundOrganization) => T | Promise<T>,
): Promise<T> => {
	try {
		return await all();
	} catch (error) {
		if (!(error instanceof OplinkApiError && error.status === 403)) {
			throw error;
		}

		const {organization} = await client.get<{organization: BoundOrganization | null}>('/admin/whoami');
		if (organization === null) {
			throw error;
		}

		return within(organization.orgKey, organization);
	}
};

/** The organization that owns an object with this id, host name or key prefix. @throws OperatorError for none and several. */
const ownerOf = async (client: ApiClient, owned: string): Promise<string> => {
	const {data, total} = await client.get<Page<{id: string; orgKey: string}>>('/admin/organizations', {owns: owned});
	const [owner] = data;
	if (!owner) {
		throw notFoundError(`No organization has '${owned}'`, 'Correct it: the list command of the group shows the names');
	}

	if (total > 1) {
		throw usageError(
			`${total} organizations have '${owned}'`,
			`Add --org ORG, one of ${data.map(({orgKey}) => orgKey).join(', ')}`,
		);
	}

	return owner.id;
};

/** The only organization, or of several the one that has `owned`. */
const onlyOrganization = async (client: ApiClient, owned: string | null): Promise<string> => {
	const {data, total} = await client.get<Page<{id: string}>>('/admin/organizations', {limit: 1});
	const [only] = data;
	if (total > 1 && owned !== null) {
		return ownerOf(client, owned);
	}

	if (!only || total !== 1) {
		throw usageError(
			total === 0 ? 'There is no organization yet' : `There are ${total} organizations: --org ORG is needed`,
			total === 0
				? 'oplink orgs create --name NAME'
				: 'oplink orgs list shows them; oplink orgs use ORG or OPLINK_ORG names one for all commands',
		);
	}

	return only.id;
};

/**
 * The named organization, else that of OPLINK_ORG or `orgs use`, of a bound token, the only one, or the one that has
 * `owned`, which is unique on the whole server.
 * @throws OperatorError if there are several or none.
 */
export const chosenOrganization = async (
	{connection, options: {org}}: Pick<Context, 'connection' | 'options'>,
	owned: string | null = null,
): Promise<string> => {
	const named = org || connection.organization();
	const client = connection.admin();
	const only = () => onlyOrganization(client, owned);
	return named ?? allOrBound(client, only, (bound) => bound);
};

/**
 * A client and the path of an organization: in the admin API, or with a SERVER key, which has the same routes for links,
 * an empty one and no `org`.
 */
export type LinkSurface = {client: ApiClient; org: string | null; path: string};

/** An organization in the admin API. */
export type OrganizationApi = LinkSurface & {org: string};

export const organizationAt = (client: ApiClient, org: string): OrganizationApi => ({
	client,
	org,
	path: organizationPath(org),
});

/** The admin API for the organization that `chosenOrganization` returns. */
export const organizationApi = async (context: Context, owned: string | null = null): Promise<OrganizationApi> =>
	organizationAt(context.connection.admin(), await chosenOrganization(context, owned));

/** The surface of the SERVER key, if one is given and no organization is named (contract/operations 13). */
export const keySurface = ({connection, options}: Context): LinkSurface | null => {
	const client = options.org ? null : connection.key();
	return client && {client, org: null, path: ''};
};

/**
 * Uses the SERVER key if one is given and no organization is named, otherwise the admin token (contract/operations 13).
 */
export const linkSurface = async (context: Context): Promise<LinkSurface> =>
	keySurface(context) ?? organizationApi(context);
