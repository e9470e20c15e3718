import type {LogFn, Logger, LoggerOptions} from 'pino';
import type {Clock} from '../clock.ts';

/** pino's number for `warn`; those of `error` and `fatal` are higher. */
const WARN = 40;

/** How long lines like one that was written are held back. */
const MINUTE_MS = 60_000;

/** Most kinds of fault that are remembered. Beyond that the one that was written longest ago is forgotten. */
const MOST_KINDS = 500;
/** Most characters of a kind that are kept. */
const KIND_LENGTH = 1000;

/** Fields that belong to one request, and so do not tell one fault from another. */
const OF_ONE_REQUEST = new Set(['requestId', 'path', 'click']);

type Line = {fields: Readonly<Record<string, unknown>>; rest: unknown[]};

const isFields = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The arguments of a call as fields and what follows them. */
const lineOf = ([first, ...rest]: unknown[]): Line => {
	if (first instanceof Error) {
		return {fields: {err: first}, rest};
	}

	return isFields(first) ? {fields: first, rest} : {fields: {}, rest: [first, ...rest]};
};

/** An error by its class, its code and where it was made: its message may name what one request asked for. */
const errorKind = (error: Error): unknown[] => [
	error.name,
	(error as {code?: unknown}).code,
	/^ {4}at .*$/m.exec(error.stack ?? '')?.[0],
];

/** Two lines of one kind tell of one fault. An id of an organization or a payment makes another one: somebody needs each. */
const kindOf = (level: number, {fields, rest}: Line): string => {
	const known = Object.entries(fields).flatMap(([name, value]) => {
		if (value instanceof Error) {
			return [name, ...errorKind(value)];
		}

		return OF_ONE_REQUEST.has(name) ? [] : [name, isFields(value) ? null : String(value)];
	});
	return JSON.stringify([level, rest, known]).slice(0, KIND_LENGTH);
};

type Kind = {writtenAt: number; held: number; write: (repeated: number) => void};

/** What keeps a fault that lasts from filling the log. */
export type FaultSampler = {
	/** A hook of pino. */
	logMethod: NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;
	/** Writes what is held back. Call at a stop. */
	flush(): void;
};

/**
 * Writes the first warning or error of a kind at once. Those that follow within a minute are held back and become one
 * line: the last of them, whose `repeated` says how many lines it stands for, where it is more than itself. Other levels pass.
 */
export const createFaultSampler = (clock: Clock): FaultSampler => {
	/** By kind, the one that was written longest ago first. */
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
			// A clock that was set back makes nothing wait.
			if (age >= 0 && age < MINUTE_MS) {
				break;
			}

			kinds.delete(name);
			if (writeHeld(kind)) {
				kinds.set(name, {...kind, writtenAt: now});
			}
		}
	};

	/** A fault may have ended, so that no further line comes. */
	const writeLater = (): void => {
		timer ??= setTimeout(() => {
			timer = undefined;
			writeDue();
			if ([...kinds.values()].some(({held}) => held > 0)) {
				writeLater();
			}
		}, MINUTE_MS).unref();
	};

	const remember = (name: string, write: Kind['write']): void => {
		for (const [oldest, kind] of kinds) {
			if (kinds.size < MOST_KINDS) {
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
