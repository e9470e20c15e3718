import {type AppConfigInput, appConfigOf} from '../../links/app-config/app-config.ts';
import {isObject} from '../../links/links/import/canonical-json.ts';
import {inParallel} from '../import/in-parallel.ts';
import {linesOf} from '../lines.ts';
import type {ApiClient} from '../server/admin-client.ts';
import {allAt, type Page} from '../server/list-pages.ts';
import {differences, type FieldChange} from './differences.ts';
import type {Doc} from './documents.ts';
import {fieldsOf, identityOf, inheritedFields, type KindName, kindNames, kinds, type Row} from './kinds.ts';
import {type Org, unless} from './organizations.ts';

type OfKind<T> = Map<KindName, Map<string, T>>;

/** An organization, its documents, and the rows that have been read, by kind and identity. */
export type State = {client: ApiClient; org: Org; docs: OfKind<Doc>; rows: OfKind<Row>};

export const pathOf = ({org}: State, kind: KindName): string => `${org.path}/${kinds[kind].path}`;

/** Requests at once. */
export const PARALLEL = 8;
/** Reading this many rows of an export takes as long as finding one link by its name. */
const ROWS_PER_NAME = 50;

/** The links of documents. @param all every link that could have a document. */
async function* linksOf(state: State, all: boolean): AsyncGenerator<Row> {
	const {client, docs} = state;
	const at = pathOf(state, 'Link');
	const names: ReadonlyMap<unknown, Doc> = docs.get('Link') ?? new Map();
	const {total} = all ? {total: 0} : await client.get<Page<Row>>(at, {limit: 1});
	if (total <= names.size * ROWS_PER_NAME) {
		for await (const line of linesOf(client.stream(`${at}/export`))) {
			const row = JSON.parse(line) as Row;
			if (all || names.has(row['externalId'])) {
				yield row;
			}
		}
	} else {
		const find = (externalId: unknown) => client.get<Page<Row>>(at, {externalId: String(externalId)});
		for await (const {data} of inParallel(names.keys(), PARALLEL, find)) {
			yield* data;
		}
	}
}

/** Reads the rows of a kind, again if they have been read. @param all also links without a document. */
export const readKind = async (state: State, kind: KindName, all = false): Promise<Map<string, Row>> => {
	const {client, org, rows} = state;
	const found = new Map<string, Row>();
	rows.set(kind, found);
	if (kind === 'Organization' || kind === 'AppConfig') {
		const row = kind === 'Organization' ? org.row : await unless(client.get<Row>(pathOf(state, kind)), 404);
		return row === null ? found : found.set('', row);
	}

	// Lists are newest first: of two endpoints with one URL the older one counts.
	for await (const row of kind === 'Link' ? linksOf(state, all) : await allAt<Row>(client, pathOf(state, kind))) {
		const name = row[kinds[kind].identity];
		found.set(name === null ? `\0${row['id']}` : identityOf(kind, name), row);
	}

	return found;
};

/** Reads what the documents of an organization need, and nothing else. @param prune kinds of which all rows are needed. */
export const readState = async (state: State, prune: readonly KindName[]): Promise<void> => {
	const {docs, rows, org} = state;
	if (org.path === null) {
		rows.set('Template', new Map());
		return;
	}

	const needed = kindNames.filter((kind) => docs.has(kind) || prune.includes(kind));
	await Promise.all(needed.map((kind) => readKind(state, kind, prune.includes(kind))));
	const links = [...(docs.get('Link')?.values() ?? [])];
	const domainOf = ({identity}: Doc) => (rows.get('Link')?.get(identity)?.['domain'] as Row | undefined)?.['hostname'];
	const missing: Array<[KindName, boolean]> = [
		['Template', links.some(({spec}) => spec['template'] || inheritedFields.some((field) => spec[field] === null))],
		['Domain', links.some((doc) => doc.spec['domain'] && doc.spec['domain'] !== domainOf(doc))],
	];
	const read = missing.filter(([kind, isNeeded]) => isNeeded && !rows.has(kind));
	await Promise.all(read.map(([kind]) => readKind(state, kind)));
};

/** Whether a row can have a document: a link has an external id, and the shared domain no verification. */
export const isNamed = ([name, row]: readonly [string, Row]): boolean =>
	!name.startsWith('\0') && row['verification'] !== null;

const templateOf = ({rows}: State, id: unknown): Row | undefined =>
	id === null ? undefined : [...(rows.get('Template')?.values() ?? [])].find((template) => template['id'] === id);

/** What is in force where a row states nothing. @param template of a link. */
export const defaultsOf = (kind: KindName, template: Row = {}): Row => ({
	...kinds[kind].defaults,
	...Object.fromEntries(
		inheritedFields.filter((field) => template[field] != null).map((field) => [field, template[field]]),
	),
});

/** What a row says, as the `spec` of a document, and what is in force besides. */
export const specOf = (state: State, kind: KindName, row: Row): [spec: Row, defaults: Row] => {
	const {templateId, domain, isDefault} = row;
	const template = kind === 'Link' ? templateOf(state, templateId) : undefined;
	const spec =
		kind === 'AppConfig'
			? {...appConfigOf(row as AppConfigInput)}
			: kind === 'Link'
				? {...row, template: template?.['name'] ?? templateId, domain: (domain as Row)['hostname']}
				: {...row, default: isDefault === true ? true : null};
	return [spec, defaultsOf(kind, template)];
};

/** Objects of which a change names parts. */
const MERGED = new Set(['og', 'destinations', 'minimumVersion']);

/** The fields of a document that a row has otherwise; all of them without a row. */
export const compare = (state: State, {kind, spec}: Doc, row: Row | undefined): FieldChange[] => {
	const [current, inForce] = row === undefined ? [{}, {}] : specOf(state, kind, row);
	// Only a verified domain can be the default.
	const isNamed = (field: string) => field !== 'default' || row?.['status'] === 'VERIFIED';
	const named = (kind === 'AppConfig' ? fieldsOf(kind) : Object.keys(spec)).filter(isNamed);
	const pick = (value: (field: string) => unknown) => Object.fromEntries(named.map((field) => [field, value(field)]));
	const after = pick((field) =>
		MERGED.has(field) && kind !== 'AppConfig' && isObject(spec[field])
			? {...(current[field] as Row | undefined), ...(spec[field] as Row)}
			: spec[field],
	);
	const template = String('template' in spec ? spec['template'] : current['template']);
	const planned = {...state.rows.get('Template')?.get(template), ...state.docs.get('Template')?.get(template)?.spec};
	const isNew = row === undefined && kind !== 'AppConfig';
	return differences(
		[pick((field) => current[field]), inForce],
		[after, isNew ? {} : defaultsOf(kind, kind === 'Link' ? planned : {})],
	);
};
