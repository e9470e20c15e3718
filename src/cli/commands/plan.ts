import type {planPrices} from '../../accounts/billing/plan-for-sale.ts';
import {planNames} from '../advice.ts';
import {type CommandGroup, command} from '../command.ts';
import {resource} from '../resource.ts';
import type {Column} from '../terminal/output.ts';

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
	{title: 'OWN DOMAINS', value: ({features}) => features.custom_domains},
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
