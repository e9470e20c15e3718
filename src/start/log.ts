import {createRequire} from 'node:module';
import {type Logger, pino} from 'pino';
import type {Config} from '../config/config.ts';

const require = createRequire(import.meta.url);

/** What writes lines for people. The package is loaded where they are asked for alone. */
const prettyStream = () => (require('pino-pretty') as typeof import('pino-pretty'))({destination: 2, sync: true});

/** Logs go to standard error: standard output is for what a command was asked for. Secrets are cut by name. */
export const createLog = ({logLevel, logFormat}: Pick<Config, 'logLevel' | 'logFormat'>): Logger =>
	pino(
		{
			level: logLevel,
			base: null,
			formatters: {level: (level) => ({level})},
			timestamp: pino.stdTimeFunctions.isoTime,
			redact: {
				paths: [
					'*.authorization',
					'*.headers.authorization',
					'*.password',
					'*.connectionString',
					'err.config',
					'err.bindings',
				],
				remove: true,
			},
		},
		logFormat === 'pretty' ? prettyStream() : pino.destination({fd: 2, sync: true}),
	);

/** Has what Node and packages warn of logged as everything else is, instead of printed between the lines. */
export const logProcessWarnings = (log: Logger): void => {
	process.removeAllListeners('warning');
	process.on('warning', (warning) => log.warn({err: warning}, 'a warning of the process'));
};
