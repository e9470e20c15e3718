import {mkdir, stat} from 'node:fs/promises';
import path from 'node:path';
import {stringify} from 'yaml';
import {counted} from '../../platform/plural.ts';
import {notFoundError, usageError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {replaceFile} from '../replace-file.ts';
import {writeData} from '../terminal/io.ts';
import {stated} from './differences.ts';
import {fieldsOf, type KindName, kindNames, kinds, type Row} from './kinds.ts';
import {findOrganization, type Org} from './organizations.ts';
import {isNamed, readKind, specOf} from './state.ts';

/** The documents of a kind, by name. A link on a custom domain names it, also where that is the default. */
const documentsOf = (org: Org, kind: KindName): Row[] => {
	const rows = [...(org.rows.get(kind) ?? [])].filter(isNamed).toSorted(([a], [b]) => (a < b ? -1 : 1));
	return rows.map(([, row]) => {
		const [all, {domain, ...defaults}] = specOf(org, kind, row);
		const isShared = org.rows.get('Domain')?.get(String(domain))?.['verification'] === null;
		const fields = Object.fromEntries(fieldsOf(kind).map((field) => [field, all[field]]));
		const spec = stated(fields, {...defaults, ...(isShared && {domain})});
		const name = kind === 'AppConfig' ? {} : {name: row[kinds[kind].identity]};
		return {kind, ...name, ...(Object.keys(spec).length === 0 ? {} : {spec})};
	});
};

const textOf = (documents: readonly Row[]): string =>
	documents.map((document) => stringify(document, {lineWidth: 0})).join('---\n');

/** Each kind in a file of its own. @throws OperatorError for one that is there, without `--yes`. */
const writeFiles = async ({io, options, show}: Context, folder: string, documents: readonly Row[]): Promise<void> => {
	const files = kindNames.flatMap((kind): Array<[string, Row[]]> => {
		const own = documents.filter((document) => document['kind'] === kind);
		const file = path.resolve(io.cwd, folder, `${kinds[kind].path || 'organization'}.yaml`);
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
	const org = await findOrganization(client, named);
	if (org?.path == null) {
		throw notFoundError(`There is no organization '${named}'`, 'oplink orgs list shows them');
	}

	// Read again for its refusal, if the token may not.
	org.row ??= await client.get<Row>(org.path);
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

	const unnamed = [...(org.rows.get('Link') ?? [])].filter((entry) => !isNamed(entry)).length;
	if (unnamed > 0) {
		await show.note(`${counted(unnamed, 'link')} without an externalId left out`);
	}
};
