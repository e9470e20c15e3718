import {ORG_KEY} from '../../accounts/organizations/org-key.ts';
import {requireOrganization} from '../../accounts/organizations/require-organization.ts';
import {type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {linkNotFound} from '../../platform/errors.ts';
import {hostnameOf} from '../../platform/http/request-host.ts';
import type {Services} from '../../services.ts';
import {type Address, type HostDeps, locate} from '../domains/locate.ts';
import {pathBehindPrefix} from '../domains/path-prefixes.ts';
import {findServedDomain} from '../domains/served-domain.ts';
import type {LinkName} from './link-schemas.ts';
import {getLink, type LinkJsonWithDomain} from './read-links.ts';

type Owned = {id: string; organizationId: string};

/** The address that a tap on the URL visits. @throws 404 for a URL that no link can have. */
const addressOf = async (services: HostDeps, text: string): Promise<Address> => {
	if (!URL.canParse(text)) {
		throw linkNotFound();
	}

	const {host, pathname} = new URL(text);
	const hostname = hostnameOf(host);
	const isCustom = hostname !== null && services.hostRoles.roleOf(hostname) === 'other';
	const prefixes = isCustom ? ((await findServedDomain(services, hostname))?.pathPrefixes ?? []) : [];
	const segments = (pathBehindPrefix(prefixes, pathname) ?? pathname).split('/').filter((segment) => segment !== '');
	const [shortCode, orgKey] = segments.toReversed();
	if (shortCode === undefined || segments.length > 2 || !ORG_KEY.test(orgKey ?? 'none')) {
		throw linkNotFound();
	}

	const path = {shortCode, data: false, ...(orgKey === undefined ? {} : {orgKey})};
	return (await locate(services, hostname, path)).address;
};

/**
 * The links of any organization that have this id, short code or short URL, newest first (contract/admin 8). Only an
 * operator may ask: each link names its organization.
 * @throws 404 for a URL of another host.
 */
export const findLinks = async (
	services: HostDeps & Pick<Services, 'addresses'>,
	{page, limit, ...name}: PageQuery & LinkName,
): Promise<Page<LinkJsonWithDomain>> => {
	const {orgKey, ...link} = 'url' in name ? await addressOf(services, name.url) : {...name, orgKey: undefined};
	const all = services
		.db('links')
		.join('organizations', 'organizations.id', 'links.organization_id')
		.where('id' in link ? {'links.id': link.id} : {'links.short_code': link.shortCode})
		.modify((query) => (orgKey === undefined ? query : query.where('organizations.org_key', orgKey)))
		.select({id: 'links.id', organizationId: 'organizations.id'});
	const found = await readPage<Owned>(all, {page, limit}, 'links.created_at DESC, links.id DESC');
	const data = found.data.map(async ({id, organizationId}) =>
		getLink(services, {organization: await requireOrganization(services, organizationId), id}),
	);
	return {...found, data: await Promise.all(data)};
};
