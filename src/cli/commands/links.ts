import {Option} from 'commander';
import type {NewLink} from '../../client/oplink.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {orgOption, type PageOptions, pageOptions, yesOption} from '../common-options.ts';
import {clearOption, type LinkFieldOptions, linkBody, linkFieldOptions} from '../link-fields.ts';
import {linkId, linkSurface} from '../server/link-surface.ts';
import {listPages} from '../server/list-pages.ts';
import {requireConsent} from '../terminal/require-consent.ts';
import {exportCommand} from './links-export.ts';
import {importCommand} from './links-import.ts';

type OrgOptions = {org?: string};
type ListOptions = OrgOptions &
	PageOptions & {
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

export const linkCommands: CommandGroup = {
	name: 'links',
	summary: 'Manage links, with the admin token or a SERVER key',
	commands: [
		command({
			usage: 'create',
			summary: 'Create a link and print it with its short URL',
			examples: [
				'create --path /sale',
				'create --path /item/7 --short-code spring --tag sale --param coupon=A1 --org Ab12',
			],
			options: [orgOption(), ...linkFieldOptions()],
			run: async (context: Context<OrgOptions & LinkFieldOptions>) => {
				const body = linkBody(context.options);
				if (body['path'] === undefined && body['templateId'] === undefined) {
					throw usageError('A link needs a path', 'Give --path, or the --template-id of a template with a path');
				}

				const {links} = await linkSurface(context);
				await context.show.fields(await links.create(body as NewLink));
			},
		}),

		command({
			usage: 'list',
			summary: 'List links, newest first',
			examples: ['list --org Ab12', 'list --inactive --tag sale --all --json'],
			options: listOptions,
			run: async (context: Context<ListOptions>) => {
				const {active, inactive, search, tag, channel, externalId} = context.options;
				const {links} = await linkSurface(context);
				const isActive = active ? true : inactive ? false : undefined;
				const page = await listPages(links.list, context.options, {
					isActive,
					q: search,
					tag,
					channel,
					externalId,
				});
				await context.show.page(page, [
					{title: 'ID', value: ({id}) => id},
					{title: 'SHORT CODE', value: ({shortCode}) => shortCode, flexible: true},
					{title: 'PATH', value: ({path}) => path, flexible: true},
					{title: 'TITLE', value: ({title}) => title, flexible: true},
					{title: 'ACTIVE', value: ({isActive}) => isActive},
				]);
			},
		}),

		command({
			usage: 'show <id>',
			summary: 'Show a link',
			examples: ['show 3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11'],
			options: [orgOption()],
			run: async (context: Context<OrgOptions>, id: string) => {
				const {links} = await linkSurface(context);
				await context.show.fields(await links.get(linkId(id)));
			},
		}),

		command({
			usage: 'update <id>',
			summary: 'Change the given fields of a link; --tag and --param replace all existing ones',
			examples: [
				'update 3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11 --inactive',
				'update 3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11 --title Spring --clear expiry',
			],
			options: [orgOption(), ...linkFieldOptions(), clearOption()],
			run: async (context: Context<OrgOptions & LinkFieldOptions>, id: string) => {
				const changes = linkBody(context.options);
				if (Object.keys(changes).length === 0) {
					throw usageError('Nothing to change', 'Give at least one field');
				}

				const {links} = await linkSurface(context);
				await context.show.fields(await links.update(linkId(id), changes));
			},
		}),

		command({
			usage: 'delete <id>',
			summary: 'Delete a link permanently; its short URL then answers 404',
			examples: ['delete 3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11 --yes'],
			options: [orgOption(), yesOption()],
			run: async (context: Context<OrgOptions & {yes?: boolean}>, id: string) => {
				await requireConsent(context.io, context.options.yes, async () => {
					const {url, title} = await (await linkSurface(context)).links.get(linkId(id));
					return `Delete ${url}${title ? `, ${title},` : ''} permanently?`;
				});
				const {links} = await linkSurface(context);
				await context.show.answer(await links.delete(linkId(id)), () => `Deleted link ${id}`);
			},
		}),

		importCommand,
		exportCommand,
	],
};
