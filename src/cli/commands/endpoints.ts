import {Option} from 'commander';
import type {Delivery} from '../../visits/webhooks/delivery-store.ts';
import type {Endpoint} from '../../visits/webhooks/endpoint.ts';
import {exitCodes, usageError} from '../cli-errors.ts';
import {type CommandGroup, command} from '../command.ts';
import {pageOptions} from '../common-options.ts';
import {collect} from '../link-fields.ts';
import {timeText} from '../match-trace.ts';
import {requireChanges, resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';
import {organizationApi} from '../server/link-surface.ts';

type Row = Json<Endpoint> & {secret?: string};

type FieldOptions = {
	address?: string;
	event?: string[];
	tag?: string[];
	channel?: string[];
	description?: string;
	enable?: boolean;
	disable?: boolean;
};

const fieldOptions = (): Option[] => [
	new Option('--event <type>', "event type, such as match.missed, or '*' for all (repeatable)").argParser(collect),
	new Option('--tag <tag>', 'only events of links with this tag (repeatable)').argParser(collect),
	new Option('--channel <channel>', 'only events of links of this channel (repeatable)').argParser(collect),
	new Option('--description <text>', 'description of the endpoint'),
];

const bodyOf = ({address, event, tag, channel, description, enable, disable}: FieldOptions) => ({
	url: address,
	events: event,
	filter: tag === undefined && channel === undefined ? undefined : {tags: tag, channels: channel},
	description,
	enabled: enable ? true : disable ? false : undefined,
});

const fieldsOf = ({filter, secret, ...endpoint}: Row): Array<[string, unknown]> => [
	['id', endpoint.id],
	['url', endpoint.url],
	['description', endpoint.description ?? undefined],
	['events', endpoint.events],
	['tags', filter.tags],
	['channels', filter.channels],
	['enabled', endpoint.enabled],
	['disabled because', endpoint.disabledReason ?? undefined],
	['secret', secret],
];

const path = 'webhook-endpoints';
const endpoints = resource<Row>({path, fields: fieldsOf});
const tests = resource<{ok: boolean}>({path, isUnique: () => true});
const deliveries = resource<Json<Delivery>>({path, isUnique: () => true});

const keepSecret = () => 'The secret is shown once: the receiver verifies signatures with it (docs/webhooks.md)';

const lastTry = ({tries}: Json<Delivery>) => tries.at(-1);

export const endpointCommands: CommandGroup = {
	name: 'endpoints',
	summary: 'Manage webhook endpoints',
	commands: [
		endpoints.list({
			summary: 'List webhook endpoints, newest first',
			examples: ['list', 'list --org Ab12 --json'],
			columns: [
				{title: 'ID', value: ({id}) => id},
				{title: 'URL', value: ({url}) => url, flexible: true},
				{title: 'EVENTS', value: ({events}) => events.join(' '), flexible: true},
				{title: 'ENABLED', value: ({enabled}) => enabled},
			],
			empty: 'oplink endpoints add https://hooks.example.com/oplink --event match.missed',
		}),
		endpoints.request({
			usage: 'show [org] <id>',
			route: 'GET :row',
			summary: 'Show a webhook endpoint',
			examples: ['show 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77'],
		}),
		endpoints.request({
			usage: 'add [org] <url>',
			route: 'POST',
			summary: 'Add a webhook endpoint',
			about: 'The secret is shown once.',
			examples: [
				"add https://hooks.example.com/oplink --event '*'",
				'add https://hooks.example.com/oplink --event match.found --event event.tracked --tag spring',
			],
			options: fieldOptions(),
			body: ({event = ['*'], ...options}: FieldOptions, url) => ({...bodyOf({...options, event}), url}),
			note: keepSecret,
		}),
		endpoints.request({
			usage: 'update [org] <id>',
			route: 'PATCH :row',
			summary: 'Change the given fields of a webhook endpoint',
			about: '--tag and --channel replace the filter.',
			examples: [
				'update 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77 --enable',
				'update 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77 --address https://hooks.example.com/v2 --event link.created',
			],
			options: [
				// --url names the server, for every command.
				new Option('--address <url>', 'new address'),
				...fieldOptions(),
				new Option('--enable', 'enable the endpoint and send its backlog').conflicts('disable'),
				new Option('--disable', 'disable the endpoint'),
			],
			body: (options: FieldOptions) => requireChanges(bodyOf(options), 'Give at least one field'),
		}),
		endpoints.request({
			usage: 'delete [org] <id>',
			route: 'DELETE :row',
			summary: 'Delete a webhook endpoint with its deliveries',
			examples: ['delete 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77 --yes'],
			question: (id) => `Delete webhook endpoint ${id} with its deliveries?`,
			text: (_, id) => `Deleted webhook endpoint ${id}`,
		}),
		tests.request({
			usage: 'test [org] <id>',
			route: 'POST :row/test',
			summary: 'Send a test delivery',
			about: 'Shows the answer. The exit code is 1 unless its status is 2xx.',
			examples: ['test 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77'],
			body: () => ({}),
			exitCode: ({ok}) => (ok ? exitCodes.ok : exitCodes.failed),
		}),
		endpoints.request({
			usage: 'rotate [org] <id>',
			route: 'POST :row/rotate',
			summary: 'Rotate the secret of a webhook endpoint',
			about: 'The new secret is shown once. The old one signs deliveries for 24 more hours.',
			examples: ['rotate 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77 --yes'],
			question: (id) => `Replace the secret of webhook endpoint ${id}?`,
			note: keepSecret,
		}),
		deliveries.list({
			usage: 'deliveries [org] <id>',
			below: 'deliveries',
			summary: 'List the deliveries of the last 30 days, newest first',
			about: '--json includes every attempt.',
			examples: [
				'deliveries 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77 --status FAILED',
				"deliveries 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77 --json | jq '.data[].tries'",
			],
			options: [
				new Option('--status <status>', 'only deliveries with this status').choices(['PENDING', 'DELIVERED', 'FAILED']),
				...pageOptions(),
			],
			query: ({status}: {status?: string}) => ({status}),
			columns: [
				{title: 'ID', value: ({id}) => id},
				{title: 'AT (UTC)', value: ({at}) => timeText(at)},
				{title: 'TYPE', value: ({type}) => type, flexible: true},
				{title: 'STATUS', value: ({status}) => status},
				{title: 'ANSWER', value: (row) => lastTry(row)?.status ?? lastTry(row)?.error, flexible: true},
			],
		}),
		command({
			usage: 'replay [org] <id>',
			summary: 'Replay one delivery, or all events since a time',
			examples: [
				'replay 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77 --delivery 5d0f4b7e-9c1e-4f1f-8b1c-9a770b7e9f12',
				'replay 0b7e9f12-5d0f-4b7e-9c1e-2f1f3b1c9a77 --since 2026-03-10T12:00:00Z',
			],
			options: [
				new Option('--delivery <id>', 'delivery to replay').conflicts('since'),
				new Option('--since <time>', 'replay all events since this time'),
			],
			run: async (context, endpoint: string) => {
				const {since, delivery} = context.options as {since?: string; delivery?: string};
				if ((delivery === undefined) === (since === undefined)) {
					throw usageError('Name one delivery, or a time', 'Give --delivery ID or --since TIME');
				}

				const {client, path} = await organizationApi(context, endpoint);
				const at = `${path}/webhook-endpoints/${encodeURIComponent(endpoint)}`;
				const answer =
					delivery === undefined
						? await client.post<{replayed: number}>(`${at}/replay`, {since})
						: await client.post<{replayed: number}>(`${at}/deliveries/${encodeURIComponent(delivery)}/replay`, {});
				await context.show.fields(answer);
			},
		}),
	],
};
