import type {DeviceJson} from '../../visits/devices/device-store.ts';
import type {EventJson} from '../../visits/sdk/sdk-store.ts';
import type {CommandGroup} from '../command.ts';
import {timeText} from '../match-trace.ts';
import {resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';

const devices = resource<Json<DeviceJson>>({path: 'devices', isUnique: () => false});

export const deviceCommands: CommandGroup = {
	name: 'devices',
	summary: 'List the devices that run the app',
	about: 'oplink privacy exports or erases the data of a device.',
	commands: [
		devices.list({
			summary: 'List devices, newest first',
			examples: ['list', 'list --org Ab12 --all --json'],
			columns: [
				{title: 'FIRST SEEN (UTC)', value: ({firstSeenAt}) => timeText(firstSeenAt)},
				{title: 'DEVICE', value: ({deviceId}) => deviceId, flexible: true},
				{title: 'PLATFORM', value: ({platform}) => platform},
				{title: 'MODEL', value: ({deviceModel}) => deviceModel, flexible: true},
				{title: 'USER', value: ({externalUserId}) => externalUserId, flexible: true},
			],
			empty: 'have the app report its devices, with the CLIENT key (docs/sdk.md)',
		}),
		devices.request({
			usage: 'show [org] <device>',
			route: 'GET :row',
			summary: 'Show a device',
			about: 'DEVICE is the id that the app assigned.',
			examples: ['show 0b7e9f12'],
		}),
	],
};

export const eventCommands: CommandGroup = {
	name: 'events',
	summary: 'List the events that the app sends',
	commands: [
		resource<Json<EventJson>>({path: 'events'}).list({
			summary: 'List events, newest first',
			examples: ['list', "list --org Ab12 --json | jq '.data[].properties'"],
			columns: [
				{title: 'AT (UTC)', value: ({occurredAt}) => timeText(occurredAt)},
				{title: 'EVENT', value: ({eventName}) => eventName, flexible: true},
				{title: 'DEVICE', value: ({deviceId}) => deviceId, flexible: true},
			],
			empty: 'have the app send events, with the CLIENT key (docs/sdk.md)',
		}),
	],
};
