import {isUtf8} from 'node:buffer';
import Joi from 'joi';
import {isObject} from '../../links/links/import/canonical-json.ts';
import {checkBody} from '../../platform/http/validate.ts';
import {isOrganization} from '../leading-organization.ts';
import {nearestName} from '../option-names.ts';
import {plainFault} from '../report-error.ts';
import type {Io} from '../terminal/io.ts';
import {identityOf, type KindName, kindNames, kinds, type Row} from './kinds.ts';
import {readFiles, tooMany} from './read-files.ts';
import {type Position, type Source, sourcesOf} from './sources.ts';

/** A valid document, whose `spec` is without the field of the identity; `places` are the positions of references. */
export type Doc = Position & {
	kind: KindName;
	name: string;
	identity: string;
	org: string | null;
	spec: Row;
	file: string;
	places: ReadonlyMap<string, Position>;
};

const MAX_DOCUMENTS = 10_000;
const REFERENCES = ['template', 'domain', 'channel', 'shortCode'];

/** A fault as compilers write it: `links.yaml:3:7: Link spring: path is required`. */
const faultLine = (file: string, {line, col}: Position, label: string, words: string): string =>
	`${file}:${line}:${col}: ${label === '' ? '' : `${label}: `}${words}`;

/** @param field that of the reference at fault. */
export const faultOf = (doc: Doc, words: string, field = ''): string =>
	faultLine(doc.file, doc.places.get(field) ?? doc, `${doc.kind} ${doc.name}`.trimEnd(), words);

const HINTS: Record<string, string> = {
	'spec.templateId': ': write template: NAME',
	'spec.domainId': ': write domain: HOST',
	'spec.secret': ': the server makes it',
};

/** Documents of a kind. The API's schema checks `spec`, and the name as the field that it is. */
const schemaOf = (kind: KindName): Joi.ObjectSchema => {
	const {schema, identity} = kinds[kind];
	const isNamed = identity !== '';
	return Joi.object({
		kind: Joi.any(),
		name: isNamed ? schema.extract(identity).required() : Joi.any(),
		org: Joi.string().allow(null),
		spec: isNamed ? schema.fork(identity, (own) => own.optional()) : schema,
	});
};
const schemas = new Map(kindNames.map((kind) => [kind, schemaOf(kind)]));

const unknownKind = (kind: unknown): string => {
	const near = nearestName(String(kind), kindNames);
	const hint = near === null ? `this version has ${kindNames.join(', ')}` : `is it ${near}?`;
	return kind === undefined ? 'kind is required' : `unknown kind ${JSON.stringify(kind)}: ${hint}`;
};

/** A document that the schema of its kind accepts. @returns none after faults. */
const checked = (file: string, {value, at}: Source, faults: string[]): Doc[] => {
	const given: Row = isObject(value) ? {...value, spec: value['spec'] ?? {}} : {};
	const label = [given['kind'], given['name']].filter((text) => typeof text === 'string').join(' ');
	const complain = (field: string, words: string) =>
		void faults.push(faultLine(file, at(field.split('.')), label, words.replace(/^spec\./, '') + (HINTS[field] ?? '')));
	const kind = kindNames.find((one) => one === given['kind']);
	if (kind === undefined) {
		complain('kind', unknownKind(given['kind']));
		return [];
	}

	const schema = schemas.get(kind) as Joi.ObjectSchema;
	const {value: valid, faults: invalid} = checkBody<Row>(schema, given, {linkHosts: []});
	const {name: known = '', org = null} = valid;
	const name = kind === 'AppConfig' ? '' : String(known);
	const {[kinds[kind].identity]: own, ...fields} = isObject(valid['spec']) ? valid['spec'] : {};
	// An organization that is found by its orgKey may get another name.
	const isKey = kind === 'Organization' && isOrganization(name);
	if (own !== undefined && own !== known && !isKey) {
		const field = `spec.${kinds[kind].identity}`;
		invalid.push({field, message: `${field} must be the name of the document; leave it out`});
	}

	for (const fault of invalid) {
		complain(fault.field ?? '', plainFault(fault));
	}

	const places = new Map(
		REFERENCES.filter((field) => field in fields).map((field) => [field, at(['spec', field])] as const),
	);
	const spec = isKey && own !== undefined ? {name: own, ...fields} : fields;
	const doc = {...at([]), kind, name, identity: identityOf(kind, name), org: org as string | null, spec, file};
	return invalid.length > 0 ? [] : [{...doc, places}];
};

/** The faults of documents that claim the same thing. @param orgOf the same for documents of one organization. */
export const repeated = (docs: readonly Doc[], orgOf: (doc: Doc) => unknown): string[] => {
	const seen = new Map<unknown, Map<string, Doc>>();
	return docs.flatMap((doc) => {
		const {kind, identity, spec} = doc;
		const own = seen.get(orgOf(doc)) ?? new Map<string, Doc>();
		seen.set(orgOf(doc), own);
		const claims = [`${kind} ${identity}`.trimEnd()];
		claims.push(...(typeof spec['shortCode'] === 'string' ? [`the short code '${spec['shortCode']}'`] : []));
		claims.push(...(spec['default'] === true ? ['a default domain'] : []));
		return claims.flatMap((claim) => {
			const first = own.get(claim);
			own.set(claim, first ?? doc);
			return first ? [faultOf(doc, `${claim} is there twice, first in ${first.file}:${first.line}`, 'shortCode')] : [];
		});
	});
};

/** Whether standard input is JSON. YAML may begin with a brace, too. */
const isJsonText = (text: string): boolean => {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
};

/** The documents of files and folders, and every fault that they show by themselves. @throws OperatorError beyond a limit. */
export const readDocuments = async (io: Io, names: readonly string[]): Promise<{docs: Doc[]; faults: string[]}> => {
	const docs: Doc[] = [];
	const faults: string[] = [];
	let count = 0;
	for await (const [file, bytes] of readFiles(io, names)) {
		const complain = (position: Position, words: string) => void faults.push(faultLine(file, position, '', words));
		const text = new TextDecoder().decode(bytes);
		if (!isUtf8(bytes) || text.includes('\0')) {
			complain({line: 1, col: 1}, 'not UTF-8 text');
			continue;
		}

		const isJson = file.endsWith('.json') || (file === '-' && isJsonText(text));
		for (const source of sourcesOf(text, isJson, complain)) {
			count += 1;
			if (count > MAX_DOCUMENTS) {
				throw tooMany(`${MAX_DOCUMENTS.toLocaleString('en')} documents`);
			}

			docs.push(...checked(file, source, faults));
		}
	}

	const textOfOrg = ({kind, org, name}: Doc) => (kind === 'Organization' ? `name ${name}` : org);
	return {docs, faults: [...faults, ...repeated(docs, textOfOrg)]};
};
