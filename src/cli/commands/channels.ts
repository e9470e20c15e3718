import {Option} from 'commander';
import type {Channel as ChannelJson} from '../../channels/channel.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {type OrgOptions, orgOption, type PageOptions, pageOptions, yesOption} from '../common-options.ts';
import type {Json} from '../server/admin-client.ts';
import {chosenPath} from '../server/link-surface.ts';
import {listAt, listPages} from '../server/list-pages.ts';
import {idOfNamed} from '../server/named-row.ts';
import {requireConsent} from '../terminal/require-consent.ts';

type Channel = Json<ChannelJson>;

export const channelCommands: CommandGroup = {
	name: 'channels',
	summary: 'Manage the channels that links may have',
	commands: [
		command({
			usage: 'list [org]',
			summary: 'List channels, newest first',
			examples: ['list', 'list --org Ab12 --json'],
			options: [orgOption(), ...pageOptions()],
			run: async (context: Context<OrgOptions & PageOptions>) => {
				const {client, path} = await chosenPath(context);
				await context.show.page(
					await listPages(listAt<Channel>(client, `${path}/channels`), context.options),
					[
						{title: 'NAME', value: ({name}) => name, flexible: true},
						{title: 'CREATED', value: ({createdAt}) => createdAt},
					],
					'oplink channels create NAME',
				);
			},
		}),

		command({
			usage: 'create [org] <name>',
			summary: 'Create a channel',
			examples: ['create newsletter'],
			options: [orgOption()],
			run: async (context: Context<OrgOptions>, name: string) => {
				const {client, path} = await chosenPath(context);
				await context.show.fields(await client.post<Channel>(`${path}/channels`, {name}));
			},
		}),

		command({
			usage: 'update [org] <channel>',
			summary: 'Rename a channel, also on its links and templates',
			examples: ['update newsletter --name email'],
			options: [orgOption(), new Option('--name <name>', 'new name').makeOptionMandatory()],
			run: async (context: Context<OrgOptions & {name: string}>, channel: string) => {
				const chosen = await chosenPath(context);
				const id = await idOfNamed(chosen, 'channel', channel);
				const {name} = context.options;
				await context.show.fields(await chosen.client.patch<Channel>(`${chosen.path}/channels/${id}`, {name}));
			},
		}),

		command({
			usage: 'delete [org] <channel>',
			summary: 'Delete a channel; its links keep the name as a label',
			examples: ['delete newsletter --yes'],
			options: [orgOption(), yesOption()],
			run: async (context: Context<OrgOptions & {yes?: boolean}>, channel: string) => {
				await requireConsent(context.io, context.options.yes, `Delete channel ${channel}? Its links keep the name.`);
				const chosen = await chosenPath(context);
				const id = await idOfNamed(chosen, 'channel', channel);
				const deleted = await chosen.client.delete(`${chosen.path}/channels/${id}`);
				await context.show.answer(deleted, () => `Deleted channel ${channel}`);
			},
		}),
	],
};
