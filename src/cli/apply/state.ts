import {seededChannels} from '../../accounts/organizations/seed-channels.ts';
import {type AppConfigInput, appConfigOf} from '../../links/app-config/app-config.ts';
import {isObject} from '../../links/links/import/canonical-json.ts';
import {inParallel} from '../import/in-parallel.ts';
import {linesOf} from '../lines.ts';
import {type ApiClient, nullOn} from '../server/admin-client.ts';
import {allAt, type Page} from '../server/list-pages.ts';
import {differences, type FieldChange} from './differences.ts';
import type {Doc} from './documents.ts';
import {fieldsOf, identityOf, inheritedDefaults, type KindName, kindNames, kinds, type Row} from './kinds.ts';
import type {Org} from './organizations.ts';

export const pathOf = (org: Org, kind: KindName): string => `${org.path}${kinds[kind].path}`;

/** Requests at once. */
export const PARALLEL = 16;
/** Reading this many rows of an export takes as long as finding one link by its name. */
const ROWS_PER_NAME = 50;

/** The links of documents. @param all every link that can have one. */
async function* linksOf(client: ApiClient, org: Org, all: boolean): AsyncGenerator<Row> {
	const at = pathOf(org, 'Link');
	const names = org.docs.Link ?? new Map<string, Doc>();
	const {total} = all ? {total: 0} : await client.get<Page<Row>>(at, {limit: 1});
	if (total > names.size * ROWS_PER_NAME) {
		const find = (externalId: string) => client.get<Page<Row>>(at, {externalId});
		for await (const {data} of inParallel(names.keys(), PARALLEL, find)) {
			yield* data;
		}

		return;
	}

	for await (const line of linesOf(client.stream(`${at}/export`, all ? {appLinks: false} : {}))) {
		const row = JSON.parse(line) as Row;
		const name = row['externalId'] as string | null;
		if (name !== null && (all || names.has(name))) {
			yield row;
		}
	}
}

/** Reads the rows of a kind, again if they have been read. @param all also links without a document. */
export const readKind = async (client: ApiClient, org: Org, kind: KindName, all = false): Promise<Map<string, Row>> => {
	const at = pathOf(org, kind);
	const found = new Map<string, Row>();
	const isOne = kind === 'Organization' || kind === 'AppConfig';
	const rows = isOne
		? [(await nullOn(client.get<Row>(at), 404)) ?? []].flat()
		: kind === 'Link'
			? linksOf(client, org, all)
			: await allAt<Row>(client, at);
	// Lists are newest first: of two endpoints with one URL the older one counts.
	for await (const row of rows) {
		found.set(identityOf(kind, row[kinds[kind].identity]), row);
	}

	org.rows[kind] = found;
	return found;
};

/** Reads the rows that the documents of an organization need, and no others. @param prune kinds of which all rows are needed. */
export const readState = async (client: ApiClient, org: Org, prune: readonly KindName[]): Promise<void> => {
	const {docs, rows} = org;
	if (org.path === null) {
		rows.Template = new Map();
		rows.Channel = new Map(seededChannels().map((name) => [name, {name}]));
		return;
	}

	const needed = kindNames.filter((kind) => docs[kind] !== undefined || prune.includes(kind));
	await Promise.all(needed.map((kind) => readKind(client, org, kind, prune.includes(kind))));
	const links = [...(docs.Link?.values() ?? [])];
	const isElsewhere = ({identity, spec: {domain}}: Doc) =>
		domain && domain !== (rows.Link?.get(identity)?.['domain'] as Row | undefined)?.['hostname'];
	const isOfTemplate = ({spec}: Doc) =>
		spec['template'] || Object.keys(inheritedDefaults).some((field) => spec[field] === null);
	const isInChannel = ({kind, identity, spec: {channel}}: Doc) =>
		channel && channel !== rows[kind]?.get(identity)?.['channel'];
	const read = async (kind: KindName, isNeeded: boolean, ...refused: number[]): Promise<unknown> =>
		isNeeded && rows[kind] === undefined ? nullOn(readKind(client, org, kind), ...refused) : null;
	await Promise.all([
		read('Template', links.some(isOfTemplate)),
		read('Domain', links.some(isElsewhere)),
		// A channel has no id to find out: for a token that may not read channels the server checks it.
		read('Channel', [...links, ...(docs.Template?.values() ?? [])].some(isInChannel), 403),
	]);
};

/** Whether a row can have a document: the shared domain, which has no verification, has none. */
export const isOwn = (row: Row): boolean => row['verification'] !== null;

/** The values in force for the fields that a row leaves unset. @param template of a link. */
const defaultsOf = (kind: KindName, template: Row = {}): Row => {
	const inherited = kind === 'Link' ? Object.keys(inheritedDefaults).filter((field) => template[field] != null) : [];
	return {...kinds[kind].defaults, ...Object.fromEntries(inherited.map((field) => [field, template[field]]))};
};

/** A row as the `spec` of a document, and the values in force for its unset fields. */
export const specOf = ({rows}: Org, kind: KindName, row: Row): [spec: Row, defaults: Row] => {
	if (kind !== 'Link') {
		return [
			kind === 'AppConfig' ? {...appConfigOf(row as AppConfigInput)} : {...row, default: row['isDefault'] || null},
			defaultsOf(kind),
		];
	}

	const {templateId} = row;
	const {hostname: domain, isDefault} = row['domain'] as Row;
	const template = [...(rows.Template?.values() ?? [])].find(({id}) => id === templateId);
	const spec = {...row, template: template?.['name'] ?? templateId, domain};
	return [spec, {...defaultsOf(kind, template), ...(isDefault === true && {domain})}];
};

/** Objects of which a change names parts. */
const MERGED = new Set(['og', 'destinations', 'minimumVersion']);

/** The fields in which a document differs from a row; all of them without a row. */
export const compare = (org: Org, {kind, spec: written}: Doc, row: Row | undefined): FieldChange[] => {
	if (row === undefined) {
		return Object.entries(written).flatMap(([field, to]) => (field === 'default' ? [] : differences(field, null, to)));
	}

	const isWhole = kind === 'AppConfig';
	const spec: Row = isWhole ? {...appConfigOf(written as AppConfigInput)} : written;
	const [current, before] = specOf(org, kind, row);
	const name = String('template' in spec ? spec['template'] : current['template']);
	const template = {...org.rows.Template?.get(name), ...org.docs.Template?.get(name)?.spec};
	const after: Row = {...defaultsOf(kind, template), ...('domain' in before && {domain: before['domain']})};
	return (isWhole ? fieldsOf(kind) : Object.keys(spec)).flatMap((field) => {
		// Only a verified domain can be the default.
		if (field === 'default' && row['status'] !== 'VERIFIED') {
			return [];
		}

		const [stored, to] = [current[field] ?? before[field], spec[field]];
		// A template or the default may change earlier in the same run, so its new values count.
		const from = stored === before[field] ? after[field] : stored;
		const wanted = MERGED.has(field) && !isWhole && isObject(to) ? {...(from as Row | undefined), ...to} : to;
		return differences(field, from, wanted ?? after[field]);
	});
};
