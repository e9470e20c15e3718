import {APP_LINKS} from '../../platform/config/plans.ts';
import {listRefused, type Refused} from '../../platform/limits/refusals.ts';
import {counted} from '../../platform/plural.ts';
import type {Services} from '../../services.ts';
import {type Finding, findingsOf} from './finding.ts';

const {warn} = findingsOf('Limits');

const MAX_COUNT = 10;

/** What refused the requests, and what to do about it. */
const wordsFor = ({plan, limitName}: Refused): {what: string; next: string} => {
	const named = plan ?? 'a plan';
	return limitName === APP_LINKS
		? {
				what: `quota ${APP_LINKS}`,
				next: `Delete links that apps made, or set appLinkShare of ${named} in PLANS_FILE; make a new CLIENT key if it is misused`,
			}
		: {
				what: `limit ${limitName}`,
				next: `Send fewer requests, or set limits.${limitName} of ${named} in PLANS_FILE`,
			};
};

/**
 * Names the organizations that limits of their keys, or the share of apps in their links, refused most in the last day; no
 * finding if there were none.
 */
export const checkRefusals = async ({
	db,
	clock,
	refusals,
}: Pick<Services, 'db' | 'clock' | 'refusals'>): Promise<Finding[]> => {
	await refusals.settled();
	return (await listRefused(db, clock.now(), MAX_COUNT)).map((row) => {
		const {what, next} = wordsFor(row);
		const {orgKey, refused} = row;
		return warn(
			'limits.refused',
			`${orgKey}: the ${what} refused ${counted(refused, 'request')} in the last day`,
			next,
		);
	});
};
