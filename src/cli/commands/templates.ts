import {Option} from 'commander';
import type {Template} from '../../links/templates/template.ts';
import type {CommandGroup} from '../command.ts';
import {clearOption, collect, type LinkFieldOptions, linkBody, linkFieldOptions} from '../link-fields.ts';
import {requireChanges, resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';

const CLIENT_CREATE = 'clientCreate';

/** The fields that apps may set on links that they create from the template (contract/sdk 4). */
type OpenOptions = {openField?: string[]; openPath?: string};

const templateOptions = (): Option[] => [
	...linkFieldOptions('template'),
	new Option(
		'--open-field <field>',
		'field that apps may set on links of the template: params, title or path (repeatable)',
	).argParser(collect),
	new Option('--open-path <prefix>', 'path prefix of the links that apps may create from the template'),
];

/** The template's `clientCreate`, which is replaced as a whole. */
const clientCreateOf = ({openField: fields = [], openPath: pathPrefix}: OpenOptions): object | undefined =>
	fields.length === 0 && pathPrefix === undefined ? undefined : {fields, pathPrefix};

type TemplateOptions = LinkFieldOptions & OpenOptions & {name?: string};

const shared = (options: TemplateOptions) =>
	linkBody({...options, clear: options.clear?.filter((field) => field !== CLIENT_CREATE) ?? []});

const bodyOf = (options: TemplateOptions): Record<string, unknown> => ({
	...shared(options).body,
	name: options.name,
	[CLIENT_CREATE]: options.clear?.includes(CLIENT_CREATE) ? null : clientCreateOf(options),
});

const templates = resource<Json<Template>>({path: 'templates', kind: 'template'});
const note = (options: TemplateOptions) => shared(options).note;

export const templateCommands: CommandGroup = {
	name: 'templates',
	summary: 'Manage templates',
	about: 'A link takes the fields that it omits from its template.',
	commands: [
		templates.list({
			summary: 'List templates, newest first',
			examples: ['list', 'list --org Ab12 --json'],
			columns: [
				{title: 'NAME', value: ({name}) => name, flexible: true},
				{title: 'PATH', value: ({path}) => path, flexible: true},
				{title: 'CHANNEL', value: ({channel}) => channel, flexible: true},
			],
			empty: 'oplink templates create NAME --path /sale',
		}),
		templates.request({
			usage: 'show [org] <template>',
			route: 'GET :row',
			summary: 'Show a template',
			about: 'TEMPLATE is a name or an id.',
			examples: ['show Spring'],
		}),
		templates.request({
			usage: 'create [org] <name>',
			route: 'POST',
			summary: 'Create a template',
			examples: [
				'create Spring --path /sale --channel email --utm-campaign spring',
				'create invite --path /invite --open-field params --open-field title --open-path /invite',
			],
			options: templateOptions(),
			body: (options: TemplateOptions, name) => ({...bodyOf(options), name}),
			note,
		}),
		templates.request({
			usage: 'update [org] <template>',
			route: 'PATCH :row',
			summary: 'Change the given fields of a template',
			about: 'The links of the template change with it.',
			examples: [
				'update Spring --path /sale/2027',
				'update invite --name invitation --clear channel --clear clientCreate',
			],
			options: [new Option('--name <name>', 'new name'), ...templateOptions(), clearOption()],
			body: (options: TemplateOptions) => requireChanges(bodyOf(options), 'Give at least one field'),
			note,
		}),
		templates.request({
			usage: 'delete [org] <template>',
			route: 'DELETE :row',
			summary: 'Delete a template that no link uses',
			examples: ['delete Spring --yes'],
			question: (name) => `Delete template ${name}?`,
			text: (_, name) => `Deleted template ${name}`,
		}),
	],
};
