const SOCKET_CALLS: readonly unknown[] = ['getaddrinfo', 'connect', 'read', 'write', 'shutdown'];

/** Whether an error is of a file or another name server; sockets have the same codes. */
export const isForeignCall = (error: Error): boolean => 'syscall' in error && !SOCKET_CALLS.includes(error.syscall);

const CONNECTION_CODES = new Set([
	'ECONNREFUSED',
	'ECONNRESET',
	'ENOENT',
	'EPIPE',
	'ETIMEDOUT',
	'EHOSTUNREACH',
	'ENETUNREACH',
	'ENOTFOUND',
	'EAI_AGAIN',
]);
// Class 08 is 'connection exception', 57P0x 'the server is going down or coming up', 53 'insufficient resources' such
// as a full disk, 57014 a statement canceled by an operator, 25P03 and 25P04 a session ended by a timeout, 58030
// 'input/output error', 25006 a read-only database, such as a standby after a failover (PostgreSQL, appendix A).
const UNAVAILABLE_STATES = /^(?:08|53|57P0|57014|25P0[34]|58030|25006)/;
const CONNECTION_MESSAGES =
	/connection terminated|timeout expired|timeout exceeded when trying to connect|acquiring a connection|client has encountered a connection error/i;

/** Whether the database was unreachable, lost, full or read-only: the caller gets 503 and may retry. */
export const isConnectionFault = (error: unknown): boolean => {
	if (!(error instanceof Error)) {
		return false;
	}

	const {code} = error as {code?: unknown};
	if (typeof code === 'string' && (UNAVAILABLE_STATES.test(code) || CONNECTION_CODES.has(code))) {
		return !isForeignCall(error);
	}

	return CONNECTION_MESSAGES.test(error.message) || error.name === 'KnexTimeoutError';
};

/** The outcome of the work; `otherwise` if the database is unavailable. */
export const unlessUnavailable = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
	work.catch((error: unknown) => {
		if (isConnectionFault(error)) {
			return otherwise;
		}

		throw error;
	});
