import {OplinkApiError} from '../../client/errors.ts';
import type {Context} from '../command.ts';
import type {ApiClient} from '../server/admin-client.ts';
import type {Page} from '../server/list-pages.ts';
import type {FieldChange} from './differences.ts';
import {type Doc, faultOf, repeated} from './documents.ts';
import {type KindName, kindNames, kinds, type Row} from './kinds.ts';
import {type Org, organizationsOf} from './organizations.ts';
import {compare, isOwn, pathOf, readState} from './state.ts';

/** A difference between documents and server. */
export type Change = {
	action: 'create' | 'update' | 'delete';
	kind: KindName;
	name: string;
	org: Org;
	/** Null for a row that no document names. */
	doc: Doc | null;
	/** Absent for one to create. */
	row?: Row;
	fields: FieldChange[];
	/** `unneeded`: another run was faster. */
	status: 'planned' | 'done' | 'failed' | 'unneeded';
};

/** The change that a document asks for, if any. */
const changesFor = (org: Org, doc: Doc): Change[] => {
	const {kind, name, identity} = doc;
	const row = org.rows[kind]?.get(identity);
	const fields = compare(org, doc, row);
	const change = {kind, name, org, doc, fields, status: 'planned'} as const;
	if (row !== undefined) {
		return fields.length === 0 ? [] : [{...change, action: 'update', row}];
	}

	fields.push(...(kind === 'Endpoint' ? [{field: 'secret', from: null, to: '(set)'}] : []));
	return [{...change, action: 'create'}];
};

/** The deletions of rows that could have a document and have none. A new organization has no rows. */
const deletionsOf = (org: Org, kind: KindName): Change[] =>
	[...((org.path !== null && org.rows[kind]) || [])]
		.filter(([identity, row]) => isOwn(row) && !org.docs[kind]?.has(identity))
		.map(([, row]) => {
			const name = String(row[kinds[kind].identity]);
			return {action: 'delete', kind, name, org, doc: null, row, fields: [], status: 'planned'};
		});

/** References of a change to rows that neither the server nor another document has. */
const danglingOf = ({doc, fields, org: {docs, rows}}: Change): string[] =>
	(['Template', 'Domain', 'Channel'] as const).flatMap((kind) => {
		const field = kind.toLowerCase();
		const name = fields.find((change) => change.field === field)?.to;
		const isThere = typeof name !== 'string' || rows[kind]?.has(name) !== false || docs[kind]?.has(name) === true;
		return doc === null || isThere ? [] : [faultOf(doc, `there is no ${field} '${name}'`, field)];
	});

/**
 * The changes of a run, in order, or the faults that prevent all of them.
 * @param prune kinds whose rows without a document are deleted.
 */
export const planOf = async (context: Context, docs: readonly Doc[], prune: readonly KindName[]) => {
	const {orgs: byDoc, faults} = await organizationsOf(context, docs);
	const orgs = new Set(byDoc.values());
	faults.push(...repeated(docs, (doc) => byDoc.get(doc)));
	for (const org of orgs) {
		const absent = prune.filter((kind) => org.docs[kind] === undefined);
		faults.push(...absent.map((kind) => `--prune ${kind}: the files have no ${kind} of ${org.label}`));
	}

	if (faults.length > 0) {
		return {changes: [], orgs, faults};
	}

	for (const org of orgs) {
		await readState(context.connection.admin(), org, prune).catch((error: unknown) => {
			const doc = docs.find((one) => byDoc.get(one) === org);
			if (!(error instanceof OplinkApiError && error.errorCode === 'organization_not_found' && doc)) {
				throw error;
			}

			// Without the right to read organizations, a missing one shows only here.
			faults.push(faultOf(doc, `there is no organization '${org.label}'`));
		});
	}

	const inOrder = kindNames.flatMap((kind) => docs.filter((doc) => doc.kind === kind));
	const changes = inOrder.flatMap((doc) => changesFor(byDoc.get(doc) as Org, doc));
	const pruned = kindNames.toReversed().filter((kind) => prune.includes(kind));
	const deletions = pruned.flatMap((kind) => [...orgs].flatMap((org) => deletionsOf(org, kind)));
	return {changes: [...changes, ...deletions], orgs, faults: [...faults, ...changes.flatMap(danglingOf)]};
};

/** A fault for each short code of a change that another link has, unless an earlier change frees it. */
export const takenCodeFaults = async (client: ApiClient, changes: readonly Change[]): Promise<string[]> => {
	const faults: string[] = [];
	const freed = new Set<unknown>();
	for (const {org, kind, doc, row, fields} of changes) {
		const code = fields.find(({field}) => kind === 'Link' && field === 'shortCode')?.to;
		if (doc && code !== undefined && org.path !== null) {
			const {data} = await client.get<Page<Row>>(pathOf(org, kind), {shortCode: String(code), limit: 1});
			const isTaken = data.some(({externalId, id}) => externalId !== doc.identity && !freed.has(id));
			faults.push(...(isTaken ? [faultOf(doc, `the short code '${code}' is taken`, 'shortCode')] : []));
			freed.add(row?.['id']);
		}
	}

	return faults;
};
