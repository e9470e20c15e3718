import {mkdir, stat} from 'node:fs/promises';
import path from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {stringify} from 'yaml';
import {counted} from '../../platform/text.ts';
import {usageError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {isOrganization} from '../leading-organization.ts';
import {replaceFile} from '../replace-file.ts';
import type {Page} from '../server/list-pages.ts';
import {writeData} from '../terminal/io.ts';
import {canonical} from './differences.ts';
import {fieldsOf, type KindName, kindNames, kinds, type Row} from './kinds.ts';
import {findOrganization, type Org, requireOrganization} from './organizations.ts';
import {isOwn, pathOf, readKind, specOf} from './state.ts';

/** The documents of a kind, by name. A link on a custom domain names it, also where that is the default. */
const documentsOf = (org: Org, kind: KindName): Row[] => {
	const rows = [...(org.rows[kind] ?? [])].filter(([, row]) => isOwn(row)).toSorted(([a], [b]) => (a < b ? -1 : 1));
	const shared = [...(org.rows.Domain?.values() ?? [])].find((row) => !isOwn(row))?.['hostname'];
	return rows.map(([, row]) => {
		const [all, {domain, ...defaults}] = specOf(org, kind, row);
		const inForce: Row = {...defaults, ...(domain === shared && {domain})};
		const fields = fieldsOf(kind).map((field) => [field, canonical(field, all[field])] as const);
		const spec = fields.filter(([field, value]) => value !== undefined && !isDeepStrictEqual(value, inForce[field]));
		const named = kind === 'AppConfig' ? {} : {name: row[kinds[kind].identity]};
		// A name that looks like an orgKey creates an organization only if `spec` repeats it.
		if (kind === 'Organization' && isOrganization(String(row['name']))) {
			spec.unshift(['name', row['name']]);
		}

		return {kind, ...named, ...(spec.length > 0 && {spec: Object.fromEntries(spec)})};
	});
};

const textOf = (documents: readonly Row[]): string =>
	documents.map((document) => stringify(document, {lineWidth: 0})).join('---\n');

/** Each kind in a file of its own. @throws OperatorError for one that is there, without `--yes`. */
const writeFiles = async ({io, options, show}: Context, folder: string, documents: readonly Row[]): Promise<void> => {
	const files = kindNames.flatMap((kind): Array<[string, Row[]]> => {
		const own = documents.filter((document) => document['kind'] === kind);
		const file = path.resolve(io.cwd, folder, `${kinds[kind].path.slice(1) || 'organization'}.yaml`);
		return own.length === 0 ? [] : [[file, own]];
	});
	for (const [file] of files) {
		if (!options.yes && (await stat(file).catch(() => null)) !== null) {
			throw usageError(`${file} is there already`, 'Name another folder, or add --yes to replace it');
		}
	}

	await mkdir(path.resolve(io.cwd, folder), {recursive: true});
	for (const [file, own] of files) {
		await replaceFile(file, (handle) => handle.writeFile(textOf(own)), 0o666);
	}

	await show.note(`${counted(documents.length, 'document')} written to ${folder}`);
};

/** Writes the documents of an organization: to standard output or, of each kind, to a file in a folder. */
export const exportOrganization = async (context: Context, named: string, folder: string | null): Promise<void> => {
	const {io, show, connection} = context;
	const client = connection.admin();
	const org = requireOrganization(await findOrganization(client, named), named);
	const all: Row[] = [];
	for (const kind of kindNames) {
		await readKind(client, org, kind, true);
		all.push(...documentsOf(org, kind));
	}

	if (folder !== null) {
		await writeFiles(context, folder, all);
	} else if (show.json) {
		await show.answer(all, String);
	} else {
		await writeData(io.stdout, textOf(all));
	}

	const {total} = await client.get<Page<Row>>(pathOf(org, 'Link'), {limit: 1});
	const left = total - (org.rows.Link?.size ?? 0);
	if (left > 0) {
		await show.note(`${counted(left, 'link')} left out: without an externalId, or made by apps`);
	}
};
