import {Option} from 'commander';
import type {organizationJson} from '../../accounts/organizations/organization-store.ts';
import type {Usage} from '../../links/usage/organization-routes.ts';
import {counted} from '../../platform/counted.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {pageOptions, yesOption} from '../common-options.ts';
import type {ApiClient, Json} from '../server/admin-client.ts';
import {organizationPath} from '../server/link-surface.ts';
import {listAt, listPages, type Page} from '../server/list-pages.ts';
import {flattened} from '../terminal/output.ts';
import {requireConsent} from '../terminal/require-consent.ts';
import type {KeyCards} from './keys.ts';

type Organization = Json<ReturnType<typeof organizationJson>>;

const QUOTA_TITLES: Record<string, string> = {clicks: 'clicks this month', appLinks: 'links by apps'};

const usageFields = (usage: Partial<Usage>): Array<[string, unknown]> =>
	Object.entries(usage).map(([quota, {used, limit}]) => [
		QUOTA_TITLES[quota] ?? quota,
		`${used.toLocaleString('en')} of ${limit === null ? 'unlimited' : limit.toLocaleString('en')}`,
	]);

type Fields = {name?: string; contactEmail?: string};

const nameOption = () => new Option('--name <name>', 'name of the organization');
const emailOption = () => new Option('--contact-email <email>', 'contact address');

const named = async (client: ApiClient, org: string): Promise<Organization & {title: string}> => {
	const organization = await client.get<Organization>(organizationPath(org));
	return {...organization, title: `${organization.name} (${organization.orgKey})`};
};

/** The data that is deleted with an organization. */
const deletionQuestion = async (client: ApiClient, org: string): Promise<string> => {
	const {title, createdAt} = await named(client, org);
	const [links, {sdkKey, serverKey, earlier}, stats] = await Promise.all([
		client.get<Page<unknown>>(`${organizationPath(org)}/links`, {limit: 1}),
		client.get<KeyCards>(`${organizationPath(org)}/api-keys`),
		client.get<{totals: {clicks: number}}>(`${organizationPath(org)}/stats`, {from: createdAt, interval: 'month'}),
	]);
	const keys = [sdkKey, serverKey, ...earlier].filter((key) => key !== null);
	return `Delete ${title}: ${counted(links.total, 'link')}, ${counted(keys.length, 'key')}, ${counted(stats.totals.clicks, 'click')}?`;
};

export const organizationCommands: CommandGroup = {
	name: 'orgs',
	summary: 'Manage organizations',
	commands: [
		command({
			usage: 'list',
			summary: 'List organizations, newest first',
			examples: ['list', 'list --search acme --json'],
			options: [
				...pageOptions(),
				new Option('--search <text>', 'only organizations whose name or orgKey contains this'),
			],
			run: async ({connection, options, show}: Context<{search?: string}>) => {
				const page = await listPages(listAt<Organization>(connection.admin(), '/admin/organizations'), options, {
					q: options.search,
				});
				await show.page(
					page,
					[
						{title: 'ID', value: ({id}) => id},
						{title: 'ORGKEY', value: ({orgKey}) => orgKey},
						{title: 'NAME', value: ({name}) => name, flexible: true},
						{title: 'PLAN', value: ({plan}) => plan},
						{title: 'STATUS', value: ({status}) => status},
					],
					options.search === undefined ? 'oplink orgs create --name NAME' : undefined,
				);
			},
		}),

		command({
			usage: 'create',
			summary: 'Create an organization',
			examples: ['create --name Acme', 'create --name Acme --contact-email ops@acme.example --plan GROWTH'],
			options: [
				nameOption().makeOptionMandatory(),
				emailOption(),
				new Option('--plan <plan>', 'plan to set, without checkout'),
			],
			run: async ({connection, options, show}: Context<Fields & {plan?: string}>) => {
				const {name, contactEmail, plan} = options;
				await show.fields(
					await connection.admin().post<Organization>('/admin/organizations', {name, contactEmail, plan}),
				);
			},
		}),

		command({
			usage: 'show <org>',
			summary: 'Show an organization and how much of its plan it uses',
			examples: ['show Ab12'],
			run: async ({connection, show}, org: string) => {
				const client = connection.admin();
				const organization = await client.get<Organization>(organizationPath(org));
				const usage = show.json ? {} : await client.get<Usage>(`${organizationPath(org)}/usage`);
				await show.fields(organization, (shown) => [...flattened(shown), ...usageFields(usage)]);
			},
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

		command({
			usage: 'suspend <org>',
			summary: 'Suspend an organization: its links answer 410, its keys 401',
			examples: ['suspend Ab12', 'suspend Ab12 --yes'],
			options: [yesOption()],
			run: async (context, org: string) => {
				const client = context.connection.admin();
				await requireConsent(context, async () => {
					const {title} = await named(client, org);
					return `Suspend ${title}: its links answer 410 and its keys 401 until it is activated?`;
				});
				await context.show.fields(await client.post<Organization>(`${organizationPath(org)}/suspend`));
			},
		}),

		command({
			usage: 'activate <org>',
			summary: 'Activate a suspended organization',
			examples: ['activate Ab12'],
			run: async ({connection, show}, org: string) =>
				show.fields(await connection.admin().post<Organization>(`${organizationPath(org)}/activate`)),
		}),

		command({
			usage: 'delete <org>',
			summary: 'Delete an organization with its links, keys and clicks',
			examples: ['delete Ab12', 'delete Ab12 --yes'],
			options: [yesOption()],
			run: async (context, org: string) => {
				const client = context.connection.admin();
				await requireConsent(context, () => deletionQuestion(client, org));
				await context.show.answer(await client.delete(organizationPath(org)), () => `Deleted organization ${org}`);
			},
		}),
	],
};
