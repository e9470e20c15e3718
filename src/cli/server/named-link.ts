import type {LinkWithDomain} from '../../client/oplink.ts';
import {isShortCode} from '../../links/links/short-code.ts';
import {isUuid} from '../../platform/text.ts';
import {notFoundError, usageError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {type ApiClient, nullOn} from './admin-client.ts';
import {allOrBound, keySurface, type LinkSurface, type OrganizationApi, organizationAt} from './link-surface.ts';
import {eachPage, listAt, type Page} from './list-pages.ts';

/** A link by its id or its short code; the code of a short URL is its last segment. */
type LinkReference = {id: string} | {shortCode: string};

/** The parameters behind a link's name, each with its first value; undefined if there are none. */
export const queryOf = (text: string): Record<string, string> | undefined => {
	const [, query = ''] = /\?([^#]*)/.exec(text) ?? [];
	const pairs = [...new URLSearchParams(query)];
	const firsts = pairs.filter(([name], index) => pairs.findIndex(([other]) => other === name) === index);
	return firsts.length === 0 ? undefined : Object.fromEntries(firsts);
};

const WEB = /^https?:\/\//i;

/**
 * Parses an id, a short code or a short URL, each without its query; a URL may be without its scheme.
 * @throws OperatorError for a text that is none of them.
 */
const linkReference = (named: string): LinkReference => {
	const [text = ''] = named.trim().split(/[?#]/);
	if (isUuid(text)) {
		return {id: text};
	}

	const shortCode = text.split('/').findLast((segment) => segment !== '');
	if (shortCode === undefined || !isShortCode(shortCode)) {
		throw usageError(
			`'${named}' is not a short URL, a short code or an id`,
			'A short URL looks like https://go.acme.example/Ab12/spring; oplink links list shows the codes',
		);
	}

	return {shortCode};
};

/** As `linkReference`, for a look-up in all organizations, which needs a URL as a whole. */
const linkName = (named: string): LinkReference | {url: string} => {
	const reference = linkReference(named);
	const [text = ''] = named.trim().split(/[?#]/);
	return text.includes('/') ? {url: WEB.test(text) ? text : `https://${text}`} : reference;
};

type Found = {id: string; organizationId: string; url: string};

/** The path of a link on a surface; the next request checks the id. */
export const linkPath = ({path, id}: {path: string; id: string}): string => `${path}/links/${encodeURIComponent(id)}`;

const absent = (named: string, where: string) =>
	notFoundError(`${where} no link '${named}'`, 'oplink links list shows the short codes');

const linkIn = async <Surface extends LinkSurface>(
	surface: Surface,
	named: string,
	owner: string,
): Promise<Surface & {id: string}> => {
	const reference = linkReference(named);
	if ('id' in reference) {
		return {...surface, id: reference.id};
	}

	const {shortCode} = reference;
	const {data} = await surface.client.get<Page<Found>>(`${surface.path}/links`, {shortCode, limit: 1});
	const [link] = data;
	if (link === undefined) {
		throw absent(named, `${owner} has`);
	}

	return {...surface, id: link.id};
};

const findAnywhere = async (
	client: ApiClient,
	name: ReturnType<typeof linkName>,
	named: string,
): Promise<OrganizationApi & {id: string}> => {
	const {data, total} = await client.get<Page<Found>>('/admin/links', name);
	const [link] = data;
	if (link === undefined) {
		throw absent(named, 'There is');
	}

	if (total > 1) {
		throw usageError(
			`${total} organizations have a link '${named}'`,
			`Add --org ORG, or give the short URL: ${data.map(({url}) => url).join(', ')}`,
		);
	}

	const {id, organizationId} = link;
	return {...organizationAt(client, organizationId), id};
};

/**
 * The link of an id, a short code or a short URL, through the admin API: in the organization of `--org` or, for a code,
 * the default one, else in the one that has it.
 * @throws OperatorError for an unknown link, and if several organizations have it.
 */
export const namedAdminLink = async (
	{connection, options: {org}}: Context,
	named: string,
): Promise<OrganizationApi & {id: string}> => {
	const client = connection.admin();
	const within = (one: string) => linkIn(organizationAt(client, one), named, `Organization ${one}`);
	const name = linkName(named);
	// An id or a URL is unique; a code is not.
	const confined = org || ('shortCode' in name ? connection.organization() : null);
	return confined ? within(confined) : allOrBound(client, () => findAnywhere(client, name, named), within);
};

/** As `namedAdminLink`, but with the SERVER key if one is given and no organization is named (contract/operations 13). */
export const namedLink = async (context: Context, named: string): Promise<LinkSurface & {id: string}> => {
	const surface = keySurface(context);
	return surface === null ? namedAdminLink(context, named) : linkIn(surface, named, 'The organization of this key');
};

/** The fields of a link for answers that contain only its id. */
export type KnownLink = Pick<LinkWithDomain, 'url' | 'shortCode' | 'path' | 'params' | 'templateId'>;

/**
 * The links of ids, of any organization: null for a deleted one, none if the token may not read it.
 * @param path of the organization whose token may be bound to it.
 */
export const linksOfIds = async (
	{client, path}: Pick<OrganizationApi, 'client' | 'path'>,
	ids: readonly string[],
): Promise<Map<string, KnownLink | null>> => {
	const find = async (id: string): Promise<Array<[string, KnownLink | null]>> => {
		const all = await nullOn(client.get<Page<KnownLink>>('/admin/links', {id}), 403, 404);
		if (all !== null) {
			return [[id, all.data[0] ?? null]];
		}

		const own = await nullOn(client.get<KnownLink>(linkPath({path, id})), 403, 404);
		return own === null ? [] : [[id, own]];
	};
	return new Map((await Promise.all([...new Set(ids)].map(find))).flat());
};

type ListRow = {id: string; name?: string; hostname?: string};
export type Kind = 'channel' | 'domain' | 'template';

const nameOf = ({name, hostname}: ListRow): string => (name ?? hostname ?? '').toLowerCase();

/** A row of an organization's list, by its id or its name, in any case. @throws OperatorError for an unknown one. */
export const namedRow = async <Row extends ListRow>(
	{client, path}: Pick<OrganizationApi, 'client' | 'path'>,
	kind: Kind,
	named: string,
): Promise<Row> => {
	const wanted = named.toLowerCase();
	const names: string[] = [];
	for await (const {data} of eachPage(listAt<Row>(client, `${path}/${kind}s`))) {
		const found = data.find((row) => row.id === wanted || nameOf(row) === wanted);
		if (found) {
			return found;
		}

		names.push(...data.map(({name, hostname}) => name ?? hostname ?? ''));
	}

	throw notFoundError(
		`The organization has no ${kind} '${named}'`,
		names.length === 0
			? `It has none: oplink ${kind}s ${kind === 'domain' ? 'add' : 'create'}`
			: `It has ${names.join(', ')}`,
	);
};

/** The path of a row that is named by its name or id; an id is not looked up. */
export const pathOfNamed = async (chosen: OrganizationApi, kind: Kind, named: string): Promise<string> =>
	`${chosen.path}/${kind}s/${isUuid(named) ? named : (await namedRow(chosen, kind, named)).id}`;

/** The body of a link with ids in place of the names of a domain and a template. */
export const withIds = async (
	{client, org, path}: LinkSurface,
	body: Record<string, unknown>,
): Promise<Record<string, unknown>> => {
	const ids: Record<string, unknown> = {};
	for (const [field, kind] of [
		['domainId', 'domain'],
		['templateId', 'template'],
	] as const) {
		const named = body[field];
		if (typeof named === 'string' && !isUuid(named)) {
			if (org === null) {
				throw usageError(`A SERVER key cannot look up the ${kind} '${named}'`, `Give its id to --${kind}`);
			}

			ids[field] = (await namedRow({client, path}, kind, named)).id;
		}
	}

	return {...body, ...ids};
};
