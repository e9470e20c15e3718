import {once} from 'node:events';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {setTimeout as delay} from 'node:timers/promises';
import {stripVTControlCharacters} from 'node:util';
import {spawnTethered} from '../../src/platform/embedded/tether.ts';
import {packageRoot} from '../../src/platform/package-root.ts';

/** The result of a run: ava's exit code, passed tests, and failed tests, hooks and processes. */
export type Outcome = {exitCode: number; passed: number; failed: number};

const INTERRUPT_GRACE_MS = 2000;
const OUTPUT_GRACE_MS = 2000;
/** AVA's own time limit never fires after a test has set one of its own (`t.timeout`), so a silent run ends here. */
const SILENT_MS = 5 * 60_000;

const ava = path.join(import.meta.dirname, 'ava-cli.js');

const FAILURES = [
	/^ *(\d+) tests? failed/gm,
	/^ *(\d+) hooks? failed/gm,
	/^ *(\d+) unhandled rejections?/gm,
	/^ *(\d+) uncaught exceptions?/gm,
	/^ *(\d+) tests? remained pending/gm,
];

/** The number in the last line that matches: the summary stands at the end. */
const lastNumber = (text: string, pattern: RegExp): number | null => {
	const number = [...text.matchAll(pattern)].at(-1)?.[1];
	return number === undefined ? null : Number(number);
};

/** Reads ava's report. It names the number of passed tests only where none failed: then the ticks are counted. */
export const readReport = (report: string, exitCode: number): Outcome => {
	const text = stripVTControlCharacters(report);
	const passed =
		lastNumber(text, /^ *(\d+) tests? passed/gm) ?? [...text.matchAll(/^ *[✔√] (?!\[expected fail\])/gm)].length;
	const failed = FAILURES.reduce((sum, pattern) => sum + (lastNumber(text, pattern) ?? 0), 0);
	return {exitCode, passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed};
};

const killGroup = (pid: number | undefined): void => {
	try {
		process.kill(-(pid ?? Number.NaN), 'SIGKILL');
	} catch {
		// The process group is empty.
	}
};

/**
 * Runs ava over compiled tests (TEST_COMPILED in `env`) in its own process group, streams its output, and kills the rest
 * of the group.
 * @param interrupted when it aborts, ava is asked to stop and report, and killed if it does not.
 */
export const runAva = async (args: string[], env: NodeJS.ProcessEnv, interrupted: AbortSignal): Promise<Outcome> => {
	const {child} = spawnTethered([process.execPath, ava, ...args], {
		signal: 'TERM',
		output: 'pipe',
		cwd: packageRoot,
		env: {...env, ...(process.stdout.isTTY ? {FORCE_COLOR: '1'} : {})},
	});
	child.ref();
	const exited = once(child, 'exit') as Promise<[number | null]>;
	const closed = once(child, 'close');
	const interrupt = async () => {
		child.kill('SIGINT');
		await Promise.race([exited, delay(INTERRUPT_GRACE_MS)]);
		killGroup(child.pid);
	};
	const silence = setTimeout(() => {
		console.error('No test has reported for 5 minutes.');
		void interrupt();
	}, SILENT_MS);
	let report = '';
	for (const [from, to] of [
		[child.stdout, process.stdout],
		[child.stderr, process.stderr],
	] as Array<[Readable, NodeJS.WriteStream]>) {
		from.setEncoding('utf8').on('data', (text: string) => {
			silence.refresh();
			report += text;
			to.write(text);
		});
	}

	interrupted.addEventListener('abort', interrupt, {once: true});
	if (interrupted.aborted) {
		interrupt();
	}

	const [code] = await exited;
	clearTimeout(silence);
	killGroup(child.pid);
	await Promise.race([closed, delay(OUTPUT_GRACE_MS)]);
	return readReport(report, code ?? 1);
};
