import {columnOf, type RowOf} from '../../platform/db/columns.ts';

/** A table with columns of link fields. A value that is unset in one is taken from the next (contract/links 4). */
type Level = 'links' | 'templates' | 'app_configs';

/** The type of each kind of value. */
type Values = {
	code: string;
	count: number;
	flag: boolean;
	id: string;
	instant: Date;
	params: Record<string, string>;
	text: string;
	texts: string[];
	url: string;
	version: string;
};

/** A single value. Its type, its schemas and its CSV cell follow from `kind`. */
export type LinkValue =
	| {kind: 'text'; max: number}
	| {kind: 'texts'; max: number; each: number}
	| {kind: 'params'; max: number; maxBytes: number}
	| {kind: 'count'; min: number; max: number}
	| {kind: 'code' | 'flag' | 'id' | 'instant' | 'url' | 'version'};

/** `group`: an object with a column for each part. `platforms`: one jsonb column with the parts that are set. */
type LinkObject = {kind: 'group' | 'platforms'; parts: Readonly<Record<string, LinkValue & {about?: string}>>};

type LinkField = (LinkValue | LinkObject) & {
	levels: readonly Level[];
	/** Whether visits need it: the resolved row has it. */
	resolves?: true;
	/** The column is never null. */
	required?: true;
	/** The value if no level sets one. */
	default?: boolean | number;
	/** Is a query parameter named like its column, `utm_term`: pages add it to addresses, imports take it from them. */
	inUrls?: true;
	/** Position in help and CSV files. Fields without it are omitted; equal positions keep the order of this table. */
	place?: number;
	/** Help of the CLI option, without which a single value gets none. `flag` replaces the option's name and value. */
	about?: string;
	flag?: string;
};

const link = {levels: ['links'], resolves: true} as const;
const template = {levels: ['links', 'templates'], resolves: true} as const;
const app = {levels: ['links', 'templates', 'app_configs'], resolves: true} as const;

const url = {kind: 'url'} as const;
const utm = {kind: 'text', max: 255, ...template, inUrls: true, place: 5} as const;

/**
 * Every field of a link (contract/links 1, 12, 13), in the order of bodies and answers. Types, columns, schemas, answers,
 * CSV columns, options of texts and the resolved row follow from this table; test/links/links/link-fields.ts compares it
 * with the migrations. A new field stands here, in src/client/link-shapes.ts and in a migration; a flag, a count or texts
 * also have options in src/cli/link-fields.ts; one of app configurations must be in the trigger `app_configs_changed`, too.
 */
export const linkFields = {
	path: {kind: 'text', max: 2048, ...template, place: 1, about: 'path that the link opens in the app, such as /item/7'},
	params: {kind: 'params', max: 50, maxBytes: 8192, ...template},
	og: {
		kind: 'group',
		parts: {
			title: {kind: 'text', max: 255, about: 'title of the social card'},
			description: {kind: 'text', max: 1024, about: 'description of the social card'},
			imageUrl: {kind: 'url', about: 'image of the social card'},
		},
		...app,
		place: 7,
	},
	fallbackUrl: {kind: 'url', ...app, place: 6, about: 'http(s) URL for people without the app'},
	destinations: {
		kind: 'platforms',
		parts: {ios: url, ipad: url, android: url, desktop: url},
		...app,
		place: 16,
		flag: 'destination <platform=url>',
		about:
			'URL for people without the app on ios, ipad, android or desktop, instead of the store; empty clears it (repeatable)',
	},
	minimumVersion: {
		kind: 'platforms',
		parts: {ios: {kind: 'version'}, android: {kind: 'count', min: 1, max: 2_147_483_647}},
		...app,
		place: 17,
		flag: 'minimum-version <platform=version>',
		about: 'minimum version of the app, such as ios=2.10.0 or android=210; empty clears it (repeatable)',
	},
	channel: {kind: 'text', max: 50, ...template, place: 4, about: 'channel of the organization, such as email'},
	tags: {kind: 'texts', max: 20, each: 50, levels: template.levels, place: 12},
	utmSource: {...utm, about: 'UTM source'},
	utmMedium: {...utm, about: 'UTM medium'},
	utmCampaign: {...utm, about: 'UTM campaign'},
	utmTerm: {...utm, about: 'UTM term'},
	utmContent: {...utm, about: 'UTM content'},
	deferredDeepLinking: {kind: 'flag', ...template, default: true, place: 14},
	matchWindowHours: {kind: 'count', min: 1, max: 720, ...template, default: 168, place: 15},
	shortCode: {
		kind: 'code',
		...link,
		required: true,
		place: 2,
		about: 'last part of the short URL (default: generated)',
	},
	title: {kind: 'text', max: 255, ...link, place: 3, about: 'display name of the link'},
	domainId: {
		kind: 'id',
		levels: link.levels,
		required: true,
		place: 11,
		flag: 'domain <value>',
		about: "link domain, by host name or id (default: the organization's domain)",
	},
	templateId: {
		kind: 'id',
		levels: link.levels,
		place: 9,
		flag: 'template <value>',
		about: 'template of the link, by name or id',
	},
	externalId: {
		kind: 'text',
		max: 255,
		levels: link.levels,
		place: 10,
		about: 'your own id of the link, unique in the organization',
	},
	expiry: {
		kind: 'instant',
		...link,
		place: 8,
		about: 'expiry, an ISO 8601 time such as 2030-01-31T00:00:00Z',
	},
	isActive: {kind: 'flag', ...link, required: true, place: 13},
} as const satisfies Record<string, LinkField>;

type Fields = typeof linkFields;
export type LinkFieldName = keyof Fields;

/** The names of the fields that are `T`. */
type NameOf<T> = {[Name in LinkFieldName]: Fields[Name] extends T ? Name : never}[LinkFieldName];
type GroupName = NameOf<{kind: 'group'}>;
export type PlatformName = NameOf<{kind: 'platforms'}>;
export type SharedName = NameOf<{levels: typeof template.levels | typeof app.levels}>;
export type OwnName = Exclude<LinkFieldName, SharedName>;
/** Names of the fields that an app configuration gives all links of its organization. */
export type AppName = NameOf<{levels: typeof app.levels}>;
type DefaultName = NameOf<{default: unknown}>;
type UrlName = NameOf<{inUrls: true}>;
type ResolvedName = NameOf<{resolves: true}>;

type ValueOf<Field> = Field extends {parts: infer Parts}
	? {-readonly [Part in keyof Parts]?: ValueOf<Parts[Part]>}
	: Field extends {kind: infer Kind extends keyof Values}
		? Values[Kind]
		: never;
export type LinkFieldValue<Name extends LinkFieldName> = ValueOf<Fields[Name]>;

export type Og = {[Part in keyof LinkFieldValue<'og'>]-?: string | null};

/** Fields as the API shows them: null if unset, but unset platform fields are absent. */
export type ShownFields<Name extends LinkFieldName> = {
	[Field in Exclude<Name, GroupName | PlatformName>]: LinkFieldValue<Field> | NullOf<Field>;
} & {[Field in Name & PlatformName]?: LinkFieldValue<Field>} & {[Field in Name & GroupName]: Og};

/** Fields in a body: absent fields stay unchanged, also within an object; null clears, `og: null` all of it. */
export type InputFields<Name extends LinkFieldName> = {
	[Field in Exclude<Name, GroupName | PlatformName>]?:
		| LinkFieldValue<Field>
		| (Fields[Field] extends {kind: 'code'} ? never : null);
} & {[Field in Name & PlatformName]?: Changes<LinkFieldValue<Field>> | null | undefined} & {
	[Field in Name & GroupName]?: Partial<Og> | null;
};
export type Changes<T> = {[Field in keyof T]: T[Field] | null};

type NullOf<Name extends LinkFieldName> = Fields[Name] extends {required: true} ? never : null;

/** `og` has a column for each part. */
type GroupColumns = RowOf<{[Part in keyof Og as `og${Capitalize<Part>}`]: string | null}>;

/** The columns of fields; null: unset. */
export type LinkColumns<Name extends LinkFieldName> = RowOf<{
	[Field in Exclude<Name, GroupName>]: LinkFieldValue<Field> | NullOf<Field>;
}> &
	([Name & GroupName] extends [never] ? object : GroupColumns);

/** The columns that visits need, with the values of template, organization and default applied. */
export type ResolvedColumns = LinkColumns<Exclude<ResolvedName, DefaultName>> &
	RowOf<{[Field in DefaultName]: LinkFieldValue<Field>}>;

/** All fields with their names, in the order of the table. */
export const allLinkFields: ReadonlyArray<LinkField & {name: LinkFieldName}> = Object.entries<LinkField>(
	linkFields,
).map(([name, field]) => ({...field, name: name as LinkFieldName}));

/** Whether templates have the field, too. */
export const isShared = ({levels}: {levels: readonly Level[]}): boolean => levels.includes('templates');

type PlatformField = LinkObject & LinkField & {name: PlatformName; column: keyof LinkColumns<PlatformName>};
/** The fields that differ by platform (contract/links 12, 13). */
export const platformFields = allLinkFields
	.filter(({kind}) => kind === 'platforms')
	.map((field) => ({...field, column: columnOf(field.name)})) as readonly PlatformField[];

/** A column that a change may set. */
export type LinkColumn = keyof LinkColumns<LinkFieldName>;

/** The columns that a change may set. `name` is that of the API, with a dot for a part: `og.title`. */
export const linkColumns = allLinkFields.flatMap((field) => {
	const names = field.kind === 'group' ? Object.keys(field.parts).map((part) => `${field.name}.${part}`) : [field.name];
	return names.map((name) => ({field, name, column: columnOf(name.replace('.', '_')) as LinkColumn}));
});

/** The columns whose values URLs carry under the column's name. */
export const urlColumns = linkColumns.filter(({field}) => field.inUrls) as ReadonlyArray<{
	name: string;
	column: keyof LinkColumns<UrlName>;
}>;
