import {spawnSync} from 'node:child_process';
import {mkdir, readdir} from 'node:fs/promises';
import {constants} from 'node:os';
import path from 'node:path';
import {type Outcome, runAva} from './ava.ts';
import {checkTypes} from './check-types.ts';
import {findChromium} from './chromium.ts';
import {compile, compiledArgs} from './compile.ts';
import {prepareRedis} from './redis.ts';
import {makeRunFolder} from './run-folder.ts';
import {createTeardown} from './teardown.ts';
import {prepareTemplate} from './template.ts';

/** Compares what the tests were answered with the document of the API; what does not fit is one more failure. */
const withAnswers = async (outcome: Outcome, answers: string, check: string): Promise<Outcome> => {
	if ((await readdir(answers)).length === 0) {
		return outcome;
	}

	const {status} = spawnSync(process.execPath, [check, answers], {stdio: 'inherit'});
	return status === 0 ? outcome : {...outcome, exitCode: outcome.exitCode || 1, failed: outcome.failed + 1};
};

/** Runs the tests while the types are checked; where those do not fit, that ends the run, and is one more failure. */
const withTypes = async (
	interrupted: AbortSignal,
	runTests: (ended: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> => {
	const misfit = new AbortController();
	const checking = checkTypes().then((found) => {
		if (found !== null) {
			misfit.abort();
		}

		return found;
	});
	const outcome = await runTests(AbortSignal.any([interrupted, misfit.signal]));
	const found = await checking;
	if (found === null) {
		return outcome;
	}

	console.error(found);
	return {...outcome, exitCode: outcome.exitCode || 1, failed: outcome.failed + 1};
};

/**
 * Compiles the tests and runs them, all or those that the arguments name to ava, with a Chromium, against a PostgreSQL and a Redis of
 * their own, and ends both with the run, however it ends. The last line is 'N passed, N failed'.
 */
const run = async (args: string[], interrupted: AbortSignal): Promise<Outcome> => {
	const teardown = createTeardown();
	try {
		const folder = await makeRunFolder(teardown, {inMemory: true});
		const preparing = [
			prepareRedis(folder, teardown),
			prepareTemplate(folder, teardown),
			findChromium(),
			compile(teardown, args),
		] as const;
		// What is still being set up when another fails has to be undone too.
		await Promise.allSettled(preparing);
		const [redisUrl, {url, template}, chromium, compiled] = await Promise.all(preparing);
		interrupted.throwIfAborted();
		const answers = process.env['TEST_ANSWERS'] ?? path.join(folder, 'answers');
		await mkdir(answers, {recursive: true});
		const env = {
			...process.env,
			TMPDIR: folder,
			TEST_DATABASE_URL: url,
			TEST_TEMPLATE: template,
			TEST_REDIS_URL: redisUrl,
			TEST_CHROMIUM: chromium,
			TEST_ANSWERS: answers,
			TEST_BINARY: compiled.binary,
		};
		const outcome = await withTypes(interrupted, (ended) => runAva(compiledArgs(args, compiled), env, ended));
		return await withAnswers(outcome, answers, compiled.answerCheck);
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

const {exitCode, passed, failed} = await run(process.argv.slice(2), interruption.signal);
console.log(`${passed} passed, ${failed} failed`);
const {aborted, reason} = interruption.signal;
process.exitCode = aborted ? 128 + constants.signals[reason as 'SIGINT'] : exitCode;
