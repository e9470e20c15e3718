import {createRequire} from 'node:module';
import {type DestinationStream, type LogFn, type Logger, pino} from 'pino';
import {type Clock, MINUTE_MS} from '../platform/clock.ts';
import type {Config} from '../platform/config/config.ts';
import {Loop} from '../platform/loop.ts';

/** pino's number for `warn`; `error` and `fatal` are higher. */
const WARN = 40;

/** Maximum kinds of fault that are tracked; beyond that the least recently logged one is evicted. */
const MAX_KINDS = 500;
const MAX_KEY = 1000;

/** Fields of single requests, which do not distinguish faults. */
const PER_REQUEST_FIELDS = new Set(['requestId', 'path', 'click']);

type Fields = Readonly<Record<string, unknown>>;
/** `write` writes the last suppressed line. */
type Kind = {writtenAt: number; suppressed: number; write: () => void};

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/**
 * Lines of one kind describe the same fault. An error counts by its class, code and origin, because its message may contain
 * data of one request. An id of an organization or a payment makes another kind, because each needs attention.
 */
const keyOf = (level: number, fields: Fields, rest: unknown[]): string => {
	const parts = Object.entries(fields).map(([name, value]) =>
		value instanceof Error
			? [name, value.name, (value as {code?: unknown}).code, /^ {4}at .*$/m.exec(value.stack ?? '')?.[0]]
			: PER_REQUEST_FIELDS.has(name) || [name, isFields(value) ? null : String(value)],
	);
	return JSON.stringify([level, rest, parts]).slice(0, MAX_KEY);
};

/**
 * Keeps a lasting fault from filling the log: writes the first warning or error of a kind at once, and those of the next
 * minute as one line, the last of them, with `repeated` as their number if above one. Other levels pass.
 */
export const createFaultSampler = (clock: Clock) => {
	/** The longest tracked first. */
	const kinds = new Map<string, Kind>();

	/** Forgets a kind, and writes its suppressed lines as one. */
	const end = (key: string, {suppressed, write}: Kind): void => {
		kinds.delete(key);
		if (suppressed > 0) {
			write();
		}
	};

	/** Writes the last lines of the minutes that are over. A fault that lasts begins another one. */
	const endDue = (): void => {
		const now = clock.now().getTime();
		for (const [key, kind] of kinds) {
			// After a clock that was set back, all are due.
			if (now >= kind.writtenAt && now - kind.writtenAt < MINUTE_MS) {
				break;
			}

			end(key, kind);
			if (kind.suppressed > 0) {
				kinds.set(key, {...kind, suppressed: 0, writtenAt: now});
			}
		}
	};

	const writing = new Loop(async () => {
		endDue();
		return kinds.size > 0 ? MINUTE_MS : null;
	});

	return {
		/** A hook of pino. */
		logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
			if (level < WARN) {
				method.apply(this, args);
				return;
			}

			const [first]: unknown[] = args;
			const fields = first instanceof Error ? {err: first} : isFields(first) ? first : {};
			const rest: unknown[] = isFields(first) ? args.slice(1) : args;
			const key = keyOf(level, fields, rest);
			const kind = kinds.get(key);
			if (kind === undefined) {
				const [oldest] = kinds;
				if (oldest !== undefined && kinds.size >= MAX_KINDS) {
					end(...oldest);
				}

				kinds.set(key, {writtenAt: clock.now().getTime(), suppressed: 0, write: () => {}});
				method.apply(this, args);
			} else {
				kind.suppressed += 1;
				const repeated = kind.suppressed > 1 ? {repeated: kind.suppressed} : {};
				kind.write = () => (method as (...all: unknown[]) => void).call(this, {...fields, ...repeated}, ...rest);
			}

			endDue();
			writing.wake(MINUTE_MS);
		},
		/** Writes suppressed lines. Call it at a stop. */
		flush: () => {
			void writing.stop();
			for (const kind of kinds) {
				end(...kind);
			}
		},
	};
};

type FaultSampler = ReturnType<typeof createFaultSampler>;

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
