import {exitCodes} from '../exit-codes.ts';

/** The meaning of each exit code. */
const meanings: Record<keyof typeof exitCodes, string> = {
	ok: 'success',
	failed: 'failure: server refusal, partial import, or faults found by a check',
	usage: 'invalid command line, or a terminal is required',
	authentication: 'token or key missing or rejected',
	notFound: 'organization, link, domain or profile not found',
	conflict: 'already taken or in use',
	plan: 'not included in the plan, or quota used up',
	unreachable: 'server unreachable',
	configuration: 'invalid environment, one line per fault, or the database is newer',
	interrupted: 'interrupted by Ctrl-C',
};

const rows = Object.entries(exitCodes).map(
	([name, code]) => `  ${String(code).padStart(3)}  ${meanings[name as keyof typeof exitCodes]}`,
);

export const exitCodesTopic = `Every command ends with one of these codes:

${rows.join('\n')}

A script can rely on the code alone: standard output carries only data, and only
if the command got far enough to produce it.`;
