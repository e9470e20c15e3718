import {spawnSync} from 'node:child_process';
import {readdir} from 'node:fs/promises';
import {constants} from 'node:os';
import path from 'node:path';
import {packageRoot} from '../../src/platform/package-root.ts';
import {type Outcome, runAva} from './ava.ts';
import {checkSources} from './check-sources.ts';
import {compileTests} from './compile.ts';
import {prepareServers} from './servers.ts';
import {deepOnly, longerWhenDeep, processesOf} from './suites.ts';
import {createTeardown} from './teardown.ts';

/** Compares the answers that tests received with the API document; each mismatch is a failure. */
const withAnswers = async (outcome: Outcome, answers: string, check: string): Promise<Outcome> => {
	if ((await readdir(answers)).length === 0) {
		return outcome;
	}

	const {status} = spawnSync(process.execPath, [check, answers], {stdio: 'inherit'});
	return status === 0 ? outcome : {...outcome, exitCode: outcome.exitCode || 1, failed: outcome.failed + 1};
};

/** Runs the tests while the sources are checked; a fault there ends the run and is one more failure. */
const withChecks = async (
	interrupted: AbortSignal,
	runTests: (ended: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> => {
	const fault = new AbortController();
	const checking = checkSources().then((found) => {
		if (found !== null) {
			fault.abort();
		}

		return found;
	});
	const outcome = await runTests(AbortSignal.any([interrupted, fault.signal]));
	const found = await checking;
	if (found === null) {
		return outcome;
	}

	console.error(found);
	return {...outcome, exitCode: outcome.exitCode || 1, failed: outcome.failed + 1};
};

/**
 * `npm test`: compiles all tests, starts the servers once, and runs AVA while types and style are checked. One file is run by
 * `npx ava FILE`. With `--deep` it runs what `npm test` leaves out, and leaves types and style to that. Everything that was started ends with the run, however it ends. The last line is 'N passed, N failed'.
 */
const run = async (isDeep: boolean, options: string[], interrupted: AbortSignal): Promise<Outcome> => {
	const teardown = createTeardown();
	try {
		const preparing = [
			prepareServers(teardown),
			compileTests(teardown, processesOf(isDeep ? 'deep' : 'usual')),
		] as const;
		await Promise.allSettled(preparing);
		const [servers, compiled] = await Promise.all(preparing);
		interrupted.throwIfAborted();
		const env = {...process.env, ...servers, TEST_COMPILED: compiled, ...(isDeep ? {TEST_DEEP: '1'} : {})};
		const files = path.join(path.relative(packageRoot, compiled), 'test/**/*.js');
		const runTests = (ended: AbortSignal) => runAva([...options, files], env, ended);
		const outcome = await (isDeep ? runTests(interrupted) : withChecks(interrupted, runTests));
		const check = path.join(compiled, 'test/setup/check-answers.js');
		return await withAnswers(outcome, servers['TEST_ANSWERS'] ?? '', check);
	} catch (error) {
		console.error(interrupted.aborted ? 'interrupted' : error instanceof Error ? error.message : error);
		return {exitCode: 1, passed: 0, failed: 1};
	} finally {
		await teardown.run();
	}
};

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => interruption.abort(signal));
}

const options = process.argv.slice(2);
const isDeep = options.includes('--deep');
const {exitCode, passed, failed} = await run(
	isDeep,
	options.filter((option) => option !== '--deep'),
	interruption.signal,
);
if (!isDeep) {
	const left = `${Object.values(deepOnly).join(', ')}, and more cases of ${longerWhenDeep.length} files`;
	console.log(`left to npm run test:deep: ${left}`);
}

console.log(`${passed} passed, ${failed} failed`);
const {aborted, reason} = interruption.signal;
process.exitCode = aborted ? 128 + constants.signals[reason as 'SIGINT'] : exitCode;
