import {Option} from 'commander';
import {allLinkFields, isShared, type LinkValue, platformFields} from '../links/links/link-fields.ts';
import {createClock} from '../platform/clock.ts';
import {usageError} from './cli-errors.ts';
import {numberOption} from './common-options.ts';
import {deepLinkOf} from './import/formats/foreign-fields.ts';
import {putField} from './import/formats/import-row.ts';

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

/** The parser of an option that may be given several times. */
export const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

export const kebab = (name: string): string =>
	name.replace('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Every value of a link except its parameters, by its name in the API: `title`, `og.title`, `destinations.ios`. */
const values = allLinkFields
	.filter(({place}) => place !== undefined)
	.toSorted((one, other) => (one.place ?? 0) - (other.place ?? 0))
	.flatMap((field) => {
		const parts: Array<[string, LinkValue & {about?: string}]> =
			'parts' in field
				? Object.entries(field.parts).map(([part, value]) => [`${field.name}.${part}`, value])
				: [[field.name, field]];
		return parts.map(([name, {kind, about}]) => ({name, kind, about, field}));
	});

/** The columns of our own CSV, which are the fields of a create body, with their kinds; `params.NAME` are additional. */
export const csvColumns: ReadonlyMap<string, LinkValue['kind']> = new Map(values.map(({name, kind}) => [name, kind]));

/** The fields with fields of their own, which can be cleared as a whole. */
const objects = new Set<string>(
	allLinkFields.filter((field) => 'parts' in field || field.kind === 'params').map(({name}) => name),
);

/** The options with one text value. */
const textOptions = values.flatMap(({name, about, field}) => {
	const flags = `--${field.flag ?? `${kebab(name)} <${name === 'path' ? name : 'value'}>`}`;
	const option = () => new Option(flags, about);
	return about === undefined ? [] : [{name, option, attribute: option().attributeName(), isShared: isShared(field)}];
});

/** The options of the fields that differ by platform, such as `--destination ios=URL`. */
const platforms = platformFields.map(({name, parts, flag, about}) => {
	const option = () => new Option(`--${flag}`, about).argParser(collect);
	return {name, parts, option, flag: option().name(), attribute: option().attributeName()};
});

/** The platforms of each such option, by its name in commander. */
export const platformNames: ReadonlyArray<[attribute: string, names: string[]]> = platforms.map(
	({attribute, parts}) => [attribute, Object.keys(parts)],
);

/** Options of the fields that differ by platform, of links and of app configurations. */
export const platformOptions = (): Option[] => platforms.map(({option}) => option());

/** One option per field of a link or a template, for the commands that create and update one. */
export const linkFieldOptions = (of: 'link' | 'template' = 'link'): Option[] => [
	...textOptions.filter(({isShared}) => isShared || of === 'link').map(({option}) => option()),
	// Under the names of their fields as well (contract/operations 13).
	...['template-id', 'domain-id'].map((flag) => new Option(`--${flag} <value>`).hideHelp()),
	new Option('--tag <tag>', 'tag (repeatable)').argParser(collect),
	new Option('--param <name=value>', 'parameter for the app (repeatable)').argParser(collect),
	...platformOptions(),
	...(of === 'template'
		? []
		: [
				new Option('--active', 'activate the link'),
				new Option('--inactive', 'deactivate the link, which then answers 410').conflicts('active'),
			]),
	new Option('--deferred', 'open the link after the app is installed'),
	new Option('--no-deferred', 'do not open the link after the app is installed'),
	numberOption('--match-window-hours <hours>', 'hours within which a click can be matched, 1 to 720'),
];

/** For `links update`: options that clear a field. */
export const clearOption = (): Option =>
	new Option(
		'--clear <field>',
		'field to clear, by its name in the API, such as channel or og.title (repeatable)',
	).argParser(collect);

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
export const withPlatforms = (body: Record<string, unknown>, options: LinkFieldOptions): Record<string, unknown> => {
	const after = {...body};
	for (const {name, parts, flag, attribute} of platforms) {
		for (const [platform, value] of namedValues(flag, (options[attribute] as string[] | undefined) ?? [])) {
			const kind = csvColumns.get(`${name}.${platform}`);
			if (kind === undefined) {
				throw usageError(`--${flag} ${platform} is not a platform`, `Platforms are ${Object.keys(parts).join(', ')}`);
			}

			const isNumber = kind === 'count' && /^\d+$/.test(value);
			putField(after, `${name}.${platform}`, value === '' ? null : isNumber ? Number(value) : value);
		}
	}

	return after;
};

/** Whether one of `platformOptions` is given. */
export const givesPlatforms = (options: LinkFieldOptions): boolean =>
	platforms.some(({attribute}) => options[attribute] !== undefined);

/** @throws OperatorError for a time at which the link would already be dead. */
const requireFuture = (expiry: unknown): void => {
	if (typeof expiry === 'string' && Date.parse(expiry) <= createClock(0).now().getTime()) {
		throw usageError(`--expiry ${expiry} is in the past`, 'To end a link now, use --inactive');
	}
};

/** The fields of a path as typed, and the corrections made to it. */
type CorrectedPath = {fields: Record<string, unknown>; note: string | null};

/**
 * The path that was meant: a URL is split into path, parameters and campaign values, as an import splits it; a slash is
 * added in front.
 */
const correctedPath = (typed: string): CorrectedPath => {
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

/** The body of a create or an update: only the given fields, with the corrections made. */
export const linkBody = (options: LinkFieldOptions): {body: Record<string, unknown>; note: string | null} => {
	requireFuture(options['expiry']);
	const body = withPlatforms({}, options);
	const {path} = options;
	const corrected = typeof path === 'string' ? correctedPath(path) : {fields: {}, note: null};
	const {params: ofPath, ...fields}: {params?: object; [field: string]: unknown} = corrected.fields;
	Object.assign(body, fields);
	for (const {name, attribute} of textOptions.filter((option) => option.name !== 'path')) {
		const value = options[attribute] ?? options[name];
		if (value !== undefined) {
			putField(body, name, value);
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
		if (!csvColumns.has(field) && !objects.has(field)) {
			throw usageError(`'${field}' is not a field of a link`, `Fields are ${[...csvColumns.keys()].join(', ')}`);
		}

		putField(body, field, null);
	}

	return {body, note: corrected.note};
};
