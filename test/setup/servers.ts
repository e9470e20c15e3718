import {mkdir} from 'node:fs/promises';
import path from 'node:path';
import {findChromium} from './chromium.ts';
import {compileProgram} from './compile.ts';
import {prepareRedis} from './redis.ts';
import {makeRunFolder} from './run-folder.ts';
import type {Teardown} from './teardown.ts';
import {prepareTemplate} from './template.ts';

/**
 * Starts the tests' dependencies: PostgreSQL with a migrated template database, Redis, Chromium, and the program as its
 * users start it. Variables can name existing ones.
 * @returns the variables that tests read. @throws Error with what is missing.
 */
export const prepareServers = async (teardown: Teardown): Promise<Record<string, string>> => {
	const folder = await makeRunFolder(teardown, {inMemory: true});
	const preparing = [
		prepareRedis(folder, teardown),
		prepareTemplate(folder, teardown),
		findChromium(),
		compileProgram(teardown),
	] as const;
	// Resources still starting when another fails must be released too.
	await Promise.allSettled(preparing);
	const [redisUrl, {url, template}, chromium, compiled] = await Promise.all(preparing);
	const answers = process.env['TEST_ANSWERS'] ?? path.join(folder, 'answers');
	await mkdir(answers, {recursive: true});
	return {
		TMPDIR: folder,
		TEST_DATABASE_URL: url,
		TEST_TEMPLATE: template,
		TEST_REDIS_URL: redisUrl,
		TEST_CHROMIUM: chromium,
		TEST_ANSWERS: answers,
		TEST_BINARY: path.join(compiled, 'bin', 'oplink.js'),
	};
};
