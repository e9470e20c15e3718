import {command} from '../command.ts';

export const serveCommand = command({
	usage: 'serve',
	summary: 'Run the server until Ctrl-C or SIGTERM',
	examples: ['serve', 'serve --help'],
	run: async ({io}) => {
		const {serve} = await import('../../start/serve.ts');
		return serve(io.env as NodeJS.ProcessEnv);
	},
});
