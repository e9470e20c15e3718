import type {LogFn, Logger, LoggerOptions} from 'pino';
import {type Clock, MINUTE_MS} from '../platform/clock.ts';

/** pino's number for `warn`; `error` and `fatal` are higher. */
const WARN = 40;

/** How long repeated lines are suppressed. */
const SUPPRESSED_MS = MINUTE_MS;

/** Most kinds of fault that are tracked. Beyond that the least recently logged one is evicted. */
const MAX_KINDS = 500;
/** Longest key of a kind, in characters. */
const KIND_LENGTH = 1000;

/** Fields of single requests, which do not distinguish faults. */
const PER_REQUEST_FIELDS = new Set(['requestId', 'path', 'click']);

type Line = {fields: Readonly<Record<string, unknown>>; rest: unknown[]};

const isFields = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The arguments of a call as fields and what follows them. */
const lineOf = ([first, ...rest]: unknown[]): Line => {
	if (first instanceof Error) {
		return {fields: {err: first}, rest};
	}

	return isFields(first) ? {fields: first, rest} : {fields: {}, rest: [first, ...rest]};
};

/** An error by its class, its code and its origin, because its message may contain data of one request. */
const errorKind = (error: Error): unknown[] => [
	error.name,
	(error as {code?: unknown}).code,
	/^ {4}at .*$/m.exec(error.stack ?? '')?.[0],
];

/**
 * Lines of one kind describe the same fault. An id of an organization or a payment makes another kind, because each
 * needs attention.
 */
const kindOf = (level: number, {fields, rest}: Line): string => {
	const known = Object.entries(fields).flatMap(([name, value]) => {
		if (value instanceof Error) {
			return [name, ...errorKind(value)];
		}

		return PER_REQUEST_FIELDS.has(name) ? [] : [name, isFields(value) ? null : String(value)];
	});
	return JSON.stringify([level, rest, known]).slice(0, KIND_LENGTH);
};

type Kind = {writtenAt: number; held: number; write: (repeated: number) => void};

/** Keeps a lasting fault from filling the log. */
export type FaultSampler = {
	/** A hook of pino. */
	logMethod: NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;
	/** Writes suppressed lines. Call it at a stop. */
	flush(): void;
};

/**
 * Writes the first warning or error of a kind at once. Those of the next minute are merged into one line: the last of
 * them, with `repeated` as their number if above one. Other levels pass.
 */
export const createFaultSampler = (clock: Clock): FaultSampler => {
	/** By kind, least recently logged first. */
	const kinds = new Map<string, Kind>();
	let timer: NodeJS.Timeout | undefined;

	const writeHeld = (kind: Kind): boolean => {
		const {held, write} = kind;
		if (held > 0) {
			kind.held = 0;
			write(held);
		}

		return held > 0;
	};

	const writeDue = (): void => {
		const now = clock.now().getTime();
		for (const [name, kind] of kinds) {
			const age = now - kind.writtenAt;
			// If the clock was set back, nothing waits.
			if (age >= 0 && age < SUPPRESSED_MS) {
				break;
			}

			kinds.delete(name);
			if (writeHeld(kind)) {
				kinds.set(name, {...kind, writtenAt: now});
			}
		}
	};

	/** The fault may have ended, so that no further line follows. */
	const writeLater = (): void => {
		timer ??= setTimeout(() => {
			timer = undefined;
			writeDue();
			if ([...kinds.values()].some(({held}) => held > 0)) {
				writeLater();
			}
		}, SUPPRESSED_MS).unref();
	};

	const remember = (name: string, write: Kind['write']): void => {
		for (const [oldest, kind] of kinds) {
			if (kinds.size < MAX_KINDS) {
				break;
			}

			kinds.delete(oldest);
			writeHeld(kind);
		}

		kinds.set(name, {writtenAt: clock.now().getTime(), held: 0, write});
	};

	return {
		logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
			if (level < WARN) {
				method.apply(this, args);
				return;
			}

			const line = lineOf(args);
			const name = kindOf(level, line);
			const write = (repeated: number): void =>
				(method as (...all: unknown[]) => void).call(
					this,
					{...line.fields, ...(repeated > 1 ? {repeated} : {})},
					...line.rest,
				);
			const kind = kinds.get(name);
			if (kind === undefined) {
				remember(name, write);
				method.apply(this, args);
			} else {
				kind.held += 1;
				kind.write = write;
				writeLater();
			}

			writeDue();
		},
		flush: () => {
			clearTimeout(timer);
			timer = undefined;
			for (const kind of kinds.values()) {
				writeHeld(kind);
			}
		},
	};
};
