import {readdir, readFile} from 'node:fs/promises';
import {setTimeout as delay} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';

const readProc = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');

/** Command lines of all living processes that name the folder, or are given it in a variable as initdb's PostgreSQL is. */
const processesOf = async (dataDir: string): Promise<string[]> => {
	const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const found = await Promise.all(
		pids.map(async (pid) => [await readProc(pid, 'cmdline'), await readProc(pid, 'environ')] as const),
	);
	return found
		.filter(([command, variables]) => command !== '' && `${command}${variables}`.includes(dataDir))
		.map(([command]) => command.replaceAll('\0', ' '));
};

/** Command lines of the descendants of a process: a few small files, so that no short life is missed. */
const descendantsOf = async (pid: string): Promise<string[]> => {
	const children = (await readProc(pid, `task/${pid}/children`)).split(' ').filter(Boolean);
	const found = await Promise.all(
		children.map(async (child) => [
			(await readProc(child, 'cmdline')).replaceAll('\0', ' '),
			...(await descendantsOf(child)),
		]),
	);
	return found.flat();
};

/**
 * A first start that gets the signal while it has such a descendant. On a busy machine this process may be late, and initdb
 * done by then: it tries again with another folder.
 */
const stopped = async (t: ExecutionContext, signal: NodeJS.Signals, moment: RegExp) => {
	for (;;) {
		const dataDir = await dataDirectory(t);
		const {child, ended, stdout, stderr} = oplink(t, ['serve'], {PORT: '0', DATA_DIR: dataDir});
		const isThere = async () => (await descendantsOf(String(child.pid))).some((command) => moment.test(command));
		while (!(await isThere()) && !ready.test(stdout())) {
			await delay(1);
		}

		child.kill(signal);
		const exitCode = await ended;
		const names = await readdir(dataDir);
		if (!names.includes('postgres')) {
			return {dataDir, exitCode, names: names.toSorted(), stderr: stderr()};
		}
	}
};

const nextStartWorks = async (t: ExecutionContext, dataDir: string): Promise<number | null> => {
	const next = oplink(t, ['serve'], {PORT: '0', DATA_DIR: dataDir});
	await next.printed(ready);
	next.child.kill('SIGTERM');
	return next.ended;
};

const INITDB = /^\S+\/bin\/initdb -D /;
const moments = [
	['while initdb begins', INITDB],
	['while initdb runs PostgreSQL', /^\S+\/bin\/postgres (?:--boot|--single) /],
] as const;

for (const [signal, exitCode] of [
	['SIGTERM', 0],
	['SIGINT', 130],
] as const) {
	for (const [title, moment] of moments) {
		test(`${signal} ${title} ends it with the server, and leaves no folder`, async (t) => {
			const {dataDir, names, stderr, ...result} = await stopped(t, signal, moment);
			t.is(result.exitCode, exitCode);
			t.deepEqual(await processesOf(dataDir), []);
			t.deepEqual(names, ['admin-token', 'postgres-password']);
			t.regex(stderr, /stopped before it was ready/);
			t.notRegex(stderr, /Error/);
			t.is(await nextStartWorks(t, dataDir), 0);
		});
	}
}

test('SIGKILL of the server ends its initdb as well, and the next start removes the folder', async (t) => {
	const {dataDir, exitCode} = await stopped(t, 'SIGKILL', INITDB);
	t.is(exitCode, null);
	while ((await processesOf(dataDir)).length > 0) {
		await delay(5);
	}

	t.false((await readdir(dataDir)).includes('postgres'));
	t.is(await nextStartWorks(t, dataDir), 0);
	const found = (await readdir(dataDir)).filter((name) => name.startsWith('.postgres-'));
	t.deepEqual(found, []);
});
