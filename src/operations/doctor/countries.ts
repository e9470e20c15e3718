import {DAY_MS} from '../../platform/clock.ts';
import {type Finding, findingsOf} from './finding.ts';

const {ok, warn} = findingsOf('Countries');

/** Networks move from country to country; the files are published at least monthly. */
const OLD_DAYS = 60;

/** Checks the age of GEOIP_FILE. @param built null without a file, which needs none. */
export const checkCountries = (built: Date | null, now: Date): Finding[] => {
	if (built === null) {
		return [];
	}

	const message = `GEOIP_FILE is of ${built.toISOString().slice(0, 10)}`;
	const isOld = now.getTime() - built.getTime() > OLD_DAYS * DAY_MS;
	return isOld
		? [warn('countries.age', message, 'Replace the file by a newer one; the server reads it within a minute')]
		: [ok('countries.age', message)];
};
