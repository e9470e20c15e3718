import {command} from '../command.ts';
import {nameOf} from '../server/chosen-server.ts';
import {flattened} from '../terminal/output.ts';

export const serveCommand = command({
	usage: 'serve',
	summary: 'Run the server until Ctrl-C or SIGTERM',
	examples: ['serve', 'serve --help'],
	run: async ({io}) => {
		const {serve} = await import('../../start/serve.ts');
		return serve(io.env as NodeJS.ProcessEnv);
	},
});

export const configCommand = command({
	usage: 'config',
	summary: 'List and check the environment variables',
	about: 'Secrets are masked.',
	examples: ['config', 'config --json'],
	run: async ({io, show}) => {
		const [{loadConfig}, {describeConfig}, {readSecrets}, {secretNames}] = await Promise.all([
			import('../../platform/config/config.ts'),
			import('../../platform/config/describe-config.ts'),
			import('../../platform/config/secrets.ts'),
			import('../../platform/config/variables.ts'),
		]);
		const secrets = readSecrets(io.env, secretNames);
		await show.answer(describeConfig(io.env, secrets, process.execArgv), (variables) =>
			show.table(
				[
					{title: 'VARIABLE', value: ({name}) => name},
					{
						title: 'VALUE',
						value: ({value, default: fallback, from}) =>
							value === null
								? fallback && `(${fallback})`
								: [value, ...(from === null ? [] : [`from ${from}`])].join(' '),
						flexible: true,
					},
					{title: 'MEANING', value: ({meaning}) => meaning, flexible: true, wide: true},
				],
				variables,
			),
		);
		if (!show.isWide && !show.json) {
			await show.note('oplink help environment says what each means');
		}

		for (const warning of loadConfig(io.env, {secrets}).warnings) {
			await show.note(`Warning: ${warning}`);
		}
	},
});

export const statusCommand = command({
	usage: 'status',
	summary: 'Show the status of the server',
	examples: ['status', 'status --url https://links.example.com --json'],
	run: async ({connection, show}) =>
		show.fields(await connection.admin().get<object>('/admin/status'), (status) => [
			['server', nameOf(connection.server())],
			...flattened(status),
		]),
});
