import {OplinkApiError} from '../../client/errors.ts';
import {OperatorError} from '../cli-errors.ts';
import {exitCodes} from '../exit-codes.ts';
import {allAt, type Page} from '../server/list-pages.ts';
import type {FieldChange} from './differences.ts';
import type {Doc} from './documents.ts';
import {identityOf, type KindName, kinds, type Row} from './kinds.ts';
import {findOrganization, type Org, orgOfRow, unless} from './organizations.ts';
import {compare, isNamed, pathOf, readKind, type State} from './state.ts';

/** A difference between documents and server, which `send` removes. */
export type Change = {
	action: 'create' | 'update' | 'delete';
	kind: KindName;
	name: string;
	org: Org;
	/** Null for a row that no document names. */
	doc: Doc | null;
	fields: FieldChange[];
	status: 'planned' | 'pending' | 'done' | 'failed';
	send: () => Promise<void>;
};

/** The id of a row that a link names, in its body. @throws OperatorError for one that is not there, or not usable yet. */
const reference = async (state: State, kind: 'Template' | 'Domain', name: unknown): Promise<Row> => {
	const field = `${kind.toLowerCase()}Id`;
	if (name == null) {
		return name === null ? {[field]: null} : {};
	}

	const row = state.rows.get(kind)?.get(String(name)) ?? (await readKind(state, kind)).get(String(name));
	if (row === undefined || (kind === 'Domain' && row['status'] !== 'VERIFIED')) {
		const words = row === undefined ? `There is no ${kind.toLowerCase()} '${name}'` : `Domain ${name} is not verified`;
		throw new OperatorError(words, exitCodes.failed, row && `oplink domains verify --org ${state.org.label} ${name}`);
	}

	return {[field]: row['id']};
};

/** The body of the API for fields of a document. */
const bodyOf = async (state: State, {spec}: Doc, isSent: (field: string) => boolean): Promise<Row> => {
	const {template, domain, ...body} = Object.fromEntries(Object.entries(spec).filter(([field]) => isSent(field)));
	const references = [reference(state, 'Template', template), reference(state, 'Domain', domain)];
	return Object.assign(body, ...(await Promise.all(references)));
};

const update = async (state: State, doc: Doc, row: Row, fields: FieldChange[]): Promise<void> => {
	const {client, org} = state;
	const {kind} = doc;
	if (kind === 'AppConfig') {
		await client.put(pathOf(state, kind), doc.spec);
		return;
	}

	const at = kind === 'Organization' ? `${org.path}` : `${pathOf(state, kind)}/${row['id']}`;
	const isSent = (name: string) => fields.some(({field}) => field.split('.')[0] === name);
	const {plan, default: isDefault, ...body} = await bodyOf(state, doc, isSent);
	await (Object.keys(body).length > 0 ? client.patch(at, body) : null);
	await (plan === undefined ? null : client.put(`${at}/plan`, {plan}));
	await (isDefault === true ? client.post(`${at}/default`) : null);
};

/** URLs are not unique: of endpoints that two runs create at once, the older one stays. */
const keepOldest = async (state: State, {identity}: Doc): Promise<void> => {
	const at = pathOf(state, 'Endpoint');
	const same = (await allAt<Row>(state.client, at)).filter(({url}) => identityOf('Endpoint', url) === identity);
	const ageOf = (row: Row) => `${row['createdAt']} ${row['id']}`;
	for (const {id} of same.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1)).slice(1)) {
		await unless(state.client.delete(`${at}/${id}`), 404);
	}
};

const create = async (state: State, doc: Doc): Promise<void> => {
	const {kind, name, identity} = doc;
	if (kind === 'AppConfig') {
		await update(state, doc, {}, []);
		return;
	}

	const at = kind === 'Organization' ? '/admin/organizations' : pathOf(state, kind);
	const body = await bodyOf(state, doc, () => kind !== 'Domain');
	const row = await state.client.post<Row>(at, {[kinds[kind].identity]: name, ...body});
	state.rows.set(kind, (state.rows.get(kind) ?? new Map()).set(identity, row));
	if (kind === 'Organization') {
		Object.assign(state.org, orgOfRow(row));
	} else if (kind === 'Domain') {
		await update(state, doc, row, compare(state, doc, row));
	} else if (kind === 'Endpoint') {
		await keepOldest(state, doc);
	}
};

/** The row of a document that another run has created meanwhile. */
const createdMeanwhile = async (state: State, {kind, name, identity}: Doc): Promise<Row | undefined> =>
	kind === 'Organization'
		? (Object.assign(state.org, await findOrganization(state.client, name)).row ?? undefined)
		: kind === 'Link'
			? (await state.client.get<Page<Row>>(pathOf(state, kind), {externalId: identity})).data[0]
			: (await readKind(state, kind)).get(identity);

const createOnce = async (state: State, doc: Doc): Promise<void> => {
	try {
		await create(state, doc);
	} catch (error) {
		const isTaken = error instanceof OplinkApiError && error.status === 409;
		const row = isTaken ? await createdMeanwhile(state, doc) : undefined;
		if (row === undefined) {
			throw error;
		}

		const fields = compare(state, doc, row);
		await (fields.length === 0 ? null : update(state, doc, row, fields));
	}
};

/** The change that a document asks for; null for none. */
export const changeFor = (state: State, doc: Doc): Change | null => {
	const {kind, name, identity} = doc;
	const row = state.rows.get(kind)?.get(kind === 'Organization' ? '' : identity);
	const fields = compare(state, doc, row);
	const change = {kind, name, org: state.org, doc, status: 'planned'} as const;
	if (row !== undefined) {
		const send = () => update(state, doc, row, fields);
		return fields.length === 0 ? null : {...change, action: 'update', fields, send};
	}

	fields.push(...(kind === 'Endpoint' ? [{field: 'secret', from: null, to: '(set)'}] : []));
	return {...change, action: 'create', fields, send: () => createOnce(state, doc)};
};

/** The deletions of rows that could have a document and have none. */
export const deletionsOf = (state: State, kind: KindName): Change[] =>
	[...(state.rows.get(kind) ?? [])]
		.filter((entry) => isNamed(entry) && !state.docs.get(kind)?.has(entry[0]))
		.map(([, row]) => ({
			action: 'delete',
			kind,
			name: String(row[kinds[kind].identity]),
			org: state.org,
			doc: null,
			fields: [],
			status: 'planned',
			send: async () => void (await unless(state.client.delete(`${pathOf(state, kind)}/${row['id']}`), 404)),
		}));
