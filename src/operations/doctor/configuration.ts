import type {Config} from '../../platform/config/config.ts';
import {type Finding, findingsOf, present} from '../finding.ts';

const {ok, warn} = findingsOf('Configuration');

/** Environment warnings that did not prevent the start. */
export const checkConfiguration = ({warnings, clockOffsetSeconds, keySecret}: Config): Finding[] => {
	const findings = present([
		...warnings.map((warning) =>
			warn(
				'configuration.warning',
				warning,
				'Correct it and start the server again; oplink config lists the variables',
			),
		),
		clockOffsetSeconds !== 0 &&
			warn(
				'configuration.clockOffset',
				`the clock of the service is shifted by ${clockOffsetSeconds} s`,
				'Unset CLOCK_OFFSET unless this is a test',
			),
		keySecret === null &&
			warn(
				'configuration.keySecret',
				'OPLINK_KEY_SECRET is unset: a copy of the database contains API keys and secrets that can be used',
				'Set it (openssl rand -base64 32), keep it apart from the backups, then regenerate the keys that exist',
			),
	]);
	return findings.length > 0 ? findings : [ok('configuration.environment', 'the environment is valid')];
};
