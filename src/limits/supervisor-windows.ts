import {freeOf} from './free-admissions.ts';
import {createKeeper, type Member} from './keeper.ts';
import type {Limiter} from './limiter.ts';
import {limitNamed} from './limits.ts';
import {createWindows, type WindowsGiven} from './windows.ts';
import {type Ask, CANNOT_DECIDE, type OfSupervisor, type OfWorker} from './worker-limiter.ts';

/** A worker as its supervisor sees it. */
export type WorkerEnd = {
	send(message: OfSupervisor): void;
	onMessage(listener: (message: OfWorker) => void): void;
	/** Comes after the last message. */
	onEnd(listener: () => void): void;
};

/** A worker that does not answer for so long hangs; it counts as one that has admitted all that it may. */
const SILENT_MS = 1000;

/** Keeps the windows of all workers, so that limits hold across them, and whichever is replaced. */
export const createSupervisorWindows = (given: WindowsGiven) => {
	const windows: Limiter = createWindows(given);
	const keeper = createKeeper({...given, windows});

	const waitOf = ({limit, subject = ''}: Ask): Promise<number> | number =>
		limit === undefined
			? windows.ping().then(
					() => 0,
					() => CANNOT_DECIDE,
				)
			: keeper.take(limitNamed(limit), subject);

	/** Answers together what is decided in one turn of the event loop. */
	const createAnswers = ({send}: WorkerEnd) => {
		let answers: Array<{question: number; wait: number}> = [];
		return (question: number, wait: number): void => {
			if (answers.push({question, wait}) === 1) {
				setImmediate(() => {
					send({is: 'limits', answers});
					answers = [];
				});
			}
		};
	};

	return {
		serve: (worker: WorkerEnd): void => {
			const closing = new Map<number, (admitted: number | null) => void>();
			const answer = createAnswers(worker);
			let latest = 0;

			const member: Member = {
				close: async (limit, subject) => {
					latest += 1;
					const question = latest;
					const admitted = await new Promise<number | null>((resolve) => {
						const deadline = setTimeout(() => resolve(null), SILENT_MS);
						closing.set(question, (count) => {
							clearTimeout(deadline);
							resolve(count);
						});
						worker.send({is: 'limits', close: {question, limit: limit.name, subject}});
					});
					closing.delete(question);
					return admitted ?? freeOf(limit, given.processes);
				},
			};

			const leave = (): void => {
				keeper.leave(member);
				for (const resolve of closing.values()) {
					resolve(null);
				}
			};

			worker.onMessage(({state, asks = [], closed}) => {
				if (state === 'joins') {
					keeper.join(member);
					worker.send({is: 'limits', joined: true});
				} else if (state === 'leaves') {
					leave();
				}

				for (const ask of asks) {
					void Promise.resolve(waitOf(ask)).then((wait) => answer(ask.question, wait));
				}

				if (closed !== undefined) {
					closing.get(closed.question)?.(closed.admitted);
				}
			});
			worker.onEnd(leave);
		},
		close: () => windows.close(),
	};
};

export type SupervisorWindows = ReturnType<typeof createSupervisorWindows>;
