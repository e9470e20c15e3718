import {InterruptedError} from './cli-errors.ts';
import {exitCodes} from './exit-codes.ts';
import {type FaultText, plainFault, reportError} from './report-error.ts';
import type {PathOrigin} from './system-error.ts';
import {type Io, isBrokenPipe, writeMessage} from './terminal/io.ts';

/** What a command line turns out to be while it runs. */
export type Call = {
	exitCode: number;
	/** The options and arguments, of which one may name the file of an error. */
	given: readonly PathOrigin[];
	/** The next step after a failure that does not name it itself. */
	advice: string | null;
	/** How a refused field is named. */
	faultText: FaultText;
};

export const newCall = (): Call => ({exitCode: exitCodes.ok, given: [], advice: null, faultText: plainFault});

/** Runs a command line and reports its errors on standard error. Never throws. @returns the exit code. */
export const runAndReport = async (io: Io, work: (call: Call) => Promise<number>): Promise<number> => {
	const call = newCall();
	try {
		return await work(call);
	} catch (error) {
		// The reader of our output closed the pipe, which is a success.
		if (isBrokenPipe(error)) {
			return exitCodes.ok;
		}

		const interrupted = io.interruption.aborted && !(error instanceof InterruptedError);
		const named: PathOrigin[] = [...call.given, ['DATA_DIR', io.env['DATA_DIR'] || './data']];
		const report = reportError(interrupted ? new InterruptedError() : error, {cwd: io.cwd, named}, call);
		await writeMessage(io, report.lines.join('\n')).catch(() => {});
		return report.exitCode;
	}
};
