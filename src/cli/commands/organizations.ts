import {Option} from 'commander';
import type {planPrices} from '../../accounts/billing/plan-for-sale.ts';
import type {organizationJson} from '../../accounts/organizations/organization-store.ts';
import type {Usage} from '../../links/usage/organization-routes.ts';
import {counted} from '../../platform/text.ts';
import {planNames} from '../advice.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {pageOptions} from '../common-options.ts';
import {requireChanges, resource} from '../resource.ts';
import type {ApiClient, Json} from '../server/admin-client.ts';
import {organizationPath} from '../server/link-surface.ts';
import type {Page} from '../server/list-pages.ts';
import {readProfiles, saveProfiles} from '../server/profiles.ts';
import {type Column, flattened} from '../terminal/output.ts';
import type {KeyCards} from './credentials.ts';

type ListedPlan = ReturnType<typeof planPrices>[number];

const limitText = (limit: number | null): string => (limit === null ? 'unlimited' : limit.toLocaleString('en'));

const planColumns: Array<Column<ListedPlan>> = [
	{title: 'PLAN', value: ({plan}) => plan},
	...(['links', 'clicks', 'members', 'domains'] as const).map(
		(quota): Column<ListedPlan> => ({
			title: quota.toUpperCase(),
			value: ({quotas}) => limitText(quotas[quota]),
			align: 'right',
		}),
	),
	{title: 'KEYS', value: ({features}) => features.api_access},
	{title: 'CUSTOM DOMAINS', value: ({features}) => features.custom_domains},
];

export const planCommands: CommandGroup = {
	name: 'plan',
	summary: 'List plans and set the plan of an organization',
	commands: [
		command({
			usage: 'list',
			summary: 'List plans and their limits',
			examples: ['list', 'list --json'],
			run: async ({connection, show}) =>
				show.answer(await connection.admin().get<ListedPlan[]>('/portal/billing/pricing'), (plans) =>
					show.table(planColumns, plans),
				),
		}),
		resource({path: 'plan'}).request({
			usage: 'set [org] <plan>',
			route: 'PUT',
			summary: 'Set a plan without checkout',
			about: `PLAN is ${planNames.join(', ')} or none.`,
			examples: ['set GROWTH', 'set none --org Ab12'],
			body: (_, plan) => ({plan: plan.toLowerCase() === 'none' ? null : plan}),
		}),
	],
};

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

const readOrganization = async (client: ApiClient, org: string): Promise<Organization & {title: string}> => {
	const organization = await client.get<Organization>(organizationPath(org));
	return {...organization, title: `${organization.name} (${organization.orgKey})`};
};

const deletionQuestion = async (client: ApiClient, org: string): Promise<string> => {
	const {title, createdAt} = await readOrganization(client, org);
	const [links, {sdkKey, serverKey, earlier}, stats] = await Promise.all([
		client.get<Page<unknown>>(`${organizationPath(org)}/links`, {limit: 1}),
		client.get<KeyCards>(`${organizationPath(org)}/api-keys`),
		client.get<{totals: {clicks: number}}>(`${organizationPath(org)}/stats`, {from: createdAt, interval: 'month'}),
	]);
	const keys = [sdkKey, serverKey, ...earlier].filter((key) => key !== null);
	return `Delete ${title}: ${counted(links.total, 'link')}, ${counted(keys.length, 'key')}, ${counted(stats.totals.clicks, 'click')}?`;
};

const organizations = resource<Organization>({path: 'organizations', ofServer: true});

export const organizationCommands: CommandGroup = {
	name: 'orgs',
	summary: 'Manage organizations',
	commands: [
		organizations.list({
			summary: 'List organizations, newest first',
			examples: ['list', 'list --search acme --json'],
			options: [
				...pageOptions(),
				new Option('--search <text>', 'only organizations whose name or orgKey contains this'),
			],
			query: ({search}: {search?: string}) => ({q: search}),
			columns: [
				{title: 'ID', value: ({id}) => id},
				{title: 'ORGKEY', value: ({orgKey}) => orgKey},
				{title: 'NAME', value: ({name}) => name, flexible: true},
				{title: 'PLAN', value: ({plan}) => plan},
				{title: 'STATUS', value: ({status}) => status},
			],
			empty: (isFiltered) => (isFiltered ? undefined : 'oplink orgs create --name NAME'),
		}),
		organizations.request({
			usage: 'create',
			route: 'POST',
			summary: 'Create an organization',
			examples: ['create --name Acme', 'create --name Acme --contact-email ops@acme.example --plan GROWTH'],
			options: [
				nameOption().makeOptionMandatory(),
				emailOption(),
				new Option('--plan <plan>', 'plan of the organization, set without checkout'),
			],
			body: ({name, contactEmail, plan}: Fields & {plan?: string}) => ({name, contactEmail, plan}),
		}),
		command({
			usage: 'use [org]',
			summary: 'Set the default organization',
			about: 'Without ORG, shows it.',
			examples: ['use Ab12', 'use --clear'],
			options: [new Option('--clear', 'clear the default')],
			run: async ({io, connection, options, show}: Context<{clear?: boolean}>) => {
				const {baseUrl} = connection.server();
				const saved = readProfiles(io.env);
				const {[baseUrl]: current = null, ...others} = saved.organizations;
				if (options.org === undefined && !options.clear) {
					await show.answer({url: baseUrl, organization: connection.organization()}, ({organization}) =>
						organization === null ? `None is chosen on ${baseUrl}` : `${organization} on ${baseUrl}`,
					);
					return;
				}

				const chosen = options.org === undefined ? null : await readOrganization(connection.admin(), options.org);
				const organizations = chosen === null ? others : {...others, [baseUrl]: chosen.orgKey};
				await saveProfiles(io.env, {...saved, organizations});
				await show.answer({url: baseUrl, organization: chosen?.orgKey ?? null}, () =>
					chosen === null
						? `No organization is chosen on ${baseUrl} any more${current === null ? '' : `; it was ${current}`}`
						: `Commands on ${baseUrl} that name no organization use ${chosen.title}`,
				);
			},
		}),
		command({
			usage: 'show <org>',
			summary: 'Show an organization and its usage',
			examples: ['show Ab12'],
			run: async ({connection, show}, org: string) => {
				const client = connection.admin();
				const organization = await client.get<Organization>(organizationPath(org));
				const usage = show.json ? {} : await client.get<Usage>(`${organizationPath(org)}/usage`);
				await show.fields(organization, (shown) => [...flattened(shown), ...usageFields(usage)]);
			},
		}),
		organizations.request({
			usage: 'update <org>',
			route: 'PATCH :row',
			summary: 'Change the name or contact of an organization',
			examples: ['update Ab12 --name "Acme Ltd"', 'update Ab12 --contact-email ""'],
			options: [nameOption(), emailOption()],
			body: ({name, contactEmail}: Fields) =>
				requireChanges(
					{name, contactEmail: contactEmail === '' ? null : contactEmail},
					'Give --name or --contact-email',
				),
		}),
		organizations.request({
			usage: 'suspend <org>',
			route: 'POST :row/suspend',
			summary: 'Suspend an organization',
			about: 'Its links then answer 410 and its keys 401.',
			examples: ['suspend Ab12', 'suspend Ab12 --yes'],
			question: async (org, place) => {
				const {title} = await readOrganization((await place()).client, org);
				return `Suspend ${title}: its links answer 410 and its keys 401 until it is activated?`;
			},
		}),
		organizations.request({
			usage: 'activate <org>',
			route: 'POST :row/activate',
			summary: 'Activate a suspended organization',
			examples: ['activate Ab12'],
		}),
		organizations.request({
			usage: 'delete <org>',
			route: 'DELETE :row',
			summary: 'Delete an organization with its links, keys and clicks',
			examples: ['delete Ab12', 'delete Ab12 --yes'],
			question: async (org, place) => deletionQuestion((await place()).client, org),
			text: (_, org) => `Deleted organization ${org}`,
		}),
	],
};
