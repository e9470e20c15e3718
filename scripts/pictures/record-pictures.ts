import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmod, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {pino} from 'pino';
import {createClock} from '../../src/platform/clock.ts';
import {openDatabase} from '../../src/platform/db/open-database.ts';
import {addHistory, makeOrganization, startClicking} from './picture-data.ts';
import {type Cell, createTerminalScreen} from './terminal-screen.ts';
import {terminalSvg} from './terminal-svg.ts';

// `npm run docs:pictures`: records what the built program shows on an 80x24 terminal, against a server of its own, and
// writes docs/pictures anew. It needs the script(1) of util-linux, which makes the terminal.
const COLUMNS = 80;
const ROWS = 24;
const binary = fileURLToPath(new URL('../../bin/oplink.js', import.meta.url));
const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const folder = await mkdtemp(path.join(tmpdir(), 'oplink-pictures-'));
// Under root the database belongs to another user, who must be able to reach it; else it would be in /var/lib/oplink.
await chmod(folder, 0o711);
const dataDir = path.join(folder, 'data');
const base = {PATH: '/usr/bin:/bin', HOME: folder, TRUSTED_PROXIES: '127.0.0.0/8,::1/128'};

const textOf = (cells: readonly Cell[][]): string =>
	cells.map((line) => line.map(({text}) => text).join('')).join('\n');

/**
 * Runs a command on a terminal and keeps what it shows: at its end, or when `isIt` is true of the screen, which ends it.
 */
const record = async (
	name: string,
	line: string,
	{isIt = () => false, rows = ROWS}: {isIt?: (text: string) => boolean; rows?: number} = {},
): Promise<void> => {
	const words = `'${process.execPath}' '${binary}' ${line}`;
	const child = spawn('script', ['-qec', `stty cols ${COLUMNS} rows ${rows}; ${words}`, '/dev/null'], {
		cwd: folder,
		env: {...base, SHELL: '/bin/sh', TERM: 'xterm-256color'},
		stdio: ['pipe', 'pipe', 'ignore'],
	});
	const screen = createTerminalScreen({columns: COLUMNS, rows});
	let kept: Cell[][] | null = null;
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		if (kept === null) {
			// Where this run's server keeps its data is of no interest to a reader.
			screen.write(text.replaceAll(dataDir, '/var/lib/oplink'));
			if (isIt(textOf(screen.cells()))) {
				kept = screen.cells();
				child.kill('SIGTERM');
			}
		}
	});
	await once(child, 'close');
	await writeFile(path.join(pictures, `${name}.svg`), terminalSvg(`oplink ${line}`, kept ?? screen.cells()));
	process.stdout.write(`${name}\n${textOf(kept ?? screen.cells())}\n`);
};

const startServer = async (): Promise<{server: ChildProcess; url: string}> => {
	const server = spawn(process.execPath, [binary, 'serve'], {
		cwd: folder,
		env: {...base, PORT: '3000', LOG_LEVEL: 'silent'},
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const [greeting] = (await once(server.stdout, 'data')) as [Buffer];
	return {server, url: /http:\S+:\d+/.exec(String(greeting))?.[0] ?? ''};
};

const {server, url} = await startServer();
try {
	const token = (await readFile(path.join(dataDir, 'admin-token'), 'utf8')).trim();
	const acme = await makeOrganization(url, token);
	const {db, close} = await openDatabase(
		{databaseUrl: null, databaseListenUrl: null, dataDir},
		pino({level: 'silent'}),
	);
	await addHistory(db, acme.id, acme.links);
	await close();

	const stopClicking = startClicking(url, acme);
	const clock = createClock(0);
	const began = clock.now().getTime();
	await record('dashboard', `dashboard --org ${acme.orgKey}`, {isIt: () => clock.now().getTime() - began > 40_000});
	stopClicking();
} finally {
	server.kill('SIGINT');
	await once(server, 'close');
	await rm(folder, {recursive: true});
}
