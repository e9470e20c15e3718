import {spawnSync} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, readdir, rm, symlink, writeFile} from 'node:fs/promises';
import {hostname} from 'node:os';
import path from 'node:path';
import {mock} from 'node:test';
import {setImmediate as turn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {pino} from 'pino';
import {type ClickJournal, createClickJournal} from '../../src/clicks/journal/click-journal.ts';
import type {RawClicks} from '../../src/clicks/journal/entry-store.ts';
import {journalRoot} from '../../src/clicks/journal/journal-folder.ts';
import {segmentPath} from '../../src/clicks/journal/segments.ts';
import {link, organization} from '../helpers/builders.ts';
import {dataDirectory} from '../helpers/process.ts';
import {serviceOf} from '../helpers/service.ts';
import {at, clickOn, countOf, entry, frameOf} from './_left-behind.ts';

const service = serviceOf(test);

/** A store of raw clicks that is not there. */
const away: RawClicks = {
	store: async () => {
		throw new Error('ClickHouse is away');
	},
};

/** Makes journals of processes of one machine, and collects what they log. */
const machine = async (t: ExecutionContext) => {
	const dataDir = await dataDirectory(t);
	const lines: Array<{level: number; msg: string}> = [];
	const log = pino({base: null}, {write: (line: string) => lines.push(JSON.parse(line))});
	const {db, clickPartitions} = service.services;
	const journalOf = (raw: RawClicks): ClickJournal =>
		createClickJournal({db, log, clickPartitions, dataDir, maxBytes: 2 ** 20, clicksOfOthers: null, raw});
	return {root: await journalRoot(db, dataDir), lines, journalOf};
};

/** The folder of a dead process's journal. */
const leave = async (root: string): Promise<string> => {
	const folder = path.join(root, randomUUID());
	await mkdir(folder, {recursive: true});
	await writeFile(path.join(folder, 'owner'), JSON.stringify({host: hostname(), pid: spawnSync('true').pid}));
	return folder;
};

const keep = (journal: ClickJournal, click: Parameters<ClickJournal['record']>[0]): Promise<boolean> =>
	new Promise((resolve) => journal.record(click, at, resolve));

/** Moves the monotonic clock as a process sees it that stood still. Not back: a monotonic clock never goes there. */
const standStill = (): void => {
	const now = performance.now.bind(performance);
	mock.method(performance, 'now', () => now() + 70_000);
};

/** Starts a journal whose maintenance runs when the test says so. @returns what runs it once. */
const startByHand = async (journal: ClickJournal): Promise<() => void> => {
	const works: Array<() => void> = [];
	const {mock: replaced} = mock.method(globalThis, 'setInterval', (work: () => void, milliseconds: number) => {
		works.push(work);
		return setTimeout(() => {}, milliseconds);
	});
	await journal.start();
	replaced.restore();
	return () => {
		for (const work of works) {
			work();
		}
	};
};

for (const when of ['before', 'during']) {
	test.serial(
		`a process that stood still ${when} its heartbeat, while another drained and removed its journal, loses no click`,
		async (t) => {
			const acme = await organization(service);
			const {id} = await link(acme);
			const {root, lines, journalOf} = await machine(t);
			const journal = journalOf({store: async () => {}});
			const maintain = await startByHand(journal);
			t.true(await keep(journal, clickOn(acme, id)));
			await journal.settledHere([], true);
			const [paused = ''] = await readdir(root);
			const dead = await leave(root);
			for (const step of when === 'before' ? [standStill, maintain] : [maintain, standStill]) {
				step();
			}

			// After the heartbeat the process drains what others left.
			while (existsSync(dead)) {
				await turn();
			}

			await rm(path.join(root, paused), {recursive: true, force: true});
			t.true(await keep(journal, clickOn(acme, id)));
			await journal.settledHere([], true);
			t.is(await countOf(service, acme), 2);
			await journal.close();
			t.deepEqual(
				lines.map(({level, msg}) => ({level, msg})).filter(({level}) => level > 30),
				[{level: 50, msg: 'starting a new click journal'}],
			);
		},
	);
}

test('who asks for clicks of a process that has stopped and could not drain them gets 503', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const {lines, journalOf} = await machine(t);
	const journal = journalOf(away);
	await journal.start();
	t.true(await keep(journal, clickOn(acme, id)));
	await journal.close();
	await t.throwsAsync(journal.settledHere([], true), {message: 'The service is stopping'});
	t.false(lines.some(({msg}) => msg.includes('again')));
});

test("a dead process's journal that cannot be drained holds up no other, and ClickHouse no clicks in the tables", async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const {root, lines, journalOf} = await machine(t);
	const unreadable = await leave(root);
	await symlink(segmentPath(unreadable, 0), segmentPath(unreadable, 0));
	for (const _ of [1, 2]) {
		await writeFile(segmentPath(await leave(root), 0), frameOf([entry(clickOn(acme, id))]));
	}

	const first = journalOf(away);
	await first.start();
	t.is(await countOf(service, acme), 2);
	t.deepEqual(
		lines.map(({level, msg}) => ({level, msg})).filter(({level}) => level > 30),
		[{level: 40, msg: 'some journals of dead processes could not be drained'}],
	);
	await first.close();
	t.is((await readdir(root)).length, 3);

	const second = journalOf({store: async () => {}});
	await second.start();
	await second.close();
	t.deepEqual(await readdir(root), [path.basename(unreadable)]);
	t.is(await countOf(service, acme), 2);
});

test('a journal that another process drains and removes at the same time is no failure', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const {root, lines, journalOf} = await machine(t);
	const folder = await leave(root);
	await writeFile(segmentPath(folder, 0), frameOf([entry(clickOn(acme, id))]));
	const journal = journalOf({store: () => rm(folder, {recursive: true})});
	await journal.start();
	await journal.close();
	t.deepEqual(await readdir(root), []);
	t.deepEqual(
		lines.filter(({level}) => level > 30),
		[],
	);
});
