import {daysBefore} from '../../platform/config/policies.ts';
import type {Services} from '../../services.ts';
import {countGraded, findDoubtful} from '../../visits/matches/guess-grades.ts';
import {matchPolicy} from '../../visits/matches/match-policy.ts';
import {type Finding, findingsOf} from './finding.ts';

const {ok, warn} = findingsOf('Matches');

const DAYS = 30;
/** With fewer graded guesses, two wrong ones would already be too many. */
const MIN_COUNT = 200;

/** What is known without a doubtful organization: nothing is said about guesses that no token graded. */
const goodText = ({graded, judged}: {graded: number; judged: number}): string => {
	if (graded === 0) {
		return `no token proved or disproved a guess with high confidence in ${DAYS} days`;
	}

	return judged === 0
		? `of guesses with high confidence ${graded} were graded in ${DAYS} days; ${MIN_COUNT} of an organization are judged`
		: `guesses with high confidence are as often right as they say: ${judged} graded in ${DAYS} days`;
};

/** Checks whether guesses with `high` confidence were as often right as they say, where tokens proved it. */
export const checkGuesses = async ({db, clock}: Pick<Services, 'db' | 'clock'>): Promise<Finding[]> => {
	const share = matchPolicy.confidence.find(({level}) => level === 'high')?.from ?? 1;
	const since = daysBefore(clock.now(), DAYS);
	const doubtful = await findDoubtful(db, {since, least: MIN_COUNT, share});
	return doubtful.length === 0
		? [ok('matches.high', goodText(await countGraded(db, {since, least: MIN_COUNT})))]
		: doubtful.map(({orgKey, graded, correct}) =>
				warn(
					'matches.high',
					`${orgKey}: of ${graded} guesses with high confidence that a token proved in ${DAYS} days, ${correct} were right`,
					"Send the CLIENT key with POST /match, and accept 'exact' alone for what must not be wrong",
				),
			);
};
