import {createRequire} from 'node:module';
import {type DestinationStream, type Logger, pino} from 'pino';
import type {Config} from '../platform/config/config.ts';
import type {FaultSampler} from './fault-sampler.ts';

const require = createRequire(import.meta.url);

/** The format for terminals. Its package is loaded only if it is used. */
const prettyStream = () => (require('pino-pretty') as typeof import('pino-pretty'))({destination: 2, sync: true});

const standardError = (format: Config['logFormat']): DestinationStream =>
	format === 'pretty' ? prettyStream() : pino.destination({fd: 2, sync: true});

/**
 * Logs go to standard error: standard output is for a command's result. Secrets are redacted by name.
 * @param sampler suppresses repeated faults; without one every line is written.
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

/** Logs the warnings of Node and packages instead of printing them between log lines. */
export const logProcessWarnings = (log: Logger): void => {
	process.removeAllListeners('warning');
	process.on('warning', (warning) => log.warn({err: warning}, 'a warning of the process'));
};
