import {isContender, type Weighed} from './candidate.ts';
import type {MatchPolicy} from './match-policy.ts';

/** No signal that both sides tell differs so much that it takes points away. */
const isNotSpokenAgainst = ({points: {osVersion, timezone, language}}: Weighed): boolean =>
	[osVersion, timezone, language].every((points) => points >= 0);

const secondsSince = ({candidate}: Weighed, now: Date): number =>
	(now.getTime() - candidate.clickedAt.getTime()) / 1000;

/**
 * Whether a guess that is likely enough for `high` may be called so: its click is fresh, nothing newer from the address
 * could be the true one as well, and it tells enough of its phone for the company that it is in. The rules lower the
 * confidence only: what matches, and by which method, is the same without them.
 * @param weighed every click that was looked at.
 */
export const isSureEnoughForHigh = (
	winner: Weighed,
	weighed: Weighed[],
	now: Date,
	{high, crowd}: Pick<MatchPolicy, 'high' | 'crowd'>,
): boolean => {
	const {clickedAt, linkId, organizationId} = winner.candidate;
	const atAddress = weighed.filter(({candidate}) => candidate.nearness === 'ip' && !candidate.isConsumed);
	const newerRivals = atAddress.filter(
		(one) =>
			isContender(one) &&
			isNotSpokenAgainst(one) &&
			one.candidate.linkId !== linkId &&
			one.candidate.clickedAt > clickedAt,
	);
	// What other organizations' visitors may install are other apps.
	const company = atAddress.filter(
		(one) => one.candidate.organizationId === organizationId && secondsSince(one, now) <= crowd.withinSeconds,
	);
	return (
		secondsSince(winner, now) <= high.withinSeconds &&
		newerRivals.length <= high.newerRivals &&
		(company.length <= high.company.clicks || winner.score >= high.company.from)
	);
};
