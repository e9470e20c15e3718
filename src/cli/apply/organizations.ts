import {exitCodes, notFoundError, OperatorError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {isOrganization} from '../leading-organization.ts';
import {type ApiClient, nullOn} from '../server/admin-client.ts';
import {allOrBound, chosenOrganization, organizationPath} from '../server/link-surface.ts';
import {allAt} from '../server/list-pages.ts';
import {type Doc, faultOf} from './documents.ts';
import type {KindName, Row} from './kinds.ts';

type OfKind<T> = Partial<Record<KindName, Map<string, T>>>;

/**
 * An organization, its documents, and the rows that have been read, by kind and identity. `path` is null until the run has
 * created it.
 */
export type Org = {label: string; path: string | null; docs: OfKind<Doc>; rows: OfKind<Row>};

/** The label and the path of an organization, from its row. */
export const placeOf = ({id, orgKey}: Row) => ({label: String(orgKey), path: organizationPath(String(id))});

/**
 * The organization of an orgKey, an id or a name in any case; null for none. A bound token has only one.
 * @throws OperatorError (conflict) if several have the name.
 */
export const findOrganization = async (client: ApiClient, named: string): Promise<Org | null> => {
	const isNamed = ({id, orgKey, name}: Row) =>
		orgKey === named || [id, name].some((text) => String(text).toLowerCase() === named.toLowerCase());
	const orBound = (rows: () => Promise<Row[]>) => allOrBound(client, rows, (_, bound): Row[] => [bound]);
	const byKey = () => orBound(async () => [await client.get<Row>(organizationPath(named))]);
	// A token that may not read organizations may still use the key of one.
	const keyed = async () => (await nullOn(byKey(), 403)) ?? [{id: named, orgKey: named, name: named}];
	const byName = () => orBound(() => allAt<Row>(client, '/admin/organizations', {q: named}));
	const rows = (isOrganization(named) ? await nullOn(keyed(), 404) : null) ?? (await byName());
	const [found, other] = rows.filter(isNamed);
	if (other !== undefined) {
		const words = `Several organizations are named '${named}'`;
		throw new OperatorError(words, exitCodes.conflict, 'Write the orgKey of one: oplink orgs list shows them');
	}

	return found === undefined ? null : {...placeOf(found), docs: {}, rows: {}};
};

/** The named organization. @throws OperatorError (not found). */
export const requireOrganization = (org: Org | null, named: string): Org => {
	if (org === null) {
		throw notFoundError(`There is no organization '${named}'`, 'oplink orgs list shows them');
	}

	return org;
};

/**
 * The organization of each document: of its own `org`, of `--org`, of the only Organization document, or the only one
 * there is (contract/operations 20). Those of Organization documents may not exist yet.
 */
export const organizationsOf = async (
	{connection, options}: Context,
	docs: readonly Doc[],
): Promise<{orgs: Map<Doc, Org>; faults: string[]}> => {
	const orgs = new Map<Doc, Org>();
	const faults: string[] = [];
	const byText = new Map<string, Org | null>();
	const find = async (named: string): Promise<Org | null> => {
		if (!byText.has(named)) {
			const found = await findOrganization(connection.admin(), named);
			const isNew = (org: Org | null) => org?.path === null && org.label.toLowerCase() === named.toLowerCase();
			const isSame = (org: Org | null) => (found === null ? isNew(org) : org?.path === found.path);
			byText.set(named, [...byText.values()].find(isSame) ?? found);
		}

		return byText.get(named) ?? null;
	};
	for (const doc of docs.filter(({kind}) => kind === 'Organization')) {
		const {name, spec} = doc;
		const found = await find(name);
		if (found === null && isOrganization(name) && spec['name'] !== name) {
			faults.push(faultOf(doc, 'no organization has this orgKey, and the server makes orgKeys; spec.name creates one'));
		}

		const org = found ?? {label: name, path: null, docs: {}, rows: {}};
		byText.set(name, org);
		orgs.set(doc, org);
	}

	const given = options.org ? requireOrganization(await find(options.org), options.org) : null;
	let fallback = given ?? (orgs.size === 1 ? ([...orgs.values()][0] ?? null) : null);
	for (const doc of docs) {
		if (doc.org === null && !orgs.has(doc)) {
			fallback ??= await find(await chosenOrganization({connection, options}));
		}

		const org = orgs.get(doc) ?? (doc.org === null ? fallback : await find(doc.org));
		if (org === null) {
			faults.push(faultOf(doc, `there is no organization '${doc.org ?? connection.organization()}'`));
			continue;
		}

		if (given !== null && org !== given) {
			faults.push(faultOf(doc, `it is not of --org ${options.org}`));
		}

		orgs.set(doc, org);
		org.docs[doc.kind] = (org.docs[doc.kind] ?? new Map()).set(doc.identity, doc);
	}

	return {orgs, faults};
};
