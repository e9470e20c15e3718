import {spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {readdirSync, rmSync} from 'node:fs';
import {mkdir, readdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {pino} from 'pino';
import {type ClickJournal, FileJournal} from '../../../src/visits/clicks/journal/click-journal.ts';
import {
	createJournalFolder,
	findAbandoned,
	journalRoot,
	segmentPath,
} from '../../../src/visits/clicks/journal/files.ts';
import type {ClickHouseRows} from '../../../src/visits/clicks/journal/store.ts';
import {dataDirectory} from '../../helpers/process.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {at, clickOn, countOf, frameOn} from './_left-behind.ts';

const service = serviceOf(test);

/** A ClickHouse that is down. */
const down: ClickHouseRows = {store: () => Promise.reject(new Error('ClickHouse is down'))};

/** A ClickHouse that takes all. */
const stored: ClickHouseRows = {store: async () => {}};

/** Makes journals of processes of one machine, and collects what they log. */
const machine = async (t: ExecutionContext) => {
	const dataDir = await dataDirectory(t);
	const lines: Array<{level: number; msg: string}> = [];
	const log = pino({base: null}, {write: (line: string) => lines.push(JSON.parse(line))});
	const {db, clickPartitions} = service.services;
	const journalOf = (clickHouse: ClickHouseRows): ClickJournal =>
		new FileJournal({db, log, clickPartitions, dataDir, maxBytes: 2 ** 20, otherProcesses: null, clickHouse});
	const warnings = () => lines.filter(({level}) => level > 30).map(({msg}) => msg);
	return {root: await journalRoot(db, dataDir), lines, warnings, journalOf};
};

/** The folder of a dead process's journal */
const leave = async (root: string): Promise<string> => {
	const folder = path.join(root, randomUUID());
	await mkdir(folder, {recursive: true});
	return folder;
};

const keep = (journal: ClickJournal, click: Parameters<ClickJournal['record']>[0]): Promise<boolean> =>
	new Promise((resolve) => journal.record(click, at, resolve));

test('who asks for clicks of a process that has stopped and could not drain them gets 503', async (t) => {
	const {acme, id} = await linked(service);
	const {lines, journalOf} = await machine(t);
	const journal = journalOf(down);
	await journal.start();
	t.true(await keep(journal, clickOn(acme, id)));
	await journal.close();
	await t.throwsAsync(journal.flushed({sink: 'clickHouse', scope: 'process'}), {message: 'The service is stopping'});
	t.false(lines.some(({msg}) => msg.includes('again')));
});

test("a dead process's journal that cannot be drained holds up no other, and ClickHouse no clicks in the tables", async (t) => {
	const {acme, id} = await linked(service);
	const {root, warnings, journalOf} = await machine(t);
	const unreadable = await leave(root);
	await symlink(segmentPath(unreadable, 0), segmentPath(unreadable, 0));
	for (const _ of [1, 2]) {
		await writeFile(segmentPath(await leave(root), 0), frameOn(acme, id));
	}

	const first = journalOf(down);
	await first.start();
	t.is(await countOf(service, acme), 2);
	t.deepEqual(warnings(), ['some journals of dead processes could not be drained']);
	await first.close();
	t.is((await readdir(root)).length, 3);

	const second = journalOf(stored);
	await second.start();
	await second.close();
	t.deepEqual(await readdir(root), [path.basename(unreadable)]);
	t.is(await countOf(service, acme), 2);
});

test('processes of one DATA_DIR write journals of their own, and a start leaves those of living ones alone', async (t) => {
	const {acme, id} = await linked(service);
	const {root, lines, journalOf} = await machine(t);
	const journals = [journalOf(stored), journalOf(stored)];
	for (const journal of journals) {
		await journal.start();
		t.true(await keep(journal, clickOn(acme, id)));
	}

	t.is((await readdir(root)).length, 2);
	for (const journal of journals) {
		await journal.close();
	}

	t.is(await countOf(service, acme), 2);
	t.deepEqual(await readdir(root), []);
	t.false(lines.some(({msg}) => msg.includes('dead process')));
});

test('a journal is left to a process that stands still, until that is killed, wherever DATA_DIR is', async (t) => {
	const longPath = 'with-a-path-that-is-longer-than-the-address-of-a-socket-may-be'.repeat(2);
	const root = path.join(await dataDirectory(t), longPath);
	const folder = await leave(root);
	const listen = "require('net').createServer().listen('lock', () => console.log('locked'))";
	const owner = spawn(process.execPath, ['-e', listen], {cwd: folder});
	t.teardown(() => owner.kill('SIGKILL'));
	await once(owner.stdout, 'data');
	t.deepEqual(await findAbandoned(root), []);
	owner.kill('SIGSTOP');
	t.deepEqual(await findAbandoned(root), []);
	owner.kill('SIGKILL');
	await once(owner, 'exit');
	t.deepEqual(await findAbandoned(root), [folder]);
	const own = await createJournalFolder(root);
	t.deepEqual(await findAbandoned(root), [folder]);
	own.unlock();
	t.is((await findAbandoned(root)).length, 2);
});

test('a journal whose files somebody has removed is followed by a new one', async (t) => {
	const {acme, id} = await linked(service);
	const {root, warnings, journalOf} = await machine(t);
	const journal = journalOf(stored);
	await journal.start();
	t.true(await keep(journal, clickOn(acme, id)));
	// Before any drain.
	for (const file of readdirSync(root, {recursive: true, encoding: 'utf8'}).filter((name) => name.endsWith('.log'))) {
		rmSync(path.join(root, file));
	}

	await journal.flushed();
	t.true(await keep(journal, clickOn(acme, id)));
	await journal.flushed();
	t.is(await countOf(service, acme), 1);
	await journal.close();
	t.deepEqual(warnings(), ['click journal files disappeared; starting a new click journal']);
});
