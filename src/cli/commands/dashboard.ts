import {Option} from 'commander';
import {command} from '../command.ts';

export const dashboardCommand = command({
	usage: 'dashboard [org]',
	summary: 'Watch clicks, matches and events live',
	about: 'Without a terminal, prints them once.',
	examples: ['dashboard', 'dashboard --org Ab12 --json'],
	options: [new Option('--org <org>', 'id or orgKey of an organization (default: all)')],
	run: async (context) => {
		// Loaded lazily: ink is needed only here.
		const {runDashboard} = await import('../dashboard/run-dashboard.tsx');
		return runDashboard(context, context.options.org);
	},
});
