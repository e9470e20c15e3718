import type {PlanDeps} from '../../accounts/plans/entitlements.ts';
import type {Page} from '../../platform/db/read-page.ts';
import {linkNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {type LinkOwner, linkJsonWithDomain} from './link.ts';
import {readReferences} from './link-references.ts';
import type {LinkListQuery} from './link-schemas.ts';
import {createLinkStore} from './link-store.ts';

/** A link as list and get answer it. */
export type LinkJsonWithDomain = ReturnType<typeof linkJsonWithDomain>;

/** One link, with its domain. @throws 404. */
export const getLink = async (
	services: PlanDeps & Pick<Services, 'addresses' | 'db'>,
	{organization, id}: {organization: LinkOwner; id: string},
): Promise<LinkJsonWithDomain> => {
	const link = required(await createLinkStore(services.db, organization.id).find(id), linkNotFound);
	const references = await readReferences(services, services.db, organization, {links: [link]});
	return linkJsonWithDomain(services.addresses, organization, references.view(link));
};

/** A page of the organization's links, each with its domain, the newest first; with `query.clicks` also with its clicks. */
export const listLinks = async (
	services: PlanDeps & Pick<Services, 'addresses' | 'db' | 'linkClicks'>,
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
