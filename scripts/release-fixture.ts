import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmod, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {promisify} from 'node:util';

/**
 * Leaves in `test/fixtures/releases/VERSION` what a server of this version leaves: a backup, and a DATA_DIR whose embedded
 * database lacks clicks that are in the journal, because the server was killed. Every later version must open both.
 */
const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '..');
const program = path.join(root, 'bin', 'oplink.js');
const {version} = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {version: string};
const folder = path.join(root, 'test', 'fixtures', 'releases', version);
const work = await mkdtemp(path.join(tmpdir(), 'oplink-fixture-'));
await chmod(work, 0o711);
const env = {PATH: process.env['PATH'], HOME: work, DATA_DIR: path.join(work, 'data'), PORT: '0', LOG_FORMAT: 'json'};
const cli = async (...args: string[]): Promise<string> =>
	(await run(process.execPath, [program, ...args], {env: {...env, PORT: undefined}})).stdout;

const start = async (): Promise<{child: ChildProcess; url: string}> => {
	const child = spawn(process.execPath, [program, 'serve'], {env, stdio: ['ignore', 'pipe', 'inherit']});
	let text = '';
	for await (const chunk of child.stdout) {
		text += chunk;
		const [, url] = /Oplink is ready at (\S+)[\s\S]*npx oplink status/.exec(text) ?? [];
		if (url !== undefined) {
			return {child, url};
		}
	}

	throw new Error(`the server did not start: ${text}`);
};

const visit = async (url: string): Promise<void> => {
	const headers = {'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/137.0.0.0 Safari/537.36'};
	const response = await fetch(url, {headers});
	await response.text();
	if (response.status !== 200) {
		throw new Error(`a visit got ${response.status}`);
	}
};

const {child, url} = await start();
const link = JSON.parse(await cli('links', 'create', '--path', '/kept', '--tag', 'spring', '--json'));
const address = `${url}${new URL(link.url).pathname}`;
for (let count = 0; count < 3; count += 1) {
	await visit(address);
}

// The journal is drained after some milliseconds.
await delay(1000);
await rm(folder, {recursive: true, force: true});
await mkdir(folder, {recursive: true});
await cli('backup', path.join(folder, 'oplink.backup'));
await Promise.all(Array.from({length: 20}, () => visit(address)));
child.kill('SIGKILL');
await once(child, 'exit');
// Its PostgreSQL ends by itself.
await delay(5000);
await run('tar', ['-cJf', path.join(folder, 'data.tar.xz'), '--numeric-owner', '-C', work, 'data']);
const expected = {version, linkId: link.id, pathname: new URL(link.url).pathname, backedUp: 3, clicks: 23};
await writeFile(path.join(folder, 'expected.json'), `${JSON.stringify(expected, null, '\t')}\n`);
await rm(work, {recursive: true, force: true});
