import {randomUUID} from 'node:crypto';
import {dryRun} from '../match/dry-run.ts';
import {findMatch, type MatchAnswer} from '../match/find-match.ts';
import {findAttempt, type MatchAttempt} from '../match/match-attempt-store.ts';
import type {MatchFields} from '../match/match-request.ts';
import {organizationOfKey} from '../match/organization-of-key.ts';
import type {Services} from '../services.ts';

/**
 * The answer as `/match` would give it, and why. The attempt has no id, because it is not kept; it is null where an
 * earlier answer would be repeated to the device, which is no new attempt.
 */
export type DryRunMatch = MatchAnswer & {attempt: Omit<MatchAttempt, 'id'> | null};

/**
 * What POST /match would answer now, without consuming a click, recording an attempt or registering a device.
 * @param sent the body, the address that it came from, and the `X-API-Key` header.
 */
export const dryRunMatch = (
	services: Services,
	sent: {fields: MatchFields; ip: string; rawKey: string | string[] | undefined},
): Promise<DryRunMatch> =>
	dryRun(services, async (dry) => {
		const {fields, ip} = sent;
		const attemptId = randomUUID();
		const organization = await organizationOfKey(dry, sent.rawKey);
		const answer = await findMatch(dry, {fields, ip, organization, attemptId});
		const recorded = await findAttempt(dry.db, attemptId);
		if (recorded === null) {
			return {...answer, attempt: null};
		}

		const {id: _, ...attempt} = recorded;
		return {...answer, attempt};
	});
