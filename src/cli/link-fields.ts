import {Option} from 'commander';
import {createClock} from '../clock.ts';
import {platformFieldNames} from '../links/platform-fields.ts';
import {usageError} from './cli-errors.ts';
import {numberOption} from './common-options.ts';
import {deepLinkOf} from './import/formats/foreign-fields.ts';
import {putField} from './import/formats/import-row.ts';

/** The options of a link's fields as commander gives them. */
export type LinkFieldOptions = {
	[attribute: string]: unknown;
	tag?: string[];
	param?: string[];
	destination?: string[];
	minimumVersion?: string[];
	active?: boolean;
	inactive?: boolean;
	deferred?: boolean;
	matchWindowHours?: number;
	clear?: string[];
};

/** Fields with one text value: flag, API field (a dot for a nested field), description. */
const textFields = [
	['path', 'path', 'path that the link opens in the app, such as /item/7'],
	['short-code', 'shortCode', 'last part of the short URL; generated where a create has none'],
	['title', 'title', 'display name of the link'],
	['channel', 'channel', "one of the organization's channels, such as email"],
	['utm-source', 'utmSource', 'UTM source'],
	['utm-medium', 'utmMedium', 'UTM medium'],
	['utm-campaign', 'utmCampaign', 'UTM campaign'],
	['utm-term', 'utmTerm', 'UTM term'],
	['utm-content', 'utmContent', 'UTM content'],
	['fallback-url', 'fallbackUrl', 'http(s) URL for people without the app'],
	['og-title', 'og.title', 'title of the social card'],
	['og-description', 'og.description', 'description of the social card'],
	['og-image-url', 'og.imageUrl', 'image of the social card'],
	['expiry', 'expiry', 'ISO 8601 time when the link expires, such as 2030-01-31T00:00:00Z'],
	['template', 'templateId', 'template whose defaults the link takes, by its name or id'],
	['external-id', 'externalId', 'your own name for the link, unique in the organization'],
	['domain', 'domainId', "link domain, by its host name or id; the organization's default where a create has none"],
] as const;

/** The columns of our own CSV, which are the fields of a create body; `params.NAME` are additional. */
export const linkColumns: ReadonlySet<string> = new Set([
	...textFields.map(([, field]) => field),
	'tags',
	'isActive',
	'deferredDeepLinking',
	'matchWindowHours',
	...Object.entries(platformFieldNames).flatMap(([field, names]) => names.map((name) => `${field}.${name}`)),
]);

/** The fields with fields of their own, which can be cleared as a whole. */
const objects = new Set(['params', 'og', ...Object.keys(platformFieldNames)]);

/** The parser of an option that may be given several times. */
export const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

/** Options of the fields that differ by platform, of links and of app configurations. */
export const platformOptions = (): Option[] => [
	new Option(
		'--destination <platform=url>',
		`where people without the app go on ios, ipad, android or desktop, instead of to the store; an empty one clears it`,
	).argParser(collect),
	new Option(
		'--minimum-version <platform=version>',
		'least version of the app, such as ios=2.10.0 or android=210; an empty one clears it',
	).argParser(collect),
];

/** One option per field of a link, for `links create` and `links update`. */
export const linkFieldOptions = (): Option[] => [
	...textFields.map(([flag, , meaning]) => new Option(`--${flag} <${flag === 'path' ? 'path' : 'value'}>`, meaning)),
	// Under the names of their fields as well (contract/cli 1).
	...['template-id', 'domain-id'].map((flag) => new Option(`--${flag} <value>`).hideHelp()),
	new Option('--tag <tag>', 'a tag; give it once per tag').argParser(collect),
	new Option('--param <name=value>', 'a parameter for the app; give it once per parameter').argParser(collect),
	...platformOptions(),
	new Option('--active', 'the link is active'),
	new Option('--inactive', 'the link is inactive and answers 410').conflicts('active'),
	new Option('--deferred', 'the link survives the installation of the app'),
	new Option('--no-deferred', 'the link does not survive the installation'),
	numberOption('--match-window-hours <hours>', 'how long a click can be matched, 1 to 720'),
];

/** For `links update`: options that clear a field. */
export const clearOption = (): Option =>
	new Option(
		'--clear <field>',
		'empty an optional field, by its name in the API, such as channel or og.title',
	).argParser(collect);

const attributeOf = (flag: string): string => flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** The values of an option `--FLAG name=value`. */
const namedValues = (flag: string, values: string[]): Array<[name: string, value: string]> =>
	values.map((value) => {
		const at = value.indexOf('=');
		if (at < 1) {
			throw usageError(`--${flag} ${value} has no name`, `Write --${flag} name=value`);
		}

		return [value.slice(0, at), value.slice(at + 1)];
	});

/** The body with the given fields of `platformOptions`. An empty value clears. */
export const withPlatforms = (
	body: Record<string, unknown>,
	{destination = [], minimumVersion = []}: LinkFieldOptions,
): Record<string, unknown> => {
	const after = {...body};
	for (const [flag, field, values] of [
		['destination', 'destinations', destination],
		['minimum-version', 'minimumVersion', minimumVersion],
	] as const) {
		for (const [name, value] of namedValues(flag, values)) {
			const column = `${field}.${name}`;
			if (!linkColumns.has(column)) {
				throw usageError(
					`--${flag} ${name} is not a platform`,
					`Platforms are ${platformFieldNames[field].join(', ')}`,
				);
			}

			const isCode = column === 'minimumVersion.android' && /^\d+$/.test(value);
			putField(after, column, value === '' ? null : isCode ? Number(value) : value);
		}
	}

	return after;
};

/** @throws OperatorError for a time at which the link would already be dead. */
const requireFuture = (expiry: unknown): void => {
	if (typeof expiry === 'string' && Date.parse(expiry) <= createClock(0).now().getTime()) {
		throw usageError(`--expiry ${expiry} is in the past`, 'To end a link now, use --inactive');
	}
};

/** The fields of a path as typed, and the corrections made to it. */
type Mended = {fields: Record<string, unknown>; note: string | null};

/**
 * The path that was meant: a URL is split into path, parameters and campaign values, as an import splits it; a slash is
 * added in front.
 */
const mendedPath = (typed: string): Mended => {
	if (/^[a-z][a-z0-9+.-]*:\/\//i.test(typed)) {
		const {fields} = deepLinkOf(typed);
		const {path, params = {}, ...others} = fields;
		const more = {...(params as Record<string, string>), ...(others as Record<string, string>)};
		const texts = [`path ${path}`, ...Object.entries(more).map(([name, value]) => `${name} ${value}`)];
		const page = /^https?:/i.test(typed) ? '; --fallback-url is for a page on the web' : '';
		return {fields, note: `The app gets ${texts.join(', ')} of ${typed}${page}`};
	}

	return typed === '' || typed.startsWith('/')
		? {fields: {path: typed}, note: null}
		: {fields: {path: `/${typed}`}, note: `The path is /${typed}`};
};

/** The body of a create or an update: only the given fields, with what was mended in them. */
export const linkBody = (options: LinkFieldOptions): {body: Record<string, unknown>; note: string | null} => {
	requireFuture(options['expiry']);
	const body = withPlatforms({}, options);
	const {path} = options;
	const mended = typeof path === 'string' ? mendedPath(path) : {fields: {}, note: null};
	const {params: ofPath, ...fields}: {params?: object; [field: string]: unknown} = mended.fields;
	Object.assign(body, fields);
	for (const [flag, field] of textFields.filter(([name]) => name !== 'path')) {
		const value = options[attributeOf(flag)] ?? options[field];
		if (value !== undefined) {
			putField(body, field, value);
		}
	}

	const others: Record<string, unknown> = {
		tags: options.tag,
		params:
			options.param || (ofPath && Object.keys(ofPath).length > 0)
				? {...ofPath, ...Object.fromEntries(namedValues('param', options.param ?? []))}
				: undefined,
		isActive: options.active ? true : options.inactive ? false : undefined,
		deferredDeepLinking: options.deferred,
		matchWindowHours: options.matchWindowHours,
	};
	for (const [field, value] of Object.entries(others)) {
		if (value !== undefined) {
			putField(body, field, value);
		}
	}

	for (const field of options.clear ?? []) {
		if (!linkColumns.has(field) && !objects.has(field)) {
			throw usageError(`'${field}' is not a field of a link`, `Fields are ${[...linkColumns].join(', ')}`);
		}

		putField(body, field, null);
	}

	return {body, note: mended.note};
};
