import {OplinkApiError} from '../../client/errors.ts';
import {exitCodes, OperatorError} from '../cli-errors.ts';
import {type ApiClient, nullOn} from '../server/admin-client.ts';
import {allAt, type Page} from '../server/list-pages.ts';
import type {Change} from './changes.ts';
import type {FieldChange} from './differences.ts';
import type {Doc} from './documents.ts';
import {identityOf, kinds, type Row} from './kinds.ts';
import {findOrganization, type Org, placeOf} from './organizations.ts';
import {compare, pathOf, readKind} from './state.ts';

/** The ids of the rows that a link refers to. @throws OperatorError for one that does not exist, or cannot be used yet. */
const referencesOf = async (client: ApiClient, org: Org, spec: Row): Promise<Row> => {
	const ids: Row = {};
	for (const kind of ['Template', 'Domain'] as const) {
		const field = kind.toLowerCase();
		const name = spec[field];
		if (typeof name === 'string') {
			const row = org.rows[kind]?.get(name) ?? (await readKind(client, org, kind)).get(name);
			if (row === undefined || (kind === 'Domain' && row['status'] !== 'VERIFIED')) {
				const words = row === undefined ? `There is no ${field} '${name}'` : `Domain ${name} is not verified`;
				const step = row?.['status'] === 'REJECTED' ? 'approve' : 'verify';
				throw new OperatorError(words, exitCodes.failed, row && `oplink domains ${step} --org ${org.label} ${name}`);
			}

			ids[`${field}Id`] = row['id'];
		} else if (name === null) {
			ids[`${field}Id`] = null;
		}
	}

	return ids;
};

/** A refusal after a part of a change was made. `left`: the fields that were not. */
export class PartlyMade extends Error {
	readonly left: FieldChange[];

	constructor(left: FieldChange[], cause: unknown) {
		super('a part of the change is made', {cause});
		this.left = left;
	}
}

/** The request of a change after its first one. @throws PartlyMade if it is refused. */
const followUp = <T>(left: FieldChange[], request: Promise<T>): Promise<T> =>
	request.catch((error: unknown) => {
		throw new PartlyMade(left, error);
	});

const update = async (client: ApiClient, org: Org, {kind, spec}: Doc, row: Row, fields: FieldChange[]) => {
	const at = pathOf(org, kind);
	const own = kind === 'Organization' ? at : `${at}/${row['id']}`;
	const isSent = ([name]: [string, unknown]) => fields.some(({field}) => field.split('.')[0] === name);
	const {template, domain, plan, default: isDefault, ...body} = Object.fromEntries(Object.entries(spec).filter(isSent));
	Object.assign(body, await referencesOf(client, org, {template, domain}));
	const hasBody = Object.keys(body).length > 0;
	await (hasBody ? client.patch(own, body) : null);
	const last =
		plan !== undefined ? client.put(`${own}/plan`, {plan}) : isDefault === true ? client.post(`${own}/default`) : null;
	const left = fields.filter(({field}) => field === 'plan' || field === 'default');
	await (hasBody && last !== null ? followUp(left, last) : last);
};

/** URLs are not unique: of endpoints that two runs create at once, the older one stays. */
const keepOldest = async (client: ApiClient, at: string, url: string): Promise<void> => {
	const same = (await allAt<Row>(client, at)).filter((row) => identityOf('Endpoint', row['url']) === url);
	const ageOf = (row: Row) => `${row['createdAt']} ${row['id']}`;
	for (const {id} of same.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1)).slice(1)) {
		await nullOn(client.delete(`${at}/${id}`), 404);
	}
};

const create = async (client: ApiClient, org: Org, doc: Doc): Promise<void> => {
	const {kind, name, identity, spec} = doc;
	const at = kind === 'Organization' ? '/admin/organizations' : pathOf(org, kind);
	const {template, domain, ...body} = kind === 'Domain' ? {} : spec;
	const references = await referencesOf(client, org, {template, domain});
	const row = await client.post<Row>(at, {[kinds[kind].identity]: name, ...body, ...references});
	org.rows[kind] = (org.rows[kind] ?? new Map()).set(identity, row);
	if (kind === 'Organization') {
		Object.assign(org, placeOf(row));
	} else if (kind === 'Domain') {
		const fields = compare(org, doc, row);
		await followUp(fields, update(client, org, doc, row, fields));
	} else if (kind === 'Endpoint') {
		await keepOldest(client, at, identity);
	}
};

/** The row of a document that another run has created meanwhile. */
const readAgain = async (client: ApiClient, org: Org, {kind, name, identity}: Doc): Promise<Row | undefined> => {
	if (kind === 'Link') {
		return (await client.get<Page<Row>>(pathOf(org, kind), {externalId: identity})).data[0];
	}

	if (kind === 'Organization') {
		const {label, path} = (await findOrganization(client, name)) ?? org;
		Object.assign(org, {label, path});
	}

	return (await readKind(client, org, kind)).get(identity);
};

/** Makes a change. @returns false if another run has made it meanwhile. */
export const send = async (client: ApiClient, {kind, org, doc, row, fields}: Change): Promise<boolean> => {
	if (doc === null) {
		return (await nullOn(client.delete(`${pathOf(org, kind)}/${row?.['id']}`), 404)) !== null;
	}

	if (kind === 'AppConfig') {
		await client.put(pathOf(org, kind), doc.spec);
		return true;
	}

	if (row !== undefined) {
		await update(client, org, doc, row, fields);
		return true;
	}

	try {
		await create(client, org, doc);
		return true;
	} catch (error) {
		const isTaken = error instanceof OplinkApiError && error.status === 409;
		const found = isTaken ? await readAgain(client, org, doc) : undefined;
		if (found === undefined) {
			throw error;
		}

		const differing = compare(org, doc, found);
		await (differing.length === 0 ? null : update(client, org, doc, found, differing));
		return differing.length > 0;
	}
};
