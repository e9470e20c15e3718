import {InterruptedError} from './cli-errors.ts';
import {exitCodes} from './exit-codes.ts';
import {reportError} from './report-error.ts';
import type {PathOrigin} from './system-error.ts';
import {type Io, isBrokenPipe, writeMessage} from './terminal/io.ts';

/**
 * Runs a command line and reports its errors on standard error. Never throws.
 * @param given the options and arguments that may name a file of an error. @returns the exit code.
 */
export const reported = async (
	io: Io,
	work: () => Promise<number>,
	given: () => readonly PathOrigin[] = () => [],
): Promise<number> => {
	try {
		return await work();
	} catch (error) {
		// The reader of our output closed the pipe, which is a success.
		if (isBrokenPipe(error)) {
			return exitCodes.ok;
		}

		const interrupted = io.interruption.aborted && !(error instanceof InterruptedError);
		const named: PathOrigin[] = [...given(), ['DATA_DIR', io.env['DATA_DIR'] || './data']];
		const report = reportError(interrupted ? new InterruptedError() : error, {cwd: io.cwd, named});
		await writeMessage(io, report.lines.join('\n')).catch(() => {});
		return report.exitCode;
	}
};
