import {createRequire} from 'node:module';
import {type DestinationStream, type Logger, pino} from 'pino';
import type {Config} from '../config/config.ts';
import type {FaultSampler} from './fault-sampler.ts';

const require = createRequire(import.meta.url);

/** What writes lines for people. The package is loaded where they are asked for alone. */
const prettyStream = () => (require('pino-pretty') as typeof import('pino-pretty'))({destination: 2, sync: true});

const standardError = (format: Config['logFormat']): DestinationStream =>
	format === 'pretty' ? prettyStream() : pino.destination({fd: 2, sync: true});

/**
 * Logs go to standard error: standard output is for what a command was asked for. Secrets are cut by name.
 * @param sampler keeps a fault that lasts from filling the log; without one every line is written.
 */
export const createLog = (
	{logLevel, logFormat}: Pick<Config, 'logLevel' | 'logFormat'>,
	sampler?: FaultSampler,
	destination = standardError(logFormat),
): Logger =>
	pino(
		{
			level: logLevel,
			hooks: sampler === undefined ? {} : {logMethod: sampler.logMethod},
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
		destination,
	);

/** Has what Node and packages warn of logged as everything else is, instead of printed between the lines. */
export const logProcessWarnings = (log: Logger): void => {
	process.removeAllListeners('warning');
	process.on('warning', (warning) => log.warn({err: warning}, 'a warning of the process'));
};
