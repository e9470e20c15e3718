import {type Db, onlyRow} from '../../platform/db/db.ts';
import {execute, prepared, run, sql} from '../../platform/db/sql.ts';
import type {MatchAttempt, SilentGuess} from './match-attempt-store.ts';
import type {GuessConfidence} from './match-policy.ts';
import type {Neighbours} from './phone-comparison.ts';

/** The number of guesses of a confidence beside a token, and of those on the link that the token proved. */
type GuessGrade = {confidence: GuessConfidence; graded: number; correct: number};

/** A guess that was made beside a match by token. */
export type GradedGuess = Pick<MatchAttempt, 'id' | 'deviceId' | 'at' | 'signals' | 'candidates' | 'nobody'> & {
	organizationId: string;
	silentGuess: SilentGuess | null;
	isCorrect: boolean;
	neighbours: Neighbours;
};

// If a device was erased meanwhile, its attempt no longer names it and stays unchanged. Grades are written in order, so two
// processes cannot deadlock. The organization is locked first, as by its removal.
const grade = (rows: string) =>
	prepared(
		'grade guesses',
		sql`WITH attempt AS (
			UPDATE match_attempts AS known SET signals = made.signals, candidates = made.candidates, nobody = made.nobody,
				silent_guess = made.silent_guess
			FROM json_to_recordset(${rows}) AS made (id uuid, organization_id uuid, device_id text, signals json, candidates json,
				nobody json, silent_guess json, day date, confidence text, correct integer)
			CROSS JOIN LATERAL (SELECT id FROM organizations WHERE id = made.organization_id FOR KEY SHARE) AS owner
			WHERE known.id = made.id AND known.organization_id = owner.id
				AND known.device_id IS NOT DISTINCT FROM made.device_id
			RETURNING made.organization_id, made.day, made.confidence, made.correct
		)
		INSERT INTO guess_grades AS known (organization_id, day, confidence, graded, correct)
		SELECT organization_id, day, confidence, count(*), sum(correct) FROM attempt WHERE confidence IS NOT NULL
		GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
		ON CONFLICT (organization_id, day, confidence)
		DO UPDATE SET graded = known.graded + excluded.graded, correct = known.correct + excluded.correct`,
	);

/** Stores the guess beside each attempt, and counts the correct ones. */
export const gradeAttempts = async (db: Db, grades: readonly GradedGuess[]): Promise<void> => {
	if (grades.length === 0) {
		return;
	}

	const rows = grades.map(({organizationId, deviceId, at, silentGuess, isCorrect, neighbours: _, ...attempt}) => ({
		...attempt,
		organization_id: organizationId,
		device_id: deviceId,
		silent_guess: silentGuess,
		day: at.toISOString().slice(0, 10),
		confidence: silentGuess?.confidence ?? null,
		correct: Number(isCorrect),
	}));
	await execute(db, grade(JSON.stringify(rows)));
};

/** The grades of an organization by confidence, best first, of the days (UTC) that a time span touches. */
export const readGrades = async (
	db: Db,
	organizationId: string,
	{from, to}: {from: Date; to: Date},
): Promise<GuessGrade[]> => {
	const rows = await run<GuessGrade>(
		db,
		sql`SELECT confidence, sum(graded)::integer AS graded, sum(correct)::integer AS correct FROM guess_grades
		WHERE organization_id = ${organizationId} AND day BETWEEN ${from} AND ${to} GROUP BY confidence`,
	);
	const order: GuessConfidence[] = ['high', 'medium', 'low'];
	return order.flatMap((confidence) => rows.filter((row) => row.confidence === confidence));
};

/** How many guesses with high confidence were graded, and how many of them in organizations with `least` or more. */
export const countGraded = async (
	db: Db,
	{since, least}: {since: Date; least: number},
): Promise<{graded: number; judged: number}> => {
	const rows = await run<{graded: number; judged: number}>(
		db,
		sql`SELECT coalesce(sum(graded), 0)::integer AS graded,
			coalesce(sum(graded) FILTER (WHERE graded >= ${least}), 0)::integer AS judged
		FROM (
			SELECT sum(graded) AS graded FROM guess_grades WHERE day >= ${since} AND confidence = 'high' GROUP BY organization_id
		) AS sums`,
	);
	return onlyRow(rows);
};

/** Organizations with enough graded guesses whose share of correct `high` guesses is below a bound; the worst first. */
export const findDoubtful = async (
	db: Db,
	{since, least, share}: {since: Date; least: number; share: number},
): Promise<Array<{orgKey: string; graded: number; correct: number}>> =>
	run(
		db,
		sql`SELECT org_key AS "orgKey", sum(graded)::integer AS graded, sum(correct)::integer AS correct
		FROM guess_grades JOIN organizations ON organizations.id = organization_id
		WHERE day >= ${since} AND confidence = 'high'
		GROUP BY org_key HAVING sum(graded) >= ${least} AND sum(correct) < ${share}::numeric * sum(graded)
		ORDER BY sum(correct) / sum(graded), org_key LIMIT 10`,
	);
