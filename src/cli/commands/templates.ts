import {Option} from 'commander';
import type {Template} from '../../links/templates/template.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {clearOption, collect, type LinkFieldOptions, linkBody, linkFieldOptions} from '../link-fields.ts';
import {deleteCommand, listCommand} from '../organization-rows.ts';
import type {Json} from '../server/admin-client.ts';
import {chosenPath} from '../server/link-surface.ts';
import {namedRow, pathOfNamed} from '../server/named-row.ts';

const CLIENT_CREATE = 'clientCreate';

/** The fields that apps may set on links that they create from the template (contract/sdk 4). */
type OpenOptions = {openField?: string[]; openPath?: string};

const templateOptions = (): Option[] => [
	...linkFieldOptions('template'),
	new Option(
		'--open-field <field>',
		'let apps create links of it and set this field: params, title or path; once per field',
	).argParser(collect),
	new Option('--open-path <prefix>', 'let apps create links of it with a path below this one'),
];

/** The template's `clientCreate`, which is replaced as a whole. */
const clientCreateOf = ({openField: fields = [], openPath: pathPrefix}: OpenOptions): object | undefined =>
	fields.length === 0 && pathPrefix === undefined
		? undefined
		: {fields, ...(pathPrefix === undefined ? {} : {pathPrefix})};

/** Sends the body that the options make, with a note of what was mended. */
const write = async (
	{options, show}: Context<LinkFieldOptions & OpenOptions & {name?: string}>,
	send: (body: Record<string, unknown>) => Promise<Template>,
): Promise<void> => {
	const {clear = [], name} = options;
	const {body: shared, note} = linkBody({...options, clear: clear.filter((field) => field !== CLIENT_CREATE)});
	const clientCreate = clear.includes(CLIENT_CREATE) ? null : clientCreateOf(options);
	const template = await send({
		...shared,
		...(name === undefined ? {} : {name}),
		...(clientCreate === undefined ? {} : {[CLIENT_CREATE]: clientCreate}),
	});
	if (note !== null) {
		await show.note(note);
	}

	await show.fields(template);
};

export const templateCommands: CommandGroup = {
	name: 'templates',
	summary: 'Manage templates, which give their links what these leave out',
	commands: [
		listCommand<Json<Template>>({
			summary: 'List templates, newest first',
			examples: ['list', 'list --org Ab12 --json'],
			path: 'templates',
			columns: [
				{title: 'NAME', value: ({name}) => name, flexible: true},
				{title: 'PATH', value: ({path}) => path, flexible: true},
				{title: 'CHANNEL', value: ({channel}) => channel, flexible: true},
			],
			empty: 'oplink templates create NAME --path /sale',
		}),

		command({
			usage: 'show [org] <template>',
			summary: 'Show a template, by its name or id',
			examples: ['show Spring'],
			run: async (context, template: string) =>
				context.show.fields(await namedRow<Template>(await chosenPath(context), 'template', template)),
		}),

		command({
			usage: 'create [org] <name>',
			summary: 'Create a template',
			examples: [
				'create Spring --path /sale --channel email --utm-campaign spring',
				'create invite --path /invite --open-field params --open-field title --open-path /invite',
			],
			options: templateOptions(),
			run: async (context: Context<LinkFieldOptions>, name: string) => {
				const {client, path} = await chosenPath(context);
				await write(context, (body) => client.post(`${path}/templates`, {...body, name}));
			},
		}),

		command({
			usage: 'update [org] <template>',
			summary: 'Change the given fields of a template, and so of its links',
			examples: [
				'update Spring --path /sale/2027',
				'update invite --name invitation --clear channel --clear clientCreate',
			],
			options: [new Option('--name <name>', 'new name'), ...templateOptions(), clearOption()],
			run: async (context: Context<LinkFieldOptions & {name?: string}>, template: string) => {
				const chosen = await chosenPath(context);
				const path = await pathOfNamed(chosen, 'template', template);
				await write(context, (body) => {
					if (Object.keys(body).length === 0) {
						throw usageError('Nothing to change', 'Give at least one field');
					}

					return chosen.client.patch(path, body);
				});
			},
		}),

		deleteCommand('template', {
			summary: 'Delete a template that no link uses',
			examples: ['delete Spring --yes'],
		}),
	],
};
