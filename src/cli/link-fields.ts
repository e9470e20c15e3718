import {InvalidArgumentError, Option} from 'commander';
import {usageError} from './cli-errors.ts';

/** The options of a link's fields as commander gives them. */
export type LinkFieldOptions = {
	[attribute: string]: unknown;
	tag?: string[];
	param?: string[];
	active?: boolean;
	inactive?: boolean;
	deferred?: boolean;
	matchWindowHours?: number;
	clear?: string[];
};

/** Fields with one text value: flag, API field (a dot for a nested field), description. */
const textFields = [
	['path', 'path', 'path that the link opens in the app, such as /item/7'],
	['short-code', 'shortCode', 'last part of the short URL (default: generated)'],
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
	['template-id', 'templateId', 'template whose defaults the link takes'],
	['external-id', 'externalId', 'your own name for the link, unique in the organization'],
	['domain-id', 'domainId', "link domain (default: the organization's)"],
] as const;

/** The columns of our own CSV, which are the fields of a create body; `params.NAME` are additional. */
export const linkColumns: ReadonlySet<string> = new Set([
	...textFields.map(([, field]) => field),
	'tags',
	'isActive',
	'deferredDeepLinking',
	'matchWindowHours',
]);

const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

const hours = (value: string): number => {
	if (!/^\d+$/.test(value)) {
		throw new InvalidArgumentError('It must be a number of hours.');
	}

	return Number(value);
};

/** One option per field of a link, for `links create` and `links update`. */
export const linkFieldOptions = (): Option[] => [
	...textFields.map(([flag, , meaning]) => new Option(`--${flag} <${flag === 'path' ? 'path' : 'value'}>`, meaning)),
	new Option('--tag <tag>', 'a tag; give it once per tag').argParser(collect),
	new Option('--param <name=value>', 'a parameter for the app; give it once per parameter').argParser(collect),
	new Option('--active', 'the link is active'),
	new Option('--inactive', 'the link is inactive and answers 410').conflicts('active'),
	new Option('--deferred', 'the link survives the installation of the app'),
	new Option('--no-deferred', 'the link does not survive the installation'),
	new Option('--match-window-hours <hours>', 'how long a click can be matched, 1 to 720').argParser(hours),
];

/** For `links update`: options that clear a field. */
export const clearOption = (): Option =>
	new Option(
		'--clear <field>',
		'empty an optional field, by its name in the API, such as expiry or og.title',
	).argParser(collect);

const attributeOf = (flag: string): string => flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

const paramsOf = (params: string[]): Record<string, string> =>
	Object.fromEntries(
		params.map((param) => {
			const at = param.indexOf('=');
			if (at < 1) {
				throw usageError(`--param ${param} has no name`, 'Write --param name=value');
			}

			return [param.slice(0, at), param.slice(at + 1)];
		}),
	);

const put = (body: Record<string, unknown>, field: string, value: unknown): void => {
	const [object, inner] = field.split('.');
	if (object !== undefined && inner !== undefined) {
		body[object] = {...(body[object] as object | undefined), [inner]: value};
	} else {
		body[field] = value;
	}
};

/** The body of a create or an update: only the given fields. */
export const linkBody = (options: LinkFieldOptions): Record<string, unknown> => {
	const body: Record<string, unknown> = {};
	for (const [flag, field] of textFields) {
		const value = options[attributeOf(flag)];
		if (value !== undefined) {
			put(body, field, value);
		}
	}

	const others: Record<string, unknown> = {
		tags: options.tag,
		params: options.param && paramsOf(options.param),
		isActive: options.active ? true : options.inactive ? false : undefined,
		deferredDeepLinking: options.deferred,
		matchWindowHours: options.matchWindowHours,
	};
	for (const [field, value] of Object.entries(others)) {
		if (value !== undefined) {
			put(body, field, value);
		}
	}

	for (const field of options.clear ?? []) {
		if (!linkColumns.has(field) && field !== 'params' && field !== 'og') {
			throw usageError(`'${field}' is not a field of a link`, `Fields are ${[...linkColumns].join(', ')}`);
		}

		put(body, field, null);
	}

	return body;
};
