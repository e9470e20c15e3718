import {Option} from 'commander';
import type {Channel} from '../../links/channels/channel.ts';
import type {CommandGroup} from '../command.ts';
import {resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';

const channels = resource<Json<Channel>>({path: 'channels', kind: 'channel'});

export const channelCommands: CommandGroup = {
	name: 'channels',
	summary: 'Manage channels',
	commands: [
		channels.list({
			summary: 'List channels, newest first',
			examples: ['list', 'list --org Ab12 --json'],
			columns: [
				{title: 'NAME', value: ({name}) => name, flexible: true},
				{title: 'CREATED', value: ({createdAt}) => createdAt},
			],
			empty: 'oplink channels create NAME',
		}),
		channels.request({
			usage: 'create [org] <name>',
			route: 'POST',
			summary: 'Create a channel',
			examples: ['create newsletter'],
			body: (_, name) => ({name}),
		}),
		channels.request({
			usage: 'update [org] <channel>',
			route: 'PATCH :row',
			summary: 'Rename a channel',
			about: 'Its links and templates get the new name.',
			examples: ['update newsletter --name email'],
			options: [new Option('--name <name>', 'new name').makeOptionMandatory()],
			body: ({name}: {name: string}) => ({name}),
		}),
		channels.request({
			usage: 'delete [org] <channel>',
			route: 'DELETE :row',
			summary: 'Delete a channel',
			about: 'Its links keep the name as a label.',
			examples: ['delete newsletter --yes'],
			question: (name) => `Delete channel ${name}? Its links keep the name.`,
			text: (_, name) => `Deleted channel ${name}`,
		}),
	],
};
