import {Readable} from 'node:stream';
import {ORG_KEY} from '../../accounts/organizations/org-key.ts';
import {requireOrganization} from '../../accounts/organizations/require-organization.ts';
import {pagesByKey} from '../../platform/db/batches.ts';
import {type Page, type PageQuery, readSqlPage} from '../../platform/db/read-page.ts';
import {joined, sql} from '../../platform/db/sql.ts';
import {linkNotFound, required} from '../../platform/errors.ts';
import {hostnameOf} from '../../platform/http/request-host.ts';
import {type Reply, type RequestFacts, reply, withLoggedFault} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {type Address, findServedDomain, type HostDeps, locate, pathBehindPrefix} from '../domains/locate.ts';
import {type LinkOwner, type LinkRow, linkJsonWithDomain} from './link.ts';
import {ndjsonHeaders} from './link-answer.ts';
import {type ReferenceDeps, readReferences} from './link-references.ts';
import type {ExportQuery, LinkListQuery, LinkName} from './link-schemas.ts';
import {createLinkStore} from './link-store.ts';

const BATCH = 500;

type Deps = ReferenceDeps & Pick<Services, 'addresses' | 'db'>;

type Export = {organization: LinkOwner; query: ExportQuery; request: RequestFacts};

async function* lines(services: Deps, organization: LinkOwner, batches: AsyncIterable<LinkRow[]>) {
	for await (const batch of batches) {
		const references = await readReferences(services, services.db, organization, {links: batch});
		yield batch
			.map((link) => `${JSON.stringify(linkJsonWithDomain(services.addresses, organization, references.view(link)))}\n`)
			.join('');
	}
}

/**
 * All links of the organization as NDJSON, each with its domain, oldest first. They are read in batches as the caller
 * consumes them. A server fault breaks the connection instead of ending the answer.
 */
export const exportLinks = async (services: Deps, {organization, query, request}: Export): Promise<Reply> => {
	const store = createLinkStore(services.db, organization.id);
	// Read before the answer begins: an unreachable database is a 503.
	const first = await store.after(null, BATCH, query);
	const batches = pagesByKey<LinkRow>(BATCH, async (last) => (last === null ? first : store.after(last, BATCH, query)));
	const body = Readable.from(withLoggedFault(request, 'an export', lines(services, organization, batches)));
	return reply({headers: ndjsonHeaders, body});
};

/** A link as list and get answer it. */
export type LinkJsonWithDomain = ReturnType<typeof linkJsonWithDomain>;

/** One link, with its domain. @throws 404. */
export const getLink = async (
	services: ReferenceDeps & Pick<Services, 'addresses' | 'db'>,
	{organization, id}: {organization: LinkOwner; id: string},
): Promise<LinkJsonWithDomain> => {
	const link = required(await createLinkStore(services.db, organization.id).find(id), linkNotFound);
	const references = await readReferences(services, services.db, organization, {links: [link]});
	return linkJsonWithDomain(services.addresses, organization, references.view(link));
};

/** A page of the organization's links, each with its domain, the newest first; with `query.clicks` also with its clicks. */
export const listLinks = async (
	services: ReferenceDeps & Pick<Services, 'addresses' | 'db' | 'linkClicks'>,
	{organization, query}: {organization: LinkOwner; query: LinkListQuery},
): Promise<Page<LinkJsonWithDomain & {clicks?: number}>> => {
	const found = await createLinkStore(services.db, organization.id).list(query);
	const references = await readReferences(services, services.db, organization, {links: found.data});
	const ids = found.data.map(({id}) => id);
	const clicks = query.clicks && ids.length > 0 ? await services.linkClicks(organization.id, ids) : null;
	return {
		...found,
		data: found.data.map((link) => ({
			...linkJsonWithDomain(services.addresses, organization, references.view(link)),
			...(clicks === null ? {} : {clicks: clicks.get(link.id) ?? 0}),
		})),
	};
};

type LinkOwnerIds = {id: string; organizationId: string};

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
	const found = await readSqlPage<LinkOwnerIds>(
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
