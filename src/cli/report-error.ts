import {OplinkApiError, OplinkConnectionError, type OplinkFieldFault} from '../client/errors.ts';
import {HttpError} from '../platform/errors.ts';
import {nextStepAfter} from './advice.ts';
import {exitCodes, InterruptedError, OperatorError} from './cli-errors.ts';
import {explainSystemError, isSystemError, type PathOrigin, type PathOrigins} from './system-error.ts';
import {type Io, isBrokenPipe, writeMessage} from './terminal/io.ts';

/** Facts about a command line that become known while it runs. */
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

/** The message for stderr and the exit code of a failure. */
export type Report = {lines: string[]; exitCode: number};

const exitCodeByStatus: Readonly<Record<number, number>> = {
	401: exitCodes.authentication,
	402: exitCodes.plan,
	403: exitCodes.authentication,
	404: exitCodes.notFound,
	409: exitCodes.conflict,
	422: exitCodes.plan,
	428: exitCodes.plan,
};

const exitCodeOf = (error: OplinkApiError): number => {
	const {status, code} = error;
	if (isForeign(error) && status === 404) {
		return exitCodes.failed;
	}

	return status === 403 && code === 'FEATURE_NOT_AVAILABLE'
		? exitCodes.plan
		: (exitCodeByStatus[status] ?? exitCodes.failed);
};

const nextStepOf = (error: OplinkApiError): string | null =>
	isForeign(error) ? 'Check the address of the server, and any proxy in front of it' : nextStepAfter(error);

const isConfigError = (error: unknown): error is Error & {faults: string[]} =>
	error instanceof Error && error.name === 'ConfigError' && 'faults' in error && Array.isArray(error.faults);

/**
 * DATA_DIR's database cannot be opened or backed up; the message has the reason and the next step. Identified by name,
 * since the class is loaded late.
 */
const isDatabaseError = (error: unknown): error is Error =>
	error instanceof Error &&
	['DataDirInUseError', 'EmbeddedPostgresError', 'DatabaseSilentError', 'BackupError'].includes(error.name);

const withNextStep = (lines: string[], nextStep: string | null): string[] =>
	nextStep ? [...lines, `Next: ${nextStep}`] : lines;

/** Whether no Oplink server answered: its refusals have their status in the body, too (contract/requests 1). */
const isForeign = ({envelope}: OplinkApiError): boolean => envelope?.['statusCode'] === undefined;

/** Another program's page has a success status and invalid JSON. */
const messageOf = ({status, message, envelope}: OplinkApiError): string =>
	status < 300
		? 'The answer is not valid JSON: is this the address of an Oplink server?'
		: String(envelope?.['message'] ?? message);

/** A fault of a field as a line. */
export type FaultText = (fault: OplinkFieldFault) => string;

/** In the words of the API: a message mostly begins with the name of its field (contract/requests 3). */
export const plainFault: FaultText = ({field, message}) =>
	field === undefined || message.startsWith(field) ? message : `${field}: ${message}`;

const reportApiError = (error: OplinkApiError, nextStep: string | null, faultText: FaultText): Report => {
	const message = messageOf(error);
	const details = (error.details ?? []).flatMap((fault) =>
		fault.message === message ? [] : [`  ${faultText(fault)}`],
	);
	const request = error.requestId === undefined ? [] : [`Request id: ${error.requestId}`];
	return {
		lines: withNextStep([`Error: ${message}`, ...details, ...request], nextStep),
		exitCode: exitCodeOf(error),
	};
};

/** Reasons of TLS for a server that is there. */
const UNTRUSTED = /certificate|altnames/i;
const TRUST =
	'The server is up, but its certificate is not trusted; NODE_EXTRA_CA_CERTS=FILE names the CA that signed it';

const START = 'Start the server with oplink serve, or name another one with --url';

/**
 * The message and exit code for any error of a command: an operator's error with the next step, a bug with its stack.
 */
export const reportError = (
	error: unknown,
	origins: PathOrigins = {cwd: '/', named: []},
	{advice = null, faultText = plainFault}: {advice?: string | null; faultText?: FaultText} = {},
): Report => {
	if (error instanceof OplinkApiError) {
		return reportApiError(error, advice ?? nextStepOf(error), faultText);
	}

	if (error instanceof OplinkConnectionError) {
		return {
			lines: [
				`Error: Cannot reach ${error.baseUrl}: ${error.reason}`,
				`Next: ${UNTRUSTED.test(error.reason) ? TRUST : (advice ?? START)}`,
			],
			exitCode: exitCodes.unreachable,
		};
	}

	if (error instanceof OperatorError) {
		return {lines: withNextStep([`Error: ${error.message}`], error.nextStep), exitCode: error.exitCode};
	}

	if (error instanceof InterruptedError) {
		return {lines: [error.message, ...(error.note === null ? [] : [error.note])], exitCode: exitCodes.interrupted};
	}

	if (isConfigError(error)) {
		return {lines: error.faults, exitCode: exitCodes.configuration};
	}

	if (isDatabaseError(error)) {
		return {lines: [`Error: ${error.message}`], exitCode: exitCodes.failed};
	}

	if (error instanceof HttpError && error.cause instanceof Error) {
		const next = 'Start ClickHouse, or correct CLICKS_URL, and repeat this: nothing was changed';
		return {lines: withNextStep([`Error: ${error.cause.message}`], next), exitCode: exitCodes.unreachable};
	}

	if (isSystemError(error)) {
		const {message, nextStep} = explainSystemError(error, origins);
		return {lines: withNextStep([`Error: ${message}`], nextStep), exitCode: exitCodes.failed};
	}

	const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
	return {lines: ['This is a bug in oplink; please report it with these lines:', stack], exitCode: exitCodes.failed};
};
