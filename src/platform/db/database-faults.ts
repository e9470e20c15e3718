import {isForeignCall} from '../connection-fault.ts';

/** A database problem and its remedy: two parts of a sentence. `variable` is its cause (default: DATABASE_URL). */
export type DatabaseFault = {fault: string; remedy: string; variable?: 'DATABASE_URL' | 'DATABASE_LISTEN_URL'};

/**
 * A known problem. `of` matches the SQLSTATE or system code, a space and the message: errors of poolers and of the driver
 * have no code. `…` in `fault` stands for the message. `passes`: waiting may help, such as for a database that starts.
 */
type Known = {of: RegExp; passes?: true; fault: string; remedy: string};

/** The first that matches applies. */
const known: readonly Known[] = [
	{
		of: /client password must be a string|fe_sendauth: no password/,
		fault: 'PostgreSQL asks for a password, and DATABASE_URL has none',
		remedy: 'Write it as postgres://USER:PASSWORD@HOST/DATABASE',
	},
	{
		of: /^28P01 |password authentication failed|SASL authentication failed|\bauth failed/,
		fault: 'the user or its password is refused (…)',
		remedy: 'Correct them in DATABASE_URL',
	},
	{
		// A rule that rejects mentions encryption, too.
		of: /^(?!.*pg_hba\.conf rejects).*(?:no encryption|SSL required|SSL off)/s,
		fault: 'PostgreSQL requires TLS (…)',
		remedy: 'Add sslmode=verify-full to DATABASE_URL, and sslrootcert=FILE for a CA of your own',
	},
	{
		of: /^28000 |pg_hba\.conf rejects|no such user/,
		fault: 'the user may not connect (…)',
		remedy: 'Correct the user in DATABASE_URL, or create it, or allow it in pg_hba.conf',
	},
	{
		of: /^3D000 |no such database/,
		fault: 'the database does not exist (…)',
		remedy: 'Create it, or correct its name in DATABASE_URL',
	},
	{
		of: /unsupported startup parameter/,
		fault: 'a pooler refuses a parameter (…)',
		remedy: 'Remove it from DATABASE_URL, or list it in ignore_startup_parameters of the pooler',
	},
	{
		of: /^42501 /,
		fault: 'a privilege is missing (…)',
		remedy: 'Grant it, or make the user of DATABASE_URL the owner of the schema and its objects',
	},
	{
		of: /^(?:42P07|42710|42723) /,
		fault: 'the schema contains objects of another program (…)',
		remedy: 'Give Oplink its own database',
	},
	{
		of: /^25006 /,
		passes: true,
		fault: 'the database is read-only (…)',
		remedy: 'Point DATABASE_URL to the primary, and turn default_transaction_read_only off',
	},
	{
		of: /^57014 /,
		passes: true,
		fault: 'a statement was canceled (…)',
		remedy: 'Find the program that cancels statements of Oplink, and try again',
	},
	{
		of: /^53300 |no more connections allowed|remaining connection slots/,
		passes: true,
		fault: 'no connection is free (…)',
		remedy: 'Raise max_connections, or end connections of others; each process of Oplink takes up to 11',
	},
	{
		of: /^(?:53100|58030) /,
		passes: true,
		fault: 'the database disk is full or failing (…)',
		remedy: 'Make room on the machine of PostgreSQL',
	},
	{
		of: /^57P0[123] /,
		passes: true,
		fault: 'PostgreSQL is starting, recovering or stopping (…)',
		remedy: 'Wait until it is ready',
	},
	{
		of: /^(?:ENOTFOUND|EAI_AGAIN) /,
		passes: true,
		fault: 'the host name cannot be resolved (…)',
		remedy: 'Correct the host in DATABASE_URL',
	},
	{
		of: /^ECONNREFUSED /,
		passes: true,
		fault: 'the connection was refused (…)',
		remedy: 'Start PostgreSQL, let it listen on that address, or correct host and port in DATABASE_URL',
	},
	{
		of: /^(?:ENOENT|EACCES) /,
		passes: true,
		fault: 'the socket cannot be opened (…)',
		remedy: 'Start PostgreSQL, or correct the folder of the socket in DATABASE_URL',
	},
	{
		of: /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) |timeout expired|timeout exceeded when trying to connect/,
		passes: true,
		fault: 'the host does not answer (…)',
		remedy: 'Correct host and port in DATABASE_URL, or check network and firewall',
	},
	{
		of: /^ERR_TLS_CERT_ALTNAME_INVALID /,
		fault: 'the certificate of the server is for another name (…)',
		remedy: 'Write the host as the certificate names it',
	},
	{
		of: /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT)/,
		fault: 'the CA of the server certificate is not trusted (…)',
		remedy: 'Name the file of that CA: sslrootcert=FILE in DATABASE_URL',
	},
];

const knownFor = (error: unknown): {known: Known; message: string} | null => {
	if (!(error instanceof Error) || isForeignCall(error)) {
		return null;
	}

	const {code = '', message} = error as Error & {code?: unknown};
	const found = known.find(({of}) => of.test(`${code} ${message}`));
	// knex puts the statement before PostgreSQL's message.
	const own = 'severity' in error ? message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '') : message;
	return found === undefined ? null : {known: found, message: own.split('\n')[0] ?? own};
};

/** The installation's problem behind a database error; null if an operator cannot fix it. */
export const explainDatabaseError = (error: unknown): DatabaseFault | null => {
	const found = knownFor(error);
	return found && {fault: found.known.fault.replace('…', () => found.message), remedy: found.known.remedy};
};

/** Whether the error is a configuration problem, which waiting cannot solve. */
export const isMistake = (error: unknown): boolean => {
	const found = knownFor(error);
	return found !== null && found.known.passes !== true;
};

/** The fault and its remedy as one text. */
export const faultSentence = ({fault, remedy, variable = 'DATABASE_URL'}: DatabaseFault): string =>
	`${variable}: ${fault}. ${remedy}.`;

/** A database that may answer later: a supervisor starts the program again (docs/operating/production.md). */
export class DatabaseSilentError extends Error {
	override name = 'DatabaseSilentError';
}
