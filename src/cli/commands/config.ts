import {command} from '../command.ts';

export const configCommand = command({
	usage: 'config',
	summary: 'List the environment variables with their values, secrets masked, and check them',
	examples: ['config', 'config --json'],
	run: async ({io, show}) => {
		const {loadConfig} = await import('../../config/config.ts');
		const {describeConfig} = await import('../../config/variables.ts');
		await show.answer(describeConfig(io.env), (variables) =>
			show.table(
				[
					{title: 'VARIABLE', value: ({name}) => name},
					{
						title: 'VALUE',
						value: ({value, default: fallback}) => value ?? (fallback && `(${fallback})`),
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

		for (const warning of loadConfig(io.env).warnings) {
			await show.note(`Warning: ${warning}`);
		}
	},
});
