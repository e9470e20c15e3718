import {OplinkApiError} from '../../client/errors.ts';
import {OperatorError} from '../cli-errors.ts';
import {exitCodes} from '../exit-codes.ts';
import type {ApiClient} from '../server/admin-client.ts';
import {allAt, type Page} from '../server/list-pages.ts';
import type {FieldChange} from './differences.ts';
import type {Doc} from './documents.ts';
import {identityOf, type KindName, kinds, type Row} from './kinds.ts';
import {findOrganization, type Org, orgOfRow, unless} from './organizations.ts';
import {compare, isNamed, pathOf, readKind} from './state.ts';

/** A difference between documents and server, which `send` removes. */
export type Change = {
	action: 'create' | 'update' | 'delete';
	kind: KindName;
	name: string;
	org: Org;
	/** Null for a row that no document names. */
	doc: Doc | null;
	fields: FieldChange[];
	status: 'planned' | 'done' | 'failed';
	send: () => Promise<unknown>;
};

/** The ids of what a link names. @throws OperatorError for what is not there, or not usable yet. */
const referencesOf = async (client: ApiClient, org: Org, spec: Row): Promise<Row> => {
	const ids: Row = {};
	for (const [field, kind] of [
		['template', 'Template'],
		['domain', 'Domain'],
	] as const) {
		const name = spec[field];
		if (typeof name === 'string') {
			const row = org.rows.get(kind)?.get(name) ?? (await readKind(client, org, kind)).get(name);
			if (row === undefined || (kind === 'Domain' && row['status'] !== 'VERIFIED')) {
				const words = row === undefined ? `There is no ${field} '${name}'` : `Domain ${name} is not verified`;
				throw new OperatorError(words, exitCodes.failed, row && `oplink domains verify --org ${org.label} ${name}`);
			}

			ids[`${field}Id`] = row['id'];
		} else if (name === null) {
			ids[`${field}Id`] = null;
		}
	}

	return ids;
};

const update = async (
	client: ApiClient,
	org: Org,
	{kind, spec}: Doc,
	row: Row,
	fields: FieldChange[],
): Promise<void> => {
	if (kind === 'AppConfig') {
		await client.put(pathOf(org, kind), spec);
		return;
	}

	const at = kind === 'Organization' ? `${org.path}` : `${pathOf(org, kind)}/${row['id']}`;
	const isSent = ([name]: [string, unknown]) => fields.some(({field}) => field.split('.')[0] === name);
	const {template, domain, plan, default: isDefault, ...own} = Object.fromEntries(Object.entries(spec).filter(isSent));
	const body = {...own, ...(await referencesOf(client, org, {template, domain}))};
	await (Object.keys(body).length > 0 ? client.patch(at, body) : null);
	await (plan === undefined ? null : client.put(`${at}/plan`, {plan}));
	await (isDefault === true ? client.post(`${at}/default`) : null);
};

/** URLs are not unique: of endpoints that two runs create at once, the older one stays. */
const keepOldest = async (client: ApiClient, at: string, url: string): Promise<void> => {
	const same = (await allAt<Row>(client, at)).filter((row) => identityOf('Endpoint', row['url']) === url);
	const ageOf = (row: Row) => `${row['createdAt']} ${row['id']}`;
	for (const {id} of same.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1)).slice(1)) {
		await unless(client.delete(`${at}/${id}`), 404);
	}
};

const create = async (client: ApiClient, org: Org, doc: Doc): Promise<void> => {
	const {kind, name, identity, spec} = doc;
	if (kind === 'AppConfig') {
		await client.put(pathOf(org, kind), spec);
		return;
	}

	const at = kind === 'Organization' ? '/admin/organizations' : pathOf(org, kind);
	const {template, domain, ...body} = kind === 'Domain' ? {} : spec;
	const references = await referencesOf(client, org, {template, domain});
	const row = await client.post<Row>(at, {[kinds[kind].identity]: name, ...body, ...references});
	org.rows.set(kind, (org.rows.get(kind) ?? new Map()).set(identity, row));
	if (kind === 'Organization') {
		const {label, path} = orgOfRow(row);
		Object.assign(org, {label, path, row});
	} else if (kind === 'Domain') {
		await update(client, org, doc, row, compare(org, doc, row));
	} else if (kind === 'Endpoint') {
		await keepOldest(client, at, identity);
	}
};

/** Creates a row or, if another run has created it meanwhile, makes it what the document says. */
const createOrUpdate = async (client: ApiClient, org: Org, doc: Doc): Promise<void> => {
	const {kind, name, identity} = doc;
	try {
		await create(client, org, doc);
	} catch (error) {
		if (!(error instanceof OplinkApiError && error.status === 409)) {
			throw error;
		}

		const found = kind === 'Organization' ? await findOrganization(client, name) : null;
		Object.assign(org, found && {label: found.label, path: found.path, row: found.row});
		const row =
			kind === 'Link'
				? (await client.get<Page<Row>>(pathOf(org, kind), {externalId: identity})).data[0]
				: (await readKind(client, org, kind)).get(kind === 'Organization' ? '' : identity);
		if (row === undefined) {
			throw error;
		}

		const fields = compare(org, doc, row);
		await (fields.length === 0 ? null : update(client, org, doc, row, fields));
	}
};

/** The change that a document asks for; null for none. */
export const changeFor = (client: ApiClient, org: Org, doc: Doc): Change | null => {
	const {kind, name, identity} = doc;
	const row = org.rows.get(kind)?.get(kind === 'Organization' ? '' : identity);
	const fields = compare(org, doc, row);
	const change = {kind, name, org, doc, fields, status: 'planned'} as const;
	if (row === undefined) {
		fields.push(...(kind === 'Endpoint' ? [{field: 'secret', from: null, to: '(set)'}] : []));
		return {...change, action: 'create', send: () => createOrUpdate(client, org, doc)};
	}

	return fields.length === 0 ? null : {...change, action: 'update', send: () => update(client, org, doc, row, fields)};
};

/** The deletions of rows that could have a document and have none. */
export const deletionsOf = (client: ApiClient, org: Org, kind: KindName): Change[] =>
	[...(org.rows.get(kind) ?? [])].flatMap(([identity, row]): Change[] => {
		const name = String(row[kinds[kind].identity]);
		const send = () => unless(client.delete(`${pathOf(org, kind)}/${row['id']}`), 404);
		const change = {action: 'delete', kind, name, org, doc: null, fields: [], status: 'planned', send} as const;
		return isNamed([identity, row]) && !org.docs.get(kind)?.has(identity) ? [{...change, fields: []}] : [];
	});
