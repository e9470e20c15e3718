import {createPendingRequests} from '../start/pending-requests.ts';
import {createKeeper, type Member} from './keeper.ts';
import {freeOf} from './limits.ts';
import {createWindows, type WindowOptions} from './windows.ts';
import {type Ask, CANNOT_DECIDE, type OfSupervisor, type OfWorker, together} from './worker-limiter.ts';

/** A worker that is silent this long hangs; it counts as having admitted all that it may. */
const SILENT_MS = 1000;

/** Keeps the windows of all workers, so that limits hold across them, and when one is replaced. */
export const createSupervisorWindows = (given: WindowOptions) => {
	const windows = createWindows(given);
	const keeper = createKeeper({...given, windows});

	const waitOf = async ({limit, subject = ''}: Ask): Promise<number> =>
		limit === undefined
			? windows.ping().then(
					() => 0,
					() => CANNOT_DECIDE,
				)
			: keeper.take(limit, subject);

	return {
		/** Serves a worker, which `send` sends messages to. */
		serve: (send: (message: OfSupervisor) => void) => {
			const closings = createPendingRequests<number>(SILENT_MS);
			const answer = together((answers: Array<{request: number; wait: number}>) => send({is: 'limits', answers}));

			const member: Member = {
				close: async (limit, subject) =>
					(await closings.ask((request) => send({is: 'limits', close: {request, limit, subject}}))) ??
					freeOf(limit, given.processes),
			};

			/** The worker is gone: no message comes any more. */
			const left = (): void => {
				keeper.leave(member);
				closings.end();
			};

			return {
				left,
				hear: ({state, asks = [], closed}: OfWorker): void => {
					if (state === 'joins') {
						keeper.join(member);
						send({is: 'limits', joined: true});
					} else if (state === 'leaves') {
						left();
					}

					for (const ask of asks) {
						void waitOf(ask).then((wait) => answer({request: ask.request, wait}));
					}

					if (closed !== undefined) {
						closings.resolve(closed.request, closed.admitted);
					}
				},
			};
		},
		close: () => windows.close(),
	};
};

export type SupervisorWindows = ReturnType<typeof createSupervisorWindows>;
