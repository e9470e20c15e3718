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

export const pathOf = (org: Org, kind: KindName): string => `${org.path}/${kinds[kind].path}`;

/** Requests at once. */
export const PARALLEL = 16;
/** Reading this many rows of an export takes as long as finding one link by its name. */
const ROWS_PER_NAME = 50;

/** The links of documents. @param all every link. */
async function* linksOf(client: ApiClient, org: Org, all: boolean): AsyncGenerator<Row> {
	const at = pathOf(org, 'Link');
	const names: ReadonlyMap<unknown, Doc> = org.docs.get('Link') ?? new Map();
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
export const readKind = async (client: ApiClient, org: Org, kind: KindName, all = false): Promise<Map<string, Row>> => {
	const found = new Map<string, Row>();
	const isOne = kind === 'Organization' || kind === 'AppConfig';
	const one = isOne ? (kind === 'AppConfig' ? await unless(client.get<Row>(pathOf(org, kind)), 404) : org.row) : null;
	const rows = isOne ? [] : kind === 'Link' ? linksOf(client, org, all) : await allAt<Row>(client, pathOf(org, kind));
	// Lists are newest first: of two endpoints with one URL the older one counts.
	for await (const row of rows) {
		const name = row[kinds[kind].identity];
		found.set(name === null ? `\0${row['id']}` : identityOf(kind, name), row);
	}

	org.rows.set(kind, one === null ? found : found.set('', one));
	return found;
};

/** Reads what the documents of an organization need, and nothing else. @param prune kinds of which all rows are needed. */
export const readState = async (client: ApiClient, org: Org, prune: readonly KindName[]): Promise<void> => {
	const {docs, rows} = org;
	if (org.path === null) {
		rows.set('Template', new Map());
		return;
	}

	const needed = kindNames.filter((kind) => docs.has(kind) || prune.includes(kind));
	await Promise.all(needed.map((kind) => readKind(client, org, kind, prune.includes(kind))));
	const links = [...(docs.get('Link')?.values() ?? [])];
	const domainOf = ({identity}: Doc) => (rows.get('Link')?.get(identity)?.['domain'] as Row | undefined)?.['hostname'];
	const missing: Array<[KindName, boolean]> = [
		['Template', links.some(({spec}) => spec['template'] || inheritedFields.some((field) => spec[field] === null))],
		['Domain', links.some((doc) => doc.spec['domain'] && doc.spec['domain'] !== domainOf(doc))],
	];
	const read = missing.filter(([kind, isNeeded]) => isNeeded && !rows.has(kind));
	await Promise.all(read.map(([kind]) => readKind(client, org, kind)));
};

/** Whether a row can have a document: a link has an external id, and the shared domain no verification. */
export const isNamed = ([name, row]: readonly [string, Row]): boolean =>
	!name.startsWith('\0') && row['verification'] !== null;

/** What is in force where a row states nothing. @param template of a link. */
const defaultsOf = (kind: KindName, template: Row = {}): Row => {
	const inherited = kind === 'Link' ? inheritedFields.filter((field) => template[field] != null) : [];
	return {...kinds[kind].defaults, ...Object.fromEntries(inherited.map((field) => [field, template[field]]))};
};

/** What a row says, as the `spec` of a document, and what is in force besides. */
export const specOf = ({rows}: Org, kind: KindName, row: Row): [spec: Row, defaults: Row] => {
	if (kind !== 'Link') {
		const spec =
			kind === 'AppConfig' ? appConfigOf(row as AppConfigInput) : {...row, default: row['isDefault'] || null};
		return [{...spec}, defaultsOf(kind)];
	}

	const {templateId} = row;
	const {hostname: domain, isDefault} = row['domain'] as Row;
	const template = [...(rows.get('Template')?.values() ?? [])].find(({id}) => templateId !== null && id === templateId);
	const spec = {...row, template: template?.['name'] ?? templateId, domain};
	return [spec, {...defaultsOf(kind, template), ...(isDefault === true && {domain})}];
};

/** Objects of which a change names parts. */
const MERGED = new Set(['og', 'destinations', 'minimumVersion']);

/** The fields of a document that a row has otherwise; all of them without a row. */
export const compare = (org: Org, {kind, spec}: Doc, row: Row | undefined): FieldChange[] => {
	const [current, before]: [Row, Row] = row === undefined ? [{}, {}] : specOf(org, kind, row);
	// Only a verified domain can be the default.
	const isCompared = (field: string) => field !== 'default' || row?.['status'] === 'VERIFIED';
	const named = (kind === 'AppConfig' ? fieldsOf(kind) : Object.keys(spec)).filter(isCompared);
	const pick = (value: (field: string) => unknown) => Object.fromEntries(named.map((field) => [field, value(field)]));
	const isPart = (field: string) => MERGED.has(field) && kind !== 'AppConfig' && isObject(spec[field]);
	const wanted = pick((field) =>
		isPart(field) ? {...(current[field] as Row | undefined), ...(spec[field] as Row)} : spec[field],
	);
	const name = String('template' in spec ? spec['template'] : current['template']);
	const template = {...org.rows.get('Template')?.get(name), ...org.docs.get('Template')?.get(name)?.spec};
	const after = {...defaultsOf(kind, template), ...('domain' in before && {domain: before['domain']})};
	const isNew = row === undefined && kind !== 'AppConfig';
	return differences([pick((field) => current[field]), before], [wanted, isNew ? {} : after]);
};
