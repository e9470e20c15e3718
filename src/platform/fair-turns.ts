import type {Clock} from './clock.ts';
import {callerGone, noTurn} from './errors.ts';

/** The organization of a caller, and the signal of its disconnection. */
export type ForCaller = {organizationId: string; hungUp: AbortSignal};

/** Bounds of waiting: the time of a caller, and the callers of an organization. */
const MAX_WAIT_MS = 10_000;
const MAX_WAITING = 100;
const CHECK_MS = 1000;

/**
 * Turns for work that takes a connection of the database for long: a few at once, and one of an organization, which
 * therefore cannot take them all. A caller that hangs up leaves the queue; one that waits for too long is refused.
 */
export const createFairTurns = ({atOnce, clock}: {atOnce: number; clock: Clock}) => {
	const running = new Set<string>();
	const waiting = new Map<object, {organizationId: string; begin: () => void}>();

	const waitingOf = (organizationId: string): number =>
		[...waiting.values()].filter((one) => one.organizationId === organizationId).length;

	const beginNext = (): void => {
		for (const [key, {organizationId, begin}] of waiting) {
			if (running.size < atOnce && !running.has(organizationId)) {
				waiting.delete(key);
				running.add(organizationId);
				begin();
			}
		}
	};

	/** Waits for a turn. @returns a function that ends it. @throws 503 if others take too long. */
	const take = async ({organizationId, hungUp}: ForCaller): Promise<() => void> => {
		const key = {};
		let leave = (): void => {};
		const begun = new Promise<void>((resolve, reject) => {
			const since = clock.now().getTime();
			const refuse = (error: Error): void => {
				waiting.delete(key);
				reject(error);
			};
			const gone = (): void => refuse(callerGone());
			const late = setInterval(() => {
				if (clock.now().getTime() - since >= MAX_WAIT_MS) {
					refuse(noTurn());
				}
			}, CHECK_MS).unref();
			leave = () => {
				clearInterval(late);
				hungUp.removeEventListener('abort', gone);
			};
			if (hungUp.aborted || waitingOf(organizationId) >= MAX_WAITING) {
				reject(hungUp.aborted ? callerGone() : noTurn());
				return;
			}

			hungUp.addEventListener('abort', gone, {once: true});
			waiting.set(key, {organizationId, begin: resolve});
		});
		beginNext();
		await begun.finally(leave);
		return () => {
			running.delete(organizationId);
			beginNext();
		};
	};

	return {
		/** How many callers of an organization wait. */
		waiting: waitingOf,
		take,
		/** Runs work in a turn. @throws 503 if others take too long. */
		run: async <T>(caller: ForCaller, work: () => Promise<T>): Promise<T> => {
			const end = await take(caller);
			try {
				return await work();
			} finally {
				end();
			}
		},
	};
};
