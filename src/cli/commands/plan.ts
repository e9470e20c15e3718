import {type CommandGroup, command} from '../command.ts';
import {planNames} from '../fitting-plan.ts';
import {organizationPath} from '../server/link-surface.ts';

export const planCommands: CommandGroup = {
	name: 'plan',
	summary: "Manage an organization's plan",
	commands: [
		command({
			usage: 'set <org> <plan>',
			summary: `Set a plan without checkout: ${planNames.join(' ')}, or none`,
			examples: ['set Ab12 GROWTH', 'set Ab12 none'],
			run: async ({connection, show}, org: string, plan: string) => {
				const body = {plan: plan.toLowerCase() === 'none' ? null : plan};
				await show.fields(await connection.admin().put<object>(`${organizationPath(org)}/plan`, body));
			},
		}),
	],
};
