import {ORG_KEY} from '../../accounts/organizations/org-key.ts';
import {requireOrganization} from '../../accounts/organizations/require-organization.ts';
import {type Page, type PageQuery, readSqlPage} from '../../platform/db/read-page.ts';
import {joined, sql} from '../../platform/db/sql.ts';
import {linkNotFound} from '../../platform/errors.ts';
import {hostnameOf} from '../../platform/http/request-host.ts';
import type {Services} from '../../services.ts';
import {type Address, findServedDomain, type HostDeps, locate} from '../domains/locate.ts';
import {pathBehindPrefix} from '../domains/path-prefixes.ts';
import type {LinkName} from './link-schemas.ts';
import {getLink, type LinkJsonWithDomain} from './read-links.ts';

type Owned = {id: string; organizationId: string};

/** The address of a short URL. @throws 404 for a URL that no link can have. */
export const addressOf = async (services: HostDeps, text: string): Promise<Address> => {
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
	services: HostDeps & Pick<Services, 'addresses' | 'linkPolicy'>,
	{page, limit, ...name}: PageQuery & LinkName,
): Promise<Page<LinkJsonWithDomain>> => {
	const {orgKey, ...link} = 'url' in name ? await addressOf(services, name.url) : {...name, orgKey: undefined};
	const conditions = [
		'id' in link ? sql`links.id = ${link.id}` : sql`short_code = ${link.shortCode}`,
		...(orgKey === undefined ? [] : [sql`org_key = ${orgKey}`]),
	];
	const found = await readSqlPage<Owned>(
		services.db,
		{
			columns: sql`links.id, organization_id AS "organizationId"`,
			from: sql`links JOIN organizations ON organizations.id = organization_id WHERE ${joined(conditions, ' AND ')}`,
			order: sql`links.created_at DESC, links.id DESC`,
		},
		{page, limit},
	);
	const data = found.data.map(async ({id, organizationId}) =>
		getLink(services, {organization: await requireOrganization(services, organizationId), id}),
	);
	return {...found, data: await Promise.all(data)};
};
