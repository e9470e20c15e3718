import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import test from 'ava';
import {closeDb, createDb} from '../../../src/platform/db/db.ts';
import {link, organization} from '../../helpers/builders.ts';
import {send} from '../../helpers/callers.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {dataDirectory} from '../../helpers/process.ts';
import {startProcess, visitMany} from '../../visits/clicks/_process.ts';

/** Every write of the process to a file fails as on a full disk, or works again. Pipes and sockets do not count as files. */
const setRoom = (pid: number, bytes: 0 | 'unlimited') =>
	promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);

test('with a full disk under the journal pages are served, clicks go to the database, and the journal returns with free space', async (t) => {
	const database = await createTestDatabase();
	const db = createDb(database.url);
	t.teardown(async () => {
		await closeDb(db);
		await database.drop();
	});
	const logged: string[] = [];
	const running = await startProcess(
		t,
		{DATABASE_URL: database.url, DATA_DIR: await dataDirectory(t), LOG_FORMAT: 'json'},
		(line) => logged.push(line),
	);
	const pid = running.child.pid ?? 0;
	const {url} = await link(await organization(running.asService));
	const target = new URL(new URL(url).pathname, running.url);
	const counted = async (figure: string): Promise<number> => {
		const {text} = await send(running.url, 'GET', '/metrics');
		return Number(new RegExp(`^oplink_click_journal_${figure} (.*)$`, 'm').exec(text)?.[1]);
	};
	const visit = (times: number) => visitMany(target, {connections: 4, continues: (answered) => answered < times});

	const before = await visit(20);
	await setRoom(pid, 0);
	const during = await visit(60);
	t.deepEqual(during.statuses, {200: during.sent});
	t.is(during.tokens.length, during.sent);
	t.is(await counted('direct_total'), during.sent);

	await setRoom(pid, 'unlimited');
	const loads = [before, during];
	// The journal is tried again each second.
	for (let direct = -1; direct !== (await counted('direct_total')); ) {
		direct = await counted('direct_total');
		loads.push(await visit(10));
	}

	t.is(await counted('lost_total'), 0);
	running.child.kill('SIGTERM');
	await running.ended;
	const sent = loads.reduce((sum, load) => sum + load.sent, 0);
	t.is((await db('clicks').select('id')).length, sent);
	t.is((await db('match_clicks').select('id')).length, sent);
	t.is(logged.filter((line) => line.includes('cannot write the click journal')).length, 1);
	const found = logged.filter(
		(line) => line.includes('"level":"error"') && !line.includes('cannot write the click journal'),
	);
	t.deepEqual(found, []);
});
