import {Option} from 'commander';
import type {LinkWithDomain} from '../../client/oplink.ts';
import {loadQrCode} from '../../links/links/qr/qr-svg.ts';
import {createClock} from '../../platform/clock.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {orgOption, type PageOptions, pageOptions, yesOption} from '../common-options.ts';
import {clearOption, type LinkFieldOptions, linkBody, linkFieldOptions} from '../link-fields.ts';
import {requireConsent} from '../prompts.ts';
import {type LinkSurface, linkSurface} from '../server/link-surface.ts';
import {type List, listAt, listPages, type Page} from '../server/list-pages.ts';
import {linkPath, namedLink, withIds} from '../server/named-link.ts';
import {type Io, print, supportsStyles} from '../terminal/io.ts';
import {type Column, flattened} from '../terminal/output.ts';
import {styled} from '../terminal/printable.ts';
import {blockCommand, unblockCommand} from './abuse.ts';
import {exportCommand} from './links-export.ts';
import {importCommand} from './links-import.ts';

/** Maximum links whose clicks are shown: those of one page. */
const MAX_COUNTED = 100;
/** A shorter path is never cut. */
const PATH_WIDTH = 40;

type ListedLink = LinkWithDomain & {clicks?: number};

/**
 * Lists links with the clicks of the last 30 days if a table shows them: with the admin token, and of `--all` for the
 * first page, beyond which there are too many.
 */
const countingList = (
	{client, org, path}: LinkSurface,
	{show, options}: Pick<Context<PageOptions>, 'show' | 'options'>,
): List<ListedLink> => {
	const list = listAt<ListedLink>(client, `${path}/links`);
	const isCounting = org !== null && !show.json;
	return (query) =>
		list(isCounting && (options.all !== true || query['page'] === 1) ? {...query, clicks: true} : query);
};

const stateOf = ({isActive, expiry}: LinkWithDomain, now: Date): string =>
	isActive ? (expiry !== null && Date.parse(expiry) <= now.getTime() ? 'expired' : 'active') : 'inactive';

/** Links as a table: the code, which every command takes, comes first and is never cut. */
const showLinks = async ({show}: Pick<Context, 'show'>, {org}: LinkSurface, page: Page<ListedLink>): Promise<void> => {
	const now = createClock(0).now();
	const counted: Column<ListedLink> = {
		title: 'CLICKS 30D',
		value: ({clicks}) => (clicks ?? 0).toLocaleString('en'),
		align: 'right',
	};
	await show.page(
		page,
		[
			{title: 'SHORT CODE', value: ({shortCode}) => shortCode},
			{title: 'PATH', value: ({path}) => path, flexible: true, minWidth: PATH_WIDTH},
			...(org === null || page.data.length > MAX_COUNTED ? [] : [counted]),
			{title: 'STATE', value: (link) => stateOf(link, now)},
			{title: 'TITLE', value: ({title}) => title, flexible: true},
		],
		'oplink links create --path /sale, or oplink links list without a filter',
	);
};

const BLACK = [30, 39] as const;
const ON_WHITE = [107, 49] as const;

/** A QR code of half blocks, black on white if the terminal has colours: readers expect it on dark screens too. */
const terminalQr = async (url: string, {stdout, env}: Pick<Io, 'stdout' | 'env'>): Promise<string> => {
	const text = await (await loadQrCode()).toString(url, {type: 'utf8', errorCorrectionLevel: 'M', margin: 2});
	const lines = text.split('\n').filter((line) => line !== '');
	return supportsStyles(stdout, env)
		? lines.map((line) => styled(styled(line, ...BLACK), ...ON_WHITE)).join('\n')
		: lines.join('\n');
};

type ListOptions = PageOptions & {
	active?: boolean;
	inactive?: boolean;
	search?: string;
	tag?: string;
	channel?: string;
	externalId?: string;
};

const listOptions = [
	orgOption(),
	...pageOptions(),
	new Option('--active', 'only active links'),
	new Option('--inactive', 'only inactive links').conflicts('active'),
	new Option('--search <text>', 'only links whose title, path or short code contains this'),
	new Option('--tag <tag>', 'only links with this tag'),
	new Option('--channel <channel>', 'only links of this channel'),
	new Option('--external-id <id>', 'only the link with this external id'),
];

/** Fields of a new link that are not shown, like those with their usual value, unless the command line names them. */
const hiddenFields = ['organizationId', 'domainId', 'shortCode', 'createdAt', 'updatedAt'];
const usual: Readonly<Record<string, unknown>> = {isActive: true, deferredDeepLinking: true};

const withoutUsual = (link: object, given: object): object =>
	Object.fromEntries(
		Object.entries(link).filter(
			([name, value]) =>
				name in given || !(hiddenFields.includes(name) || name === 'matchWindowHours' || usual[name] === value),
		),
	);

export const linkCommands: CommandGroup = {
	name: 'links',
	summary: 'Manage links, with the admin token or a SERVER key',
	commands: [
		command({
			usage: 'create',
			summary: 'Create a link and print its short URL',
			examples: [
				'create --path /item/7 --short-code spring --tag sale --param coupon=A1 --org Ab12',
				'create --path /sale --url-only',
			],
			options: [
				orgOption(),
				...linkFieldOptions(),
				new Option('--url-only', 'print only the short URL'),
				new Option('--qr', 'also print the QR code').conflicts('urlOnly'),
			],
			run: async (context: Context<LinkFieldOptions & {urlOnly?: boolean; qr?: boolean}>) => {
				const {urlOnly, qr} = context.options;
				if (context.show.json && (urlOnly || qr)) {
					throw usageError('--url-only and --qr cannot be combined with --json');
				}

				const {body, note} = linkBody(context.options);
				if (body['path'] === undefined && body['templateId'] === undefined) {
					throw usageError('A link needs a path', 'Give --path, or the --template with a path of its own');
				}

				const surface = await linkSurface(context);
				const link = await surface.client.post<LinkWithDomain>(`${surface.path}/links`, await withIds(surface, body));
				await context.show.note(note);
				if (urlOnly) {
					await print(context.io, link.url);
				} else {
					await context.show.fields(link, ({url, ...rest}) => [['url', url], ...flattened(withoutUsual(rest, body))]);
				}

				if (qr) {
					await print(context.io, await terminalQr(link.url, context.io));
				}
			},
		}),

		command({
			usage: 'list',
			summary: 'List links, newest first',
			examples: ['list --org Ab12', 'list --inactive --tag sale --all --json'],
			options: listOptions,
			run: async (context: Context<ListOptions>) => {
				const {active, inactive, search, tag, channel, externalId} = context.options;
				const surface = await linkSurface(context);
				const isActive = active ? true : inactive ? false : undefined;
				const page = await listPages(countingList(surface, context), context.options, {
					isActive,
					q: search,
					tag,
					channel,
					externalId,
				});
				await showLinks(context, surface, page);
			},
		}),

		command({
			usage: 'show <link>',
			summary: 'Show a link',
			about: 'LINK is a short URL, a short code or an id.',
			examples: ['show https://go.acme.example/Ab12/spring', 'show spring --org Ab12 --json'],
			options: [orgOption()],
			run: async (context, named: string) => {
				const found = await namedLink(context, named);
				await context.show.fields(await found.client.get<LinkWithDomain>(linkPath(found)));
			},
		}),

		command({
			usage: 'update <link>',
			summary: 'Change the given fields of a link',
			about: '--tag and --param replace all existing values.',
			examples: [
				'update spring --inactive',
				'update https://go.acme.example/Ab12/spring --title Spring --clear expiry',
			],
			options: [orgOption(), ...linkFieldOptions(), clearOption()],
			run: async (context: Context<LinkFieldOptions>, named: string) => {
				const {body: changes, note} = linkBody(context.options);
				if (Object.keys(changes).length === 0) {
					throw usageError('Nothing to change', 'Give at least one field');
				}

				const found = await namedLink(context, named);
				const link = await found.client.patch<LinkWithDomain>(linkPath(found), await withIds(found, changes));
				await context.show.note(note);
				await context.show.fields(link);
			},
		}),

		command({
			usage: 'delete <link>',
			summary: 'Delete a link permanently',
			about: 'Its short URL then answers 404.',
			examples: ['delete spring', 'delete https://go.acme.example/Ab12/spring --yes'],
			options: [orgOption(), yesOption()],
			run: async (context, named: string) => {
				await requireConsent(context, async () => {
					const found = await namedLink(context, named);
					const {url, title} = await found.client.get<LinkWithDomain>(linkPath(found));
					return `Delete ${url}${title ? `, ${title},` : ''} permanently?`;
				});
				const found = await namedLink(context, named);
				await context.show.answer(await found.client.delete(linkPath(found)), () => `Deleted link ${named}`);
			},
		}),

		blockCommand,
		unblockCommand,
		importCommand,
		exportCommand,
	],
};
