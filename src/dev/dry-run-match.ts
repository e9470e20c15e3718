import {randomUUID} from 'node:crypto';
import {dryRun, type RunDeps} from '../match/dry-run.ts';
import {findMatch, type MatchAnswer} from '../match/find-match.ts';
import {findAttempt, type MatchAttempt} from '../match/match-attempt-store.ts';
import type {MatchFields} from '../match/match-request.ts';
import {organizationOfKey} from '../match/organization-of-key.ts';

/**
 * The answer that `/match` would give, and why. The attempt has no id, because it is not stored. It is null if an
 * earlier answer would be repeated to the device, which is not a new attempt.
 */
type DryRunMatch = MatchAnswer & {attempt: Omit<MatchAttempt, 'id'> | null};

/**
 * A dry run of POST /match: consumes no click, records no attempt and registers no device.
 * @param sent the body, its address, and the `X-API-Key` header.
 */
export const dryRunMatch = (
	services: RunDeps,
	sent: {fields: MatchFields; ip: string; rawKey: string | string[] | undefined},
): Promise<DryRunMatch> =>
	dryRun(services, async (dry) => {
		const {fields, ip} = sent;
		const attemptId = randomUUID();
		const organization = await organizationOfKey(dry, sent.rawKey);
		const answer = await findMatch(dry, {fields, ip, organization, attemptId});
		// A match by token gets its candidates after the answer.
		await dry.background.settle();
		const recorded = await findAttempt(dry.db, attemptId);
		if (recorded === null) {
			return {...answer, attempt: null};
		}

		const {id: _, ...attempt} = recorded;
		return {...answer, attempt};
	});
