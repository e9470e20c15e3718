import {command} from '../command.ts';
import {loadServer} from '../server/load-server.ts';

export const serveCommand = command({
	usage: 'serve',
	summary: 'Run the server until Ctrl-C or SIGTERM',
	examples: ['serve', 'serve --help'],
	run: async ({io}) => {
		const {serve} = await loadServer();
		return serve(io.env as NodeJS.ProcessEnv);
	},
});
