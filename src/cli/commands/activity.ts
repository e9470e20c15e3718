import {resolve} from 'node:path';
import {Option} from 'commander';
import type {AuditRecord} from '../../accounts/audit/audit-log.ts';
import {counted} from '../../platform/text.ts';
import type {DeviceJson} from '../../visits/devices/device-store.ts';
import type {Erased} from '../../visits/privacy/erase-personal-data.ts';
import type {EventJson} from '../../visits/sdk/sdk-store.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {textOf} from '../lines.ts';
import {timeText} from '../match-trace.ts';
import {requireConsent} from '../prompts.ts';
import {replaceFile} from '../replace-file.ts';
import {resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';
import {organizationApi} from '../server/link-surface.ts';
import {write} from '../terminal/io.ts';
import {safeJson} from '../terminal/printable.ts';

type SubjectOptions = {device?: string; user?: string};

const subjectOptions = (): Option[] => [
	new Option('--device <id>', 'device id assigned by the app').conflicts('user'),
	new Option('--user <id>', 'user id set by the app (externalUserId), on all their devices'),
];

/** The path of the device's or the user's data. @throws OperatorError if neither is named. */
const subjectOf = async (context: Context<SubjectOptions>) => {
	const {device, user} = context.options;
	const named = device === undefined ? user : device;
	if (named === undefined) {
		throw usageError('No device or user is given', 'Name a device with --device ID or a user with --user ID');
	}

	const {client, org, path} = await organizationApi(context);
	return {
		client,
		org,
		data: `${path}/${device === undefined ? 'users' : 'devices'}/${encodeURIComponent(named)}/data`,
	};
};

const nameOf = ({device, user}: SubjectOptions): string => (device === undefined ? `user ${user}` : `device ${device}`);

export const privacyCommands: CommandGroup = {
	name: 'privacy',
	summary: 'Export or erase the data of a device or user',
	about: 'For requests under articles 15 and 17 of the GDPR.',
	commands: [
		command({
			usage: 'export [org]',
			summary: 'Export all data of a device or user as one JSON document',
			examples: [
				'export --user customer-77 --output customer-77.json',
				'export --org Ab12 --device 0b7e9f12 | jq .events',
			],
			options: [
				...subjectOptions(),
				new Option('--output <file>', 'file to write, readable by its owner only (default: standard output)'),
			],
			run: async (context: Context<SubjectOptions & {output?: string}>) => {
				const {io, options, show} = context;
				const {client, data} = await subjectOf(context);
				const chunks = client.stream(data);
				const {output} = options;
				if (output === undefined || output === '-') {
					for await (const text of textOf(chunks)) {
						await write(io.stdout, safeJson(text));
					}

					return;
				}

				await replaceFile(resolve(io.cwd, output), async (handle) => {
					for await (const chunk of chunks) {
						await handle.writeFile(chunk);
					}
				});
				await show.note(`Data of ${nameOf(options)} written to ${output}`);
			},
		}),

		command({
			usage: 'erase [org]',
			summary: 'Erase all data of a device or user',
			about: 'Figures of reports and quotas do not change.',
			examples: ['erase --user customer-77', 'erase --org Ab12 --device 0b7e9f12 --yes --json'],
			options: [...subjectOptions(), yesOption()],
			run: async (context: Context<SubjectOptions>) => {
				const {options, show} = context;
				const {client, org, data} = await subjectOf(context);
				await requireConsent(context, `Erase all data of the ${nameOf(options)} of ${org}?`);
				await show.answer(
					await client.delete<{erased: Erased}>(data),
					({erased: {devices, events, matchAttempts, clicks, links, deliveries}}) =>
						`Erased the ${nameOf(options)}: ${[
							counted(devices, 'device'),
							counted(events, 'event'),
							counted(matchAttempts, 'match attempt'),
							counted(clicks, 'click'),
							...(links === undefined ? [] : [counted(links, 'link')]),
							...(deliveries === undefined ? [] : [counted(deliveries, 'webhook')]),
						].join(', ')}`,
				);
			},
		}),
	],
};

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

export const auditCommand = resource<Json<AuditRecord>>({path: 'audit-log'}).list({
	usage: 'audit [org]',
	summary: 'Show the audit log of an organization, newest first',
	examples: ['audit', 'audit --org Ab12 --all --json'],
	columns: [
		{title: 'AT (UTC)', value: ({at}) => timeText(at)},
		{title: 'ACTION', value: ({action}) => action},
		{title: 'ENTITY', value: ({entityType}) => entityType},
		// On a narrow terminal the actor, which people look for, matters more.
		{title: 'ENTITY ID', value: ({entityId}) => entityId, wide: true},
		{title: 'ACTOR', value: ({actor}) => actor.name ?? actor.type, flexible: true},
	],
	empty: 'change something: each change of links, domains, keys and members is listed here',
});
