import {InterruptedError} from './cli-errors.ts';
import {exitCodes} from './exit-codes.ts';
import {reportError} from './report-error.ts';
import {type Io, isBrokenPipe, tell} from './terminal/io.ts';

/** Does what a command line says, and tells on standard error what kept it from it. Never throws. @returns the exit code. */
export const reported = async (io: Io, work: () => Promise<number>): Promise<number> => {
	try {
		return await work();
	} catch (error) {
		// The reader of our output left: it has what it wanted.
		if (isBrokenPipe(error)) {
			return exitCodes.ok;
		}

		const interrupted = io.interruption.aborted && !(error instanceof InterruptedError);
		const report = reportError(interrupted ? new InterruptedError() : error);
		await tell(io, report.lines.join('\n')).catch(() => {});
		return report.exitCode;
	}
};
