/** A variable that names the database. */
type DatabaseVariable = 'DATABASE_URL' | 'DATABASE_LISTEN_URL';

/** A database problem and its remedy: two parts of a sentence. `variable`: the cause, DATABASE_URL if absent. */
export type DatabaseFault = {fault: string; remedy: string; variable?: DatabaseVariable};

/** The error of a driver, a socket or PostgreSQL. */
type Failure = {code?: unknown; message: string};

const SOCKET_CALLS: readonly unknown[] = ['getaddrinfo', 'connect', 'read', 'write', 'shutdown'];

/** Whether an error is one of a file or of another name server, whose codes sockets have as well. */
export const isForeignCall = (error: Error): boolean => 'syscall' in error && !SOCKET_CALLS.includes(error.syscall);

/**
 * A problem's SQLSTATE or system code, or else the message of a pooler or the driver, which have no code. `passes`:
 * waiting may help, such as when the database starts later than Oplink.
 */
type Known = {
	codes: readonly string[];
	words?: RegExp;
	passes?: true;
	fault: (message: string) => string;
	remedy: string;
};

const OWNER = 'make the user of DATABASE_URL the owner of the schema and its objects';

const userRefused: Pick<Known, 'fault' | 'remedy'> = {
	fault: (message) => `the user may not connect (${message})`,
	remedy: 'Correct the user in DATABASE_URL, or create it, or allow it in pg_hba.conf',
};

/** The first that matches applies. */
const known: readonly Known[] = [
	{
		codes: [],
		words: /client password must be a string|fe_sendauth: no password/,
		fault: () => 'PostgreSQL asks for a password, and DATABASE_URL has none',
		remedy: 'Write it as postgres://USER:PASSWORD@HOST/DATABASE',
	},
	{
		codes: ['28P01'],
		words: /password authentication failed|SASL authentication failed|\bauth failed/,
		fault: (message) => `the user or its password is refused (${message})`,
		remedy: 'Correct them in DATABASE_URL',
	},
	{
		codes: [],
		words: /pg_hba\.conf rejects/,
		...userRefused,
	},
	{
		codes: [],
		words: /no encryption|SSL required|SSL off/,
		fault: (message) => `PostgreSQL requires TLS (${message})`,
		remedy: 'Add sslmode=verify-full to DATABASE_URL, and sslrootcert=FILE where the CA is your own',
	},
	{
		codes: ['28000'],
		words: /no such user/,
		...userRefused,
	},
	{
		codes: ['3D000'],
		words: /no such database/,
		fault: (message) => `the database does not exist (${message})`,
		remedy: 'Create it, or correct its name in DATABASE_URL',
	},
	{
		codes: [],
		words: /unsupported startup parameter/,
		fault: (message) => `a pooler refuses a parameter (${message})`,
		remedy: 'Remove it from DATABASE_URL, or list it in ignore_startup_parameters of the pooler',
	},
	{
		codes: ['42501'],
		fault: (message) => `a privilege is missing (${message})`,
		remedy: `Grant it, or ${OWNER}`,
	},
	{
		codes: ['3F000'],
		fault: (message) => `no usable schema (${message})`,
		remedy: 'Create the schema that search_path names',
	},
	{
		codes: ['42P07', '42710', '42723'],
		fault: (message) => `the schema contains objects of another program (${message})`,
		remedy: 'Give Oplink its own database',
	},
	{
		codes: ['25006'],
		passes: true,
		fault: (message) => `the database is read-only (${message})`,
		remedy: 'Point DATABASE_URL to the primary, and turn default_transaction_read_only off',
	},
	{
		codes: ['57014'],
		passes: true,
		fault: (message) => `a statement was canceled (${message})`,
		remedy: 'Find out who cancels statements of Oplink, and try again',
	},
	{
		codes: ['53300'],
		words: /no more connections allowed|remaining connection slots/,
		passes: true,
		fault: (message) => `no connection is free (${message})`,
		remedy: 'Raise max_connections, or end connections of others; each process of Oplink takes up to 11',
	},
	{
		codes: ['53100', '58030'],
		passes: true,
		fault: (message) => `the database disk is full or failing (${message})`,
		remedy: 'Make room on the machine of PostgreSQL',
	},
	{
		codes: ['57P01', '57P02', '57P03'],
		passes: true,
		fault: (message) => `PostgreSQL is starting, recovering or stopping (${message})`,
		remedy: 'Wait until it is ready',
	},
	{
		codes: ['ENOTFOUND', 'EAI_AGAIN'],
		passes: true,
		fault: (message) => `the host name cannot be resolved (${message})`,
		remedy: 'Correct the host in DATABASE_URL',
	},
	{
		codes: ['ECONNREFUSED'],
		passes: true,
		fault: (message) => `the connection was refused (${message})`,
		remedy: 'Start PostgreSQL, let it listen on that address, or correct host and port in DATABASE_URL',
	},
	{
		codes: ['ENOENT', 'EACCES'],
		passes: true,
		fault: (message) => `the socket cannot be opened (${message})`,
		remedy: 'Start PostgreSQL, or correct the folder of the socket in DATABASE_URL',
	},
	{
		codes: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
		words: /timeout expired|timeout exceeded when trying to connect/,
		passes: true,
		fault: (message) => `the host does not answer (${message})`,
		remedy: 'Correct host and port in DATABASE_URL, or check network and firewall',
	},
	{
		codes: [],
		words: /server does not support SSL connections/,
		fault: () => 'DATABASE_URL asks for TLS, and the server has none',
		remedy: 'Turn ssl on in PostgreSQL, or write sslmode=disable',
	},
	{
		codes: ['ERR_TLS_CERT_ALTNAME_INVALID'],
		fault: (message) => `the certificate of the server is for another name (${message})`,
		remedy: 'Write the host as the certificate names it',
	},
	{
		codes: ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
		fault: (message) => `the certificate of the server is not valid now (${message})`,
		remedy: 'Renew the certificate, or correct the clock of this machine',
	},
	{
		codes: [
			'SELF_SIGNED_CERT_IN_CHAIN',
			'DEPTH_ZERO_SELF_SIGNED_CERT',
			'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
			'UNABLE_TO_GET_ISSUER_CERT',
			'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
		],
		fault: (message) => `the CA of the server certificate is not trusted (${message})`,
		remedy: 'Name the file of that CA: sslrootcert=FILE in DATABASE_URL',
	},
];

const knownFor = (error: unknown): {known: Known; message: string} | null => {
	if (!(error instanceof Error) || isForeignCall(error)) {
		return null;
	}

	const {code, message}: Failure = error;
	const found = known.find(({codes, words}) => codes.includes(String(code)) || words?.test(message));
	if (found === undefined) {
		return null;
	}

	// knex puts the statement before PostgreSQL's message.
	const said = 'severity' in error ? message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '') : message;
	return {known: found, message: said.split('\n')[0] ?? said};
};

/** The installation's problem behind a database error; null if an operator cannot fix it. */
export const explainDatabaseError = (error: unknown): DatabaseFault | null => {
	const found = knownFor(error);
	return found === null ? null : {fault: found.known.fault(found.message), remedy: found.known.remedy};
};

/** Whether the error is a configuration problem, so that waiting cannot help. */
export const isMistake = (error: unknown): boolean => {
	const found = knownFor(error);
	return found !== null && found.known.passes !== true;
};

/** The sentence for a person. */
export const faultSentence = ({fault, remedy, variable = 'DATABASE_URL'}: DatabaseFault): string =>
	`${variable}: ${fault}. ${remedy}.`;

/** A database that may answer later: a supervisor starts the program again (docs/operating/production.md). */
export class DatabaseSilentError extends Error {
	override name = 'DatabaseSilentError';
}
