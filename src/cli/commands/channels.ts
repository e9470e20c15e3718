import {Option} from 'commander';
import type {Channel as ChannelJson} from '../../links/channels/channel.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {deleteCommand, listCommand} from '../organization-rows.ts';
import type {Json} from '../server/admin-client.ts';
import {chosenPath} from '../server/link-surface.ts';
import {pathOfNamed} from '../server/named-row.ts';

type Channel = Json<ChannelJson>;

export const channelCommands: CommandGroup = {
	name: 'channels',
	summary: 'Manage the channels that links may have',
	commands: [
		listCommand<Channel>({
			summary: 'List channels, newest first',
			examples: ['list', 'list --org Ab12 --json'],
			path: 'channels',
			columns: [
				{title: 'NAME', value: ({name}) => name, flexible: true},
				{title: 'CREATED', value: ({createdAt}) => createdAt},
			],
			empty: 'oplink channels create NAME',
		}),

		command({
			usage: 'create [org] <name>',
			summary: 'Create a channel',
			examples: ['create newsletter'],
			run: async (context, name: string) => {
				const {client, path} = await chosenPath(context);
				await context.show.fields(await client.post<Channel>(`${path}/channels`, {name}));
			},
		}),

		command({
			usage: 'update [org] <channel>',
			summary: 'Rename a channel, also on its links and templates',
			examples: ['update newsletter --name email'],
			options: [new Option('--name <name>', 'new name').makeOptionMandatory()],
			run: async (context: Context<{name: string}>, channel: string) => {
				const chosen = await chosenPath(context);
				const {name} = context.options;
				const path = await pathOfNamed(chosen, 'channel', channel);
				await context.show.fields(await chosen.client.patch<Channel>(path, {name}));
			},
		}),

		deleteCommand('channel', {
			summary: 'Delete a channel; its links keep the name as a label',
			examples: ['delete newsletter --yes'],
			consequence: ' Its links keep the name.',
		}),
	],
};
