import type {Services} from '../../services.ts';
import {type Finding, findingsOf} from './finding.ts';

const {warn} = findingsOf('Configuration');

/** Warns of files that this process read and that have become unusable since. */
export const checkRereadFiles = ({
	countries,
	relayRanges,
}: {[Name in 'countries' | 'relayRanges']: Pick<Services[Name], 'fault'>}): Finding[] =>
	[
		{variable: 'GEOIP_FILE', fault: countries.fault()},
		{variable: 'RELAY_RANGES_FILE', fault: relayRanges.fault()},
	].flatMap(({variable, fault}) =>
		fault === null
			? []
			: [
					warn(
						'configuration.file',
						`${variable} cannot be used now (${fault}); its former contents are in use, and the next start ends with 78`,
						'Replace the file by a whole one with mv; the server reads it within a minute',
					),
				],
	);
