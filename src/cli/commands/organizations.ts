import {Option} from 'commander';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {type PageOptions, pageOptions, yesOption} from '../common-options.ts';
import {organizationPath} from '../link-surface.ts';
import {listAt, listPages} from '../list-pages.ts';
import {requireConsent} from '../require-consent.ts';

type Organization = {id: string; orgKey: string; name: string; status: string; plan: string | null};
type Fields = {name?: string; contactEmail?: string};

const nameOption = () => new Option('--name <name>', 'name of the organization');
const emailOption = () => new Option('--contact-email <email>', 'whom to write to');

/** Suspend and activate differ in one word. */
const transition = (word: 'suspend' | 'activate', summary: string) =>
	command({
		usage: `${word} <org>`,
		summary,
		examples: [`${word} Ab12`],
		run: async ({connection, show}, org: string) =>
			show.fields(await connection.admin().post<Organization>(`${organizationPath(org)}/${word}`)),
	});

export const organizationCommands: CommandGroup = {
	name: 'orgs',
	summary: 'Manage organizations',
	commands: [
		command({
			usage: 'list',
			summary: 'List organizations, newest first',
			examples: ['list', 'list --search acme --json'],
			options: [...pageOptions(), new Option('--search <text>', 'only those whose name or orgKey has this')],
			run: async ({connection, options, show}: Context<PageOptions & {search?: string}>) => {
				const page = await listPages(listAt<Organization>(connection.admin(), '/admin/organizations'), options, {
					q: options.search,
				});
				await show.page(page, [
					{title: 'ID', value: ({id}) => id},
					{title: 'ORGKEY', value: ({orgKey}) => orgKey},
					{title: 'NAME', value: ({name}) => name, flexible: true},
					{title: 'PLAN', value: ({plan}) => plan},
					{title: 'STATUS', value: ({status}) => status},
				]);
			},
		}),

		command({
			usage: 'create',
			summary: 'Create an organization',
			examples: ['create --name Acme', 'create --name Acme --contact-email ops@acme.example --plan GROWTH'],
			options: [nameOption().makeOptionMandatory(), emailOption(), new Option('--plan <plan>', 'plan, set as by ops')],
			run: async ({connection, options, show}: Context<Fields & {plan?: string}>) => {
				const {name, contactEmail, plan} = options;
				await show.fields(
					await connection.admin().post<Organization>('/admin/organizations', {name, contactEmail, plan}),
				);
			},
		}),

		command({
			usage: 'show <org>',
			summary: 'Show an organization',
			examples: ['show Ab12'],
			run: async ({connection, show}, org: string) =>
				show.fields(await connection.admin().get<Organization>(organizationPath(org))),
		}),

		command({
			usage: 'update <org>',
			summary: 'Change name or contact of an organization',
			examples: ['update Ab12 --name "Acme Ltd"', 'update Ab12 --contact-email ""'],
			options: [nameOption(), emailOption()],
			run: async ({connection, options: {name, contactEmail}, show}: Context<Fields>, org: string) => {
				if (name === undefined && contactEmail === undefined) {
					throw usageError('Nothing to change', 'Give --name or --contact-email');
				}

				const changes = {name, contactEmail: contactEmail === '' ? null : contactEmail};
				await show.fields(await connection.admin().patch<Organization>(organizationPath(org), changes));
			},
		}),

		transition('suspend', 'Suspend an organization: its links answer 410, its keys 401'),
		transition('activate', 'Activate a suspended organization'),

		command({
			usage: 'delete <org>',
			summary: 'Delete an organization with its links, keys and clicks',
			examples: ['delete Ab12', 'delete Ab12 --yes'],
			options: [yesOption()],
			run: async ({io, connection, options, show}: Context<{yes?: boolean}>, org: string) => {
				const client = connection.admin();
				await requireConsent(io, options.yes, `Delete organization ${org} with its links, keys and clicks?`);
				await show.answer(await client.delete(organizationPath(org)), () => `Deleted organization ${org}`);
			},
		}),
	],
};
