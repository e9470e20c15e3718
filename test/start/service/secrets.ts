import {readdir, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {send} from '../../helpers/callers.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';

/** The processes that descend from one, with all that others can read of each. */
const descendants = async (root: number): Promise<Array<{pid: number; shown: string}>> => {
	const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const parents = new Map<number, number>();
	for (const pid of pids) {
		const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
		parents.set(Number(pid), Number(/^.*\) \S (\d+)/s.exec(stat)?.[1]));
	}

	const isBelow = (pid: number | undefined): boolean =>
		pid !== undefined && (pid === root || isBelow(parents.get(pid)));
	const below = [...parents.keys()].filter((pid) => pid !== root && isBelow(pid));
	return Promise.all(
		below.map(async (pid) => ({
			pid,
			shown: (
				await Promise.all(
					['environ', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
				)
			)
				.join(' ')
				.replaceAll('\0', ' '),
		})),
	);
};

test('workers get secrets by their channel, and no process of the server shows one', async (t) => {
	const DATA_DIR = await dataDirectory(t);
	const secret = (name: string) => `${name}-3f9a`.padEnd(40, '0');
	await writeFile(path.join(DATA_DIR, 'OPLINK_KEY_SECRET'), secret('credential'));
	await writeFile(path.join(DATA_DIR, 'idp'), `${secret('file')}\n`);
	const program = oplink(t, ['serve'], {
		DATA_DIR,
		PORT: '0',
		WORKERS: '2',
		LOG_FORMAT: 'json',
		ADMIN_TOKEN: secret('plain'),
		IDP_API_KEY_FILE: path.join(DATA_DIR, 'idp'),
		CREDENTIALS_DIRECTORY: DATA_DIR,
	});
	await program.printed(ready);
	const [, url = ''] = await program.printed(/"url":"([^"]+)","pid":\d+,"msg":"ready"/);
	const status = () =>
		send(url, 'GET', '/admin/status', {Authorization: `Bearer ${secret('plain')}`, Connection: 'close'});
	for (const answer of await Promise.all([1, 2, 3, 4].map(status))) {
		t.is(answer.status, 200);
	}

	const look = async () => {
		const processes = await descendants(program.child.pid ?? 0);
		t.true(processes.some(({shown}) => shown.includes('postgres -D')));
		const workers = processes.filter(({shown}) => shown.includes('NODE_UNIQUE_ID='));
		t.is(workers.length, 2);
		t.true(workers.every(({shown}) => shown.includes('IDP_API_KEY_FILE=')));
		for (const {shown} of processes) {
			t.false(shown.includes('3f9a'), shown);
		}

		return workers;
	};
	const [worker] = await look();
	// Its successor gets what was read at the start, whatever the file has become.
	await writeFile(path.join(DATA_DIR, 'idp'), '');
	process.kill(worker?.pid ?? 0, 'SIGKILL');
	await program.printed(/another one takes its place[\s\S]*"msg":"ready"/);
	await look();
	program.child.kill('SIGTERM');
	t.is(await program.ended, 0);
});
