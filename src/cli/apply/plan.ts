import {OplinkApiError} from '../../client/errors.ts';
import type {Context} from '../command.ts';
import type {Page} from '../server/list-pages.ts';
import {type Change, changeFor, deletionsOf} from './changes.ts';
import {type Doc, faultOf, repeated} from './documents.ts';
import {type KindName, kindNames, type Row} from './kinds.ts';
import {type Org, organizationsOf} from './organizations.ts';
import {pathOf, readState, type State} from './state.ts';

/** What a run would do, in order, or the faults that keep it from doing anything. */
export type Plan = {states: State[]; changes: Change[]; faults: string[]};

/** References of a change to what neither the server nor another document has. */
const danglingOf = ({docs, rows}: State, {doc, fields}: Change): string[] =>
	(['Template', 'Domain', 'Channel'] as const).flatMap((kind) => {
		const field = kind.toLowerCase();
		const name = String(doc?.spec[field]);
		const isNamed = doc?.spec[field] != null && fields.some((change) => change.field === field);
		const isThere = rows.get(kind)?.has(name) !== false || docs.get(kind)?.has(name) === true;
		return doc === null || !isNamed || isThere ? [] : [faultOf(doc, `there is no ${field} '${name}'`, field)];
	});

const statesOf = (context: Context, orgs: ReadonlyMap<Doc, Org>): Map<Org, State> => {
	const states = new Map<Org, State>();
	for (const [doc, org] of orgs) {
		const state = states.get(org) ?? {client: context.connection.admin(), org, docs: new Map(), rows: new Map()};
		state.docs.set(doc.kind, (state.docs.get(doc.kind) ?? new Map()).set(doc.identity, doc));
		states.set(org, state);
	}

	return states;
};

/** Compares documents with the server. @param prune kinds whose rows without a document are deleted. */
export const planOf = async (context: Context, docs: readonly Doc[], prune: readonly KindName[]): Promise<Plan> => {
	const {orgs, faults} = await organizationsOf(context, docs);
	faults.push(...repeated(docs, (doc) => orgs.get(doc)));
	const byOrg = statesOf(context, orgs);
	const states = [...byOrg.values()];
	for (const {org, docs: own} of states) {
		const absent = prune.filter((kind) => !own.has(kind));
		faults.push(...absent.map((kind) => `--prune ${kind}: the files have no ${kind} of ${org.label}`));
	}

	for (const state of faults.length > 0 ? [] : states) {
		await readState(state, prune).catch((error: unknown) => {
			const [doc] = [...state.docs.values()].flatMap((named) => [...named.values()]);
			if (!(error instanceof OplinkApiError && error.status === 404 && state.org.row === null && doc)) {
				throw error;
			}

			faults.push(faultOf(doc, `there is no organization '${state.org.label}'`));
		});
	}

	const inOrder = kindNames.flatMap((kind) => docs.filter((doc) => doc.kind === kind));
	const changes: Change[] = [];
	for (const doc of faults.length > 0 ? [] : inOrder) {
		const state = byOrg.get(orgs.get(doc) as Org) as State;
		const change = changeFor(state, doc);
		faults.push(...(change === null ? [] : danglingOf(state, change)));
		changes.push(...(change === null ? [] : [change]));
	}

	const pruned = kindNames.toReversed().filter((kind) => prune.includes(kind));
	return {
		states,
		changes: [...changes, ...pruned.flatMap((kind) => states.flatMap((state) => deletionsOf(state, kind)))],
		faults,
	};
};

/** The short codes of a plan that other links have, unless an earlier change frees them. */
export const takenCodes = async ({states, changes}: Plan): Promise<string[]> => {
	const taken: string[] = [];
	const freed = new Set<unknown>();
	for (const {org, kind, doc, action, fields} of changes) {
		const state = states.find((one) => one.org === org);
		const code = fields.find(({field}) => kind === 'Link' && field === 'shortCode');
		if (state && doc && code && org.path !== null) {
			const query = {shortCode: String(code.to), limit: 1};
			const {data} = await state.client.get<Page<Row>>(pathOf(state, 'Link'), query);
			const isTaken = data.some(({externalId, id}) => externalId !== doc.identity && !freed.has(id));
			taken.push(...(isTaken ? [faultOf(doc, `the short code '${code.to}' is taken`, 'shortCode')] : []));
			freed.add(action === 'update' ? state.rows.get('Link')?.get(doc.identity)?.['id'] : null);
		}
	}

	return taken;
};
