import {type Logger, pino} from 'pino';
import pretty from 'pino-pretty';
import type {Config} from './config.ts';

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
		logFormat === 'pretty' ? pretty({destination: 2, sync: true}) : pino.destination({fd: 2, sync: true}),
	);
