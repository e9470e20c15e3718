/** The embedded PostgreSQL cannot be used here; the message has the reason and the next step. */
export class EmbeddedPostgresError extends Error {
	override name = 'EmbeddedPostgresError';
}

/** Another server uses the same DATA_DIR. */
export class DataDirInUseError extends Error {
	override name = 'DataDirInUseError';

	/** @param pid process id of the other server, or null if unknown. */
	constructor(
		readonly dataDir: string,
		readonly pid: number | null,
	) {
		super(
			`DATA_DIR ${dataDir} is in use by another Oplink server${pid === null ? '' : ` (pid ${pid})`}. ` +
				'Stop that server first; a second server needs a DATA_DIR of its own, or one DATABASE_URL for both.',
		);
	}
}

export const useExternal = 'Set DATABASE_URL to a PostgreSQL 14 or later instead.';

/** The `code` of a failed system call or statement, such as ENOENT or 57P03; otherwise undefined. */
export const errorCode = (error: unknown): string | undefined => {
	const {code} = (error ?? {}) as {code?: unknown};
	return typeof code === 'string' ? code : undefined;
};

/** Whether `attempt` made a file or a folder; false if another process was faster. */
export const orWhereExists = (attempt: Promise<void>): Promise<boolean> =>
	attempt.then(
		() => true,
		(error: unknown) => {
			if (['EEXIST', 'ENOTEMPTY'].includes(errorCode(error) ?? '')) {
				return false;
			}

			throw error;
		},
	);

/** Whether a process has this pid, of any user. */
export const isAlive = (pid: number): boolean => {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return errorCode(error) !== 'ESRCH';
	}
};
