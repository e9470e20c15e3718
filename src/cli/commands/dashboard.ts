import {type Context, command} from '../command.ts';

export const dashboardCommand = command({
	usage: 'dashboard [org]',
	summary: 'Watch clicks, matches and events live, for one organization or all; without a terminal, print them once',
	examples: ['dashboard', 'dashboard Ab12 --json'],
	run: async (context: Context, named: string | undefined) => {
		// Loaded lazily: ink is needed only here.
		const {runDashboard} = await import('../dashboard/run-dashboard.tsx');
		return runDashboard(context, named);
	},
});
