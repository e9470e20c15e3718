import {command} from '../command.ts';

export const statusCommand = command({
	usage: 'status',
	summary: 'Show the status of the server',
	examples: ['status', 'status --url https://links.example.com --json'],
	run: async ({connection, show}) => show.fields(await connection.admin().get<object>('/admin/status')),
});
