import {readdir, readFile} from 'node:fs/promises';
import {setTimeout as delay} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';

/** Command lines of all living processes that name the folder, or are given it in a variable as initdb's PostgreSQL is. */
const processesOf = async (dataDir: string): Promise<string[]> => {
	const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const read = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
	const found = await Promise.all(
		pids.map(async (pid) => [await read(pid, 'cmdline'), await read(pid, 'environ')] as const),
	);
	return found
		.filter(([command, variables]) => command !== '' && `${command}${variables}`.includes(dataDir))
		.map(([command]) => command.replaceAll('\0', ' '));
};

/** Polls until the processes of the folder are as the condition says. */
const until = async (dataDir: string, isSo: (commands: string[]) => boolean): Promise<void> => {
	while (!isSo(await processesOf(dataDir))) {
		await delay(5);
	}
};

const isInitdb = (command: string) => /^\S+\/bin\/initdb -D /.test(command);

/** A first start, once its initdb runs; or once that runs PostgreSQL, which initializes the tables. */
const startedWith = async (t: ExecutionContext, dataDir: string, isRunning: (command: string) => boolean) => {
	const server = oplink(t, ['serve'], {PORT: '0', DATA_DIR: dataDir});
	await until(dataDir, (commands) => commands.some(isRunning));
	return server;
};

const nextStartWorks = async (t: ExecutionContext, dataDir: string): Promise<number | null> => {
	const next = oplink(t, ['serve'], {PORT: '0', DATA_DIR: dataDir});
	await next.printed(ready);
	next.child.kill('SIGTERM');
	return next.ended;
};

const moments: Array<[string, (command: string) => boolean]> = [
	['while initdb begins', isInitdb],
	['while initdb runs PostgreSQL', (command) => /^\S+\/bin\/postgres (?:--boot|--single) /.test(command)],
];

for (const [signal, exitCode] of [
	['SIGTERM', 0],
	['SIGINT', 130],
] as const) {
	for (const [moment, isRunning] of moments) {
		test(`${signal} ${moment} ends it with the server, and leaves no folder`, async (t) => {
			const dataDir = await dataDirectory(t);
			const {child, ended, stderr} = await startedWith(t, dataDir, isRunning);
			child.kill(signal);
			t.is(await ended, exitCode);
			t.deepEqual(await processesOf(dataDir), []);
			t.deepEqual((await readdir(dataDir)).toSorted(), ['admin-token', 'postgres-password']);
			t.regex(stderr(), /stopped before it was ready/);
			t.notRegex(stderr(), /Error/);
			t.is(await nextStartWorks(t, dataDir), 0);
		});
	}
}

test('SIGKILL of the server ends its initdb as well, and the next start removes the folder', async (t) => {
	const dataDir = await dataDirectory(t);
	const {child, ended} = await startedWith(t, dataDir, isInitdb);
	child.kill('SIGKILL');
	t.is(await ended, null);
	await until(dataDir, (commands) => commands.length === 0);
	t.false((await readdir(dataDir)).includes('postgres'));
	t.is(await nextStartWorks(t, dataDir), 0);
	t.deepEqual(
		(await readdir(dataDir)).filter((name) => name.startsWith('.postgres-')),
		[],
	);
});
