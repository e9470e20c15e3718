import {counted} from '../counted.ts';
import {listRefused} from '../limits/refusals.ts';
import type {Services} from '../services.ts';
import {type Finding, findingsOf} from './finding.ts';

const {warn} = findingsOf('Limits');

const MOST = 10;

/** Names the organizations that limits of their keys refused most in the last day; no finding if there were none. */
export const checkRefusals = async ({
	db,
	clock,
	refusals,
}: Pick<Services, 'db' | 'clock' | 'refusals'>): Promise<Finding[]> => {
	await refusals.settled();
	return (await listRefused(db, clock.now(), MOST)).map(({orgKey, plan, limitName, refused}) =>
		warn(
			'limits.refused',
			`${orgKey}: the limit ${limitName} refused ${counted(refused, 'request')} in the last day`,
			`Send fewer requests, or set limits.${limitName} of ${plan ?? 'a plan'} in PLANS_FILE`,
		),
	);
};
