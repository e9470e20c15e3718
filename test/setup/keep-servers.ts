import {rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {isGone} from './run-folder.ts';
import {prepareServers} from './servers.ts';
import {createTeardown} from './teardown.ts';

/**
 * `keep-servers.ts PID FOLDER`: starts the servers of an AVA run, writes their variables to `FOLDER/answer.json`, and
 * stops them when the run, process PID, has ended, however it ended.
 */

const PAUSE_MS = 200;

const [run = '', folder = ''] = process.argv.slice(2);
const teardown = createTeardown();
teardown.add(() => rm(folder, {recursive: true, force: true}));
const answer = await prepareServers(teardown).then(
	(environment) => ({environment}),
	(error: Error) => ({error: error.message}),
);
// Named when it is whole: test processes wait for the name.
await writeFile(path.join(folder, 'unfinished'), JSON.stringify(answer));
await rename(path.join(folder, 'unfinished'), path.join(folder, 'answer.json'));
while (!isGone(Number(run))) {
	await delay(PAUSE_MS);
}

await teardown.run();
