import {OplinkApiError} from '../../client/errors.ts';
import {notFoundError, OperatorError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {isOrganization} from '../leading-organization.ts';
import type {ApiClient} from '../server/admin-client.ts';
import {chosenOrganization, organizationPath, orOfBound} from '../server/link-surface.ts';
import {listAt, listPages} from '../server/list-pages.ts';
import {type Doc, faultOf} from './documents.ts';
import type {KindName, Row} from './kinds.ts';

type OfKind<T> = Map<KindName, Map<string, T>>;

/**
 * An organization, its documents, and the rows that have been read, by kind and identity. `path` is null until the run has
 * created it; `row` also if the token may not read it.
 */
export type Org = {label: string; path: string | null; row: Row | null; docs: OfKind<Doc>; rows: OfKind<Row>};

const orgAt = (label: string, path: string | null, row: Row | null = null): Org => {
	return {label, path, row, docs: new Map(), rows: new Map()};
};

/** The answer, or null for one of these statuses. */
export const unless = <T>(answer: Promise<T>, ...statuses: number[]): Promise<T | null> =>
	answer.catch((error: unknown) => {
		if (error instanceof OplinkApiError && statuses.includes(error.status)) {
			return null;
		}

		throw error;
	});

export const orgOfRow = (row: Row): Org => orgAt(`${row['orgKey']}`, organizationPath(`${row['id']}`), row);

/**
 * The organization of an orgKey, an id or a name in any case; null for none. A bound token has only one.
 * @throws OperatorError (conflict) if several have the name.
 */
export const findOrganization = async (client: ApiClient, named: string): Promise<Org | null> => {
	const at = async (key: string): Promise<Org> => {
		const row = await unless(client.get<Row>(organizationPath(key)), 403);
		return row === null ? orgAt(key, organizationPath(key)) : orgOfRow(row);
	};
	const keyed = isOrganization(named) ? await unless(at(named), 404) : null;
	if (keyed !== null) {
		return keyed;
	}

	const list = listAt<Row>(client, '/admin/organizations');
	const all = await orOfBound(
		client,
		async () => (await listPages(list, {all: true}, {q: named})).data.map(orgOfRow),
		async (bound) => [await at(bound)],
	);
	const isNamed = ({row}: Org) => row === null || `${row['name']}`.toLowerCase() === named.toLowerCase();
	const [found = null, other] = all.filter(isNamed);
	if (other !== undefined) {
		const words = `Several organizations are named '${named}'`;
		throw new OperatorError(words, exitCodes.conflict, 'Write the orgKey of one: oplink orgs list shows them');
	}

	return found;
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
			const org = await findOrganization(connection.admin(), named);
			const known = [...byText.values()].find((other) => other !== null && other.path === org?.path);
			byText.set(named, known ?? org);
		}

		return byText.get(named) ?? byText.get(named.toLowerCase()) ?? null;
	};
	const given = options.org ? await find(options.org) : null;
	if (options.org && given === null) {
		throw notFoundError(`There is no organization '${options.org}'`, 'oplink orgs list shows them');
	}

	const own = docs.filter(({kind}) => kind === 'Organization');
	for (const doc of own) {
		const {name, spec} = doc;
		const org = (await find(name)) ?? orgAt(name, null);
		if (org.path === null && isOrganization(name) && spec['name'] !== name) {
			faults.push(faultOf(doc, 'no organization has this orgKey, and the server makes orgKeys; spec.name creates one'));
		} else if (org.path !== null && org.row === null) {
			// Says which scope is missing.
			await connection.admin().get(org.path);
		}

		byText.set(name, org).set(name.toLowerCase(), org);
		orgs.set(doc, org);
	}

	let fallback = given ?? (own.length === 1 ? ([...orgs.values()][0] ?? null) : null);
	for (const doc of docs) {
		if (doc.org === null && !orgs.has(doc)) {
			fallback ??= await find(await chosenOrganization({connection, options}));
		}

		const org = orgs.get(doc) ?? (doc.org === null ? fallback : await find(doc.org));
		const words =
			org === null
				? `there is no organization '${doc.org ?? connection.organization()}'`
				: `it is not of --org ${options.org}`;
		faults.push(...(org === null || org !== (given ?? org) ? [faultOf(doc, words)] : []));
		if (org !== null) {
			orgs.set(doc, org);
			org.docs.set(doc.kind, (org.docs.get(doc.kind) ?? new Map()).set(doc.identity, doc));
		}
	}

	return {orgs, faults};
};
