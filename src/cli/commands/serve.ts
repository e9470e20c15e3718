import {command} from '../command.ts';

export const serveCommand = command({
	usage: 'serve',
	summary: 'Run the server until Ctrl-C or SIGTERM',
	examples: ['serve', 'serve --help'],
	run: async ({io}) => {
		// The server's modules are large, and no other command needs them.
		const {serve} = await import('../../serve.ts');
		return serve(io.env as NodeJS.ProcessEnv);
	},
});
