import {createBatches} from '../../platform/db/batches.ts';
import type {Db} from '../../platform/db/db.ts';
import type {Metrics} from '../../platform/metrics/metrics.ts';
import {type GradedGuess, gradeAttempts} from './guess-grades.ts';
import type {FirstPhone, PhoneBook} from './phone-book.ts';

/** The work for a first open after its answer. */
export type FollowUp = {
	phone: FirstPhone;
	/** Makes the guess that is graded by a token; null if no token matched. Returns null if its click is gone. */
	guess: (() => Promise<GradedGuess | null>) | null;
};

/** Resolves when it is done; a crash before that loses it. */
type FollowUps = (item: FollowUp) => Promise<unknown>;

/** A pause that leaves the database to answers. */
const WAIT_MS = 25;
const MAX_TOGETHER = 500;
/** Beyond this backlog no guess is made, which takes longest: on a slow database the backlog would grow without bound. */
const MAX_WAITING = 1000;

/**
 * Counts the phones of first opens and grades guesses, for many answers with two writes. Guesses are made in order,
 * before their own phones are counted.
 */
export const createFollowUps = (
	{db, phoneBook, metrics}: {db: Db; phoneBook: PhoneBook; metrics: Metrics},
	waitMs = WAIT_MS,
): FollowUps => {
	const many = async (items: readonly FollowUp[]): Promise<readonly FollowUp[]> => {
		const grades: GradedGuess[] = [];
		const phones: FirstPhone[] = [];
		for (const {phone, guess} of items) {
			const graded = guess === null ? null : await guess();
			phones.push(graded === null ? phone : {...phone, neighbours: graded.neighbours});
			if (graded !== null) {
				grades.push(graded);
			}
		}

		await phoneBook.note(phones);
		await gradeAttempts(db, grades);
		for (const {organizationId, silentGuess, isCorrect} of grades) {
			if (silentGuess !== null) {
				metrics.guess(organizationId, silentGuess.confidence, isCorrect);
			}
		}

		return items;
	};
	const add = createBatches<FollowUp, unknown>({waitMs, max: MAX_TOGETHER, many, one: (item) => many([item])});
	let waiting = 0;
	return async (item) => {
		waiting += 1;
		try {
			return await add(waiting > MAX_WAITING ? {...item, guess: null} : item);
		} finally {
			waiting -= 1;
		}
	};
};
