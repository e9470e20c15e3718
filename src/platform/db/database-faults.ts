import {isForeignCall} from '../connection-fault.ts';

/** A database problem and its remedy: two parts of a sentence. `variable` is its cause (default: DATABASE_URL). */
export type DatabaseFault = {fault: string; remedy: string; variable?: 'DATABASE_URL' | 'DATABASE_LISTEN_URL'};

/**
 * A known problem. `of` matches the SQLSTATE or system code, a space and the message: errors of poolers and of the driver
 * have no code. `says` is the fault, in which `…` stands for the message, and after a full stop the remedy.
 */
type KnownProblem = {of: RegExp; says: string};

/** Problems of the configuration, which waiting cannot solve. The first that matches applies. */
const mistakes: readonly KnownProblem[] = [
	{
		of: /client password must be a string|fe_sendauth: no password/,
		says: 'PostgreSQL asks for a password, and DATABASE_URL has none. Write it as postgres://USER:PASSWORD@HOST/DATABASE',
	},
	{
		of: /^28P01 |password authentication failed|SASL authentication failed|\bauth failed/,
		says: 'the user or its password is refused (…). Correct them in DATABASE_URL',
	},
	{
		// A rule that rejects mentions encryption, too.
		of: /^(?!.*pg_hba\.conf rejects).*(?:no encryption|SSL required|SSL off)/s,
		says: 'PostgreSQL requires TLS (…). Add sslmode=verify-full to DATABASE_URL, and sslrootcert=FILE for a CA of your own',
	},
	{
		of: /^28000 |pg_hba\.conf rejects|no such user/,
		says: 'the user may not connect (…). Correct the user in DATABASE_URL, or create it, or allow it in pg_hba.conf',
	},
	{
		of: /^3D000 |no such database/,
		says: 'the database does not exist (…). Create it, or correct its name in DATABASE_URL',
	},
	{
		of: /unsupported startup parameter/,
		says: 'a pooler refuses a parameter (…). Remove it from DATABASE_URL, or list it in ignore_startup_parameters of the pooler',
	},
	{
		of: /^42501 /,
		says: 'a privilege is missing (…). Grant it, or make the user of DATABASE_URL the owner of the schema and its objects',
	},
	{
		of: /^(?:42P07|42710|42723) /,
		says: 'the schema contains objects of another program (…). Give Oplink its own database',
	},
	{
		of: /^ERR_TLS_CERT_ALTNAME_INVALID /,
		says: 'the certificate of the server is for another name (…). Write the host as the certificate names it',
	},
	{
		of: /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT)/,
		says: 'the CA of the server certificate is not trusted (…). Name the file of that CA: sslrootcert=FILE in DATABASE_URL',
	},
];

/** Problems that waiting may solve, such as a database that starts. */
const passing: readonly KnownProblem[] = [
	{
		of: /^25006 /,
		says: 'the database is read-only (…). Point DATABASE_URL to the primary, and turn default_transaction_read_only off',
	},
	{
		of: /^57014 /,
		says: 'a statement was canceled (…). Find the program that cancels statements of Oplink, and try again',
	},
	{
		of: /^53300 |no more connections allowed|remaining connection slots/,
		says: 'no connection is free (…). Raise max_connections, or end connections of others; each process of Oplink takes up to 11',
	},
	{of: /^(?:53100|58030) /, says: 'the database disk is full or failing (…). Make room on the machine of PostgreSQL'},
	{of: /^57P0[123] /, says: 'PostgreSQL is starting, recovering or stopping (…). Wait until it is ready'},
	{of: /^(?:ENOTFOUND|EAI_AGAIN) /, says: 'the host name cannot be resolved (…). Correct the host in DATABASE_URL'},
	{
		of: /^ECONNREFUSED /,
		says: 'the connection was refused (…). Start PostgreSQL, let it listen on that address, or correct host and port in DATABASE_URL',
	},
	{
		of: /^(?:ENOENT|EACCES) /,
		says: 'the socket cannot be opened (…). Start PostgreSQL, or correct the folder of the socket in DATABASE_URL',
	},
	{
		of: /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) |timeout expired|timeout exceeded when trying to connect/,
		says: 'the host does not answer (…). Correct host and port in DATABASE_URL, or check network and firewall',
	},
];

const knownIn = (list: readonly KnownProblem[], error: unknown): KnownProblem | undefined => {
	if (!(error instanceof Error) || isForeignCall(error)) {
		return undefined;
	}

	const {code = '', message} = error as Error & {code?: unknown};
	return list.find(({of}) => of.test(`${code} ${message}`));
};

/** The first line of the message; knex puts the statement before PostgreSQL's. */
const ownMessage = (error: Error): string => {
	const {message} = error;
	const own = 'severity' in error ? message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '') : message;
	return own.split('\n')[0] ?? own;
};

/** The installation's problem behind a database error; null if an operator cannot fix it. */
export const explainDatabaseError = (error: unknown): DatabaseFault | null => {
	const found = knownIn([...mistakes, ...passing], error);
	if (found === undefined) {
		return null;
	}

	const [fault = '', remedy = ''] = found.says.split(/\. (.*)/s);
	return {fault: fault.replace('…', () => ownMessage(error as Error)), remedy};
};

/** Whether the error is a configuration problem, which waiting cannot solve. */
export const isMistake = (error: unknown): boolean => knownIn(mistakes, error) !== undefined;

/** The fault and its remedy as one text. */
export const faultSentence = ({fault, remedy, variable = 'DATABASE_URL'}: DatabaseFault): string =>
	`${variable}: ${fault}. ${remedy}.`;

/** A database that may answer later: a supervisor starts the program again (docs/operating/production.md). */
export class DatabaseSilentError extends Error {
	override name = 'DatabaseSilentError';
}
