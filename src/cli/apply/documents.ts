import {isUtf8} from 'node:buffer';
import {type AppConfigInput, appConfigOf} from '../../links/app-config/app-config.ts';
import {isObject} from '../../links/links/import/canonical-json.ts';
import {checkBody} from '../../platform/http/validate.ts';
import {meant} from '../did-you-mean.ts';
import {isOrganization} from '../leading-organization.ts';
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
const faultLine = (file: string, {line, column}: Position, label: string, words: string): string =>
	`${file}:${line}:${column}: ${label === '' ? '' : `${label}: `}${words}`;

/** @param field that of the reference at fault. */
export const faultOf = (doc: Doc, words: string, field = ''): string =>
	faultLine(doc.file, doc.places.get(field) ?? doc, `${doc.kind} ${doc.name}`.trimEnd(), words);

const HINTS: Record<string, string> = {
	templateId: ': write template: NAME',
	domainId: ': write domain: HOST',
	secret: ': the server makes it',
};

const unknownKind = (kind: unknown): string => {
	const near = meant(String(kind), kindNames);
	const hint = near === null ? `this version has ${kindNames.join(', ')}` : `is it ${near}?`;
	return kind === undefined ? 'kind is required' : `unknown kind ${JSON.stringify(kind)}: ${hint}`;
};

/** A document that the schema of its kind accepts. @returns none after faults. */
const checked = (file: string, {value, at}: Source, faults: string[]): Doc[] => {
	const before = faults.length;
	const {kind: given, name, org = null, spec: body, ...others} = isObject(value) ? value : {};
	const label = [given, name].filter((text) => typeof text === 'string').join(' ');
	const complain = (place: readonly string[], words: string) =>
		void faults.push(faultLine(file, at(place), label, words));
	for (const key of Object.keys(others)) {
		complain([key], `${key} is not allowed beside kind, name, org and spec`);
	}

	if (org !== null && (typeof org !== 'string' || org === '')) {
		complain(['org'], 'org must be the orgKey or the name of an organization');
	}

	const kind = kindNames.find((one) => one === given);
	const spec = body ?? {};
	if (kind === undefined || !isObject(spec)) {
		complain([kind ? 'spec' : 'kind'], kind ? 'spec must be an object' : unknownKind(given));
		return [];
	}

	const {identity, schema} = kinds[kind];
	const isKey = kind === 'Organization' && isOrganization(String(name));
	const isBody = kind === 'AppConfig' || isKey;
	const own = spec[identity];
	if (own !== undefined && own !== name && !isKey) {
		complain(['spec', identity], `${identity} must be the name of the document; leave it out`);
	}

	const {value: valid, faults: invalid} = checkBody<Row>(schema, isBody ? spec : {...spec, [identity]: name}, {
		linkHosts: [],
	});
	if (kind === 'Endpoint' && typeof name === 'string' && !URL.canParse(name)) {
		invalid.push({field: identity, message: `${identity} must be a URL`});
	}

	for (const {field = '', message} of invalid) {
		const isName = field === identity && !isBody;
		const words = isName ? message.replace(identity, 'name') : plainFault({field, message}) + (HINTS[field] ?? '');
		complain(isName ? ['name'] : ['spec', ...field.split('.')], words);
	}

	if (faults.length > before) {
		return [];
	}

	const {[identity]: checkedName = '', ...fields} = valid;
	const shown = String(isKey ? name : checkedName);
	const places = REFERENCES.filter((field) => field in spec).map((field): [string, Position] => [
		field,
		at(['spec', field]),
	]);
	return [
		{
			...at([]),
			kind,
			name: shown,
			identity: identityOf(kind, shown),
			org: typeof org === 'string' ? org : null,
			spec: kind === 'AppConfig' ? {...appConfigOf(valid as AppConfigInput)} : isKey ? valid : fields,
			file,
			places: new Map(places),
		},
	];
};

/** The faults of documents that claim the same thing. @param orgOf the same for documents of one organization. */
export const repeated = (docs: readonly Doc[], orgOf: (doc: Doc) => unknown): string[] => {
	const seen = new Map<unknown, Map<string, Doc>>();
	return docs.flatMap((doc) => {
		const {kind, identity, spec} = doc;
		const own = seen.get(orgOf(doc)) ?? new Map<string, Doc>();
		seen.set(orgOf(doc), own);
		const claims = [kind === 'Organization' ? kind : `${kind} ${identity}`.trimEnd()];
		claims.push(...(typeof spec['shortCode'] === 'string' ? [`the short code '${spec['shortCode']}'`] : []));
		claims.push(...(spec['default'] === true ? ['a default domain'] : []));
		return claims.flatMap((claim) => {
			const first = own.get(claim);
			own.set(claim, first ?? doc);
			return first ? [faultOf(doc, `${claim} is there twice, first in ${first.file}:${first.line}`, 'shortCode')] : [];
		});
	});
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
			complain({line: 1, column: 1}, 'not UTF-8 text');
			continue;
		}

		const isJson = file.endsWith('.json') || (file === '-' && /^\s*[[{]/.test(text));
		for (const source of sourcesOf(text, isJson, complain)) {
			count += 1;
			if (count > MAX_DOCUMENTS) {
				throw tooMany(`${MAX_DOCUMENTS.toLocaleString('en')} documents`);
			}

			docs.push(...checked(file, source, faults));
		}
	}

	const textOfOrg = ({kind, org, identity}: Doc) => (kind === 'Organization' ? `name ${identity}` : org);
	return {docs, faults: [...faults, ...repeated(docs, textOfOrg)]};
};
