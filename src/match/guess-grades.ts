import type {Db} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import type {MatchAttempt, SilentGuess} from './match-attempt-store.ts';
import type {GuessConfidence} from './match-policy.ts';

/** How many guesses of a confidence were made beside a token, and how many chose the link that it proved. */
export type GuessGrade = {confidence: GuessConfidence; graded: number; correct: number};

type Graded = Pick<MatchAttempt, 'id' | 'deviceId' | 'at' | 'signals' | 'candidates' | 'nobody'> & {
	organizationId: string;
	silentGuess: SilentGuess | null;
	isCorrect: boolean;
};

// A device that was erased meanwhile is not named by its attempt any more, which then stays as it is.
const grade: Prepared = {
	name: 'grade a guess',
	text: `WITH attempt AS (
			UPDATE match_attempts SET signals = $3, candidates = $4, nobody = $5, silent_guess = $6
			WHERE id = $1 AND organization_id = $2 AND device_id IS NOT DISTINCT FROM $7
			RETURNING 1
		)
		INSERT INTO guess_grades AS known (organization_id, day, confidence, graded, correct)
		SELECT CAST($2 AS uuid), $8, $9, 1, $10 FROM attempt WHERE CAST($9 AS text) IS NOT NULL
		ON CONFLICT (organization_id, day, confidence)
		DO UPDATE SET graded = known.graded + 1, correct = known.correct + excluded.correct`,
};

/** Keeps what a guess would have answered with the attempt, and counts whether it is right. */
export const gradeAttempt = async (db: Db, graded: Graded): Promise<void> => {
	const {id, organizationId, deviceId, at, signals, candidates, nobody, silentGuess, isCorrect} = graded;
	await runPrepared(db, grade, [
		id,
		organizationId,
		...[signals, candidates, nobody, silentGuess].map((value) => (value === null ? null : JSON.stringify(value))),
		deviceId,
		at.toISOString().slice(0, 10),
		silentGuess?.confidence ?? null,
		Number(isCorrect),
	]);
};

/** The grades of an organization by confidence, the surest first, of the days (UTC) that a time span touches. */
export const readGrades = async (
	db: Db,
	organizationId: string,
	{from, to}: {from: Date; to: Date},
): Promise<GuessGrade[]> => {
	const rows = await db('guess_grades')
		.where({organization_id: organizationId})
		.whereBetween('day', [from, to])
		.groupBy('confidence')
		.select('confidence')
		.select(db.raw('CAST(sum(graded) AS integer) AS graded, CAST(sum(correct) AS integer) AS correct'));
	const order: GuessConfidence[] = ['high', 'medium', 'low'];
	return order.flatMap((confidence) => (rows as GuessGrade[]).filter((row) => row.confidence === confidence));
};

/** Organizations whose `high` guesses are less often right than that, of those with so many graded; the worst first. */
export const findDoubtful = async (
	db: Db,
	{since, least, share}: {since: Date; least: number; share: number},
): Promise<Array<{orgKey: string; graded: number; correct: number}>> => {
	const {rows} = await db.raw(
		`SELECT org_key AS "orgKey", CAST(sum(graded) AS integer) AS graded, CAST(sum(correct) AS integer) AS correct
		FROM guess_grades JOIN organizations ON organizations.id = organization_id
		WHERE day >= ? AND confidence = 'high'
		GROUP BY org_key HAVING sum(graded) >= ? AND sum(correct) < CAST(? AS numeric) * sum(graded)
		ORDER BY sum(correct) / sum(graded), org_key LIMIT 10`,
		[since, least, share],
	);
	return rows;
};
