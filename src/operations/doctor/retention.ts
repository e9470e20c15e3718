import type {Services} from '../../services.ts';
import {findOverdueTables} from '../jobs/retention.ts';
import {type Finding, findingsOf} from './finding.ts';

const {warn} = findingsOf('Retention');

/** Warns of rows that outlived their retention by a day; no finding without one. */
export const checkRetention = async ({db, clock}: Pick<Services, 'db' | 'clock'>): Promise<Finding[]> => {
	const tables = await findOverdueTables(db, clock.now());
	return tables.length === 0
		? []
		: [
				warn(
					'retention.overdue',
					`rows outlived their retention by a day in ${tables.join(', ')}`,
					'Look for failures of the jobs forget_… in the log of the server',
				),
			];
};
