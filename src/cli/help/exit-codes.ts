import {exitCodes} from '../exit-codes.ts';

/** What each exit code says, for people. */
const meanings: Record<keyof typeof exitCodes, string> = {
	ok: 'what was asked is done',
	failed: 'it failed: the server refused, an import in part, doctor found something',
	usage: 'the command line is wrong, or a terminal would be needed',
	authentication: 'no token or key, or one that the server does not accept',
	notFound: 'there is no such organization, link, domain or profile',
	conflict: 'it is taken already, or in use',
	plan: "the organization's plan does not have it, or its quota is used up",
	unreachable: 'no server answers',
	configuration: 'the environment is wrong, a line per fault; or the database is newer',
	interrupted: 'ended by Ctrl-C',
};

const rows = Object.entries(exitCodes).map(
	([name, code]) => `  ${String(code).padStart(3)}  ${meanings[name as keyof typeof exitCodes]}`,
);

export const exitCodesTopic = `Every command ends with one of these codes:

${rows.join('\n')}

A script needs the code alone: nothing but data is written to standard output,
and that only where the command got that far.`;
