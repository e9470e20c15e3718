import {OplinkApiError} from '../../client/errors.ts';
import type {Context} from '../command.ts';
import type {ApiClient} from '../server/admin-client.ts';
import type {Page} from '../server/list-pages.ts';
import {type Change, changeFor, deletionsOf} from './changes.ts';
import {type Doc, faultOf, repeated} from './documents.ts';
import {type KindName, kindNames, type Row} from './kinds.ts';
import {type Org, organizationsOf} from './organizations.ts';
import {pathOf, readState} from './state.ts';

/** What a run would do, in order, or the faults that keep it from doing anything. */
export type Plan = {changes: Change[]; orgs: ReadonlySet<Org>; faults: string[]};

/** References of a change to what neither the server nor another document has. */
const danglingOf = ({doc, fields, org: {docs, rows}}: Change): string[] =>
	(['Template', 'Domain', 'Channel'] as const).flatMap((kind) => {
		const field = kind.toLowerCase();
		const name = String(doc?.spec[field]);
		const isNamed = doc?.spec[field] != null && fields.some((change) => change.field === field);
		const isThere = rows.get(kind)?.has(name) !== false || docs.get(kind)?.has(name) === true;
		return doc === null || !isNamed || isThere ? [] : [faultOf(doc, `there is no ${field} '${name}'`, field)];
	});

/** Compares documents with the server. @param prune kinds whose rows without a document are deleted. */
export const planOf = async (context: Context, docs: readonly Doc[], prune: readonly KindName[]): Promise<Plan> => {
	const client = context.connection.admin();
	const {orgs: byDoc, faults} = await organizationsOf(context, docs);
	faults.push(...repeated(docs, (doc) => byDoc.get(doc)));
	const orgs = new Set(byDoc.values());
	for (const org of orgs) {
		const absent = prune.filter((kind) => !org.docs.has(kind));
		faults.push(...absent.map((kind) => `--prune ${kind}: the files have no ${kind} of ${org.label}`));
	}

	for (const org of faults.length > 0 ? [] : orgs) {
		await readState(client, org, prune).catch((error: unknown) => {
			const doc = docs.find((one) => byDoc.get(one) === org);
			if (!(error instanceof OplinkApiError && error.status === 404 && org.row === null && doc)) {
				throw error;
			}

			faults.push(faultOf(doc, `there is no organization '${org.label}'`));
		});
	}

	const inOrder = kindNames.flatMap((kind) => docs.filter((doc) => doc.kind === kind));
	const changes = (faults.length > 0 ? [] : inOrder).flatMap(
		(doc) => changeFor(client, byDoc.get(doc) as Org, doc) ?? [],
	);
	faults.push(...changes.flatMap(danglingOf));
	const pruned = kindNames.toReversed().filter((kind) => prune.includes(kind));
	changes.push(...pruned.flatMap((kind) => [...orgs].flatMap((org) => deletionsOf(client, org, kind))));
	return {changes, orgs, faults};
};

/** The short codes of changes that other links have, unless an earlier change frees them. */
export const takenCodes = async (client: ApiClient, changes: readonly Change[]): Promise<string[]> => {
	const taken: string[] = [];
	const freed = new Set<unknown>();
	for (const {org, kind, doc, fields} of changes) {
		const code = fields.find(({field}) => kind === 'Link' && field === 'shortCode')?.to;
		if (doc && code !== undefined && org.path !== null) {
			const {data} = await client.get<Page<Row>>(pathOf(org, kind), {shortCode: String(code), limit: 1});
			const isTaken = data.some(({externalId, id}) => externalId !== doc.identity && !freed.has(id));
			taken.push(...(isTaken ? [faultOf(doc, `the short code '${code}' is taken`, 'shortCode')] : []));
			freed.add(org.rows.get(kind)?.get(doc.identity)?.['id']);
		}
	}

	return taken;
};
