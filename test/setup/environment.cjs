const {spawn} = require('node:child_process');
const {existsSync, mkdirSync, readFileSync} = require('node:fs');
const path = require('node:path');
const {setTimeout: delay} = require('node:timers/promises');

const PAUSE_MS = 20;

/**
 * Runs in each test process before its file. `npm test` starts the servers itself; for `npx ava FILE`, an editor's plugin
 * and the like the first process of the run starts them, for all of that run (`keep-servers.ts`).
 */
module.exports = async () => {
	if (process.env.TEST_BINARY !== undefined) {
		return;
	}

	const root = path.resolve(__dirname, '../..');
	const folder = path.join(root, '.cache', `servers-${process.ppid}`);
	mkdirSync(path.dirname(folder), {recursive: true});
	try {
		mkdirSync(folder);
		const args = ['--import', 'tsx', path.join(__dirname, 'keep-servers.ts'), String(process.ppid), folder];
		spawn(process.execPath, args, {cwd: root, detached: true, stdio: 'ignore'}).unref();
	} catch (error) {
		if (error.code !== 'EEXIST') {
			throw error;
		}
	}

	const answer = path.join(folder, 'answer.json');
	while (!existsSync(answer)) {
		await delay(PAUSE_MS);
	}

	const {environment, error} = JSON.parse(readFileSync(answer, 'utf8'));
	if (error !== undefined) {
		throw new Error(error);
	}

	Object.assign(process.env, environment);
};
