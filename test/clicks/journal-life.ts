import test from 'ava';
import {pino} from 'pino';
import {type ClickJournal, createClickJournal} from '../../src/clicks/journal/click-journal.ts';
import type {RawClicks} from '../../src/clicks/journal/raw-clicks.ts';
import {link, organization} from '../helpers/builders.ts';
import {dataDirectory} from '../helpers/process.ts';
import {serviceOf} from '../helpers/service.ts';
import {at, clickOn} from './_left-behind.ts';

const service = serviceOf(test);

/** A store of raw clicks that is not there. */
const away: RawClicks = {
	store: async () => {
		throw new Error('ClickHouse is away');
	},
};

const logged = () => {
	const lines: Array<{level: number; msg: string}> = [];
	return {lines, log: pino({base: null}, {write: (line: string) => lines.push(JSON.parse(line))})};
};

const keep = (journal: ClickJournal, click: Parameters<ClickJournal['record']>[0]): Promise<boolean> =>
	new Promise((resolve) => journal.record(click, at, resolve));

test('who asks for clicks of a process that has stopped and could not drain them gets 503', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const {db, clickPartitions} = service.services;
	const {lines, log} = logged();
	const journal = createClickJournal({
		db,
		log,
		clickPartitions,
		dataDir: await dataDirectory(t),
		maxBytes: 2 ** 20,
		clicksOfOthers: null,
		raw: away,
	});
	await journal.start();
	t.true(await keep(journal, clickOn(acme, id)));
	await journal.close();
	await t.throwsAsync(journal.settledHere([], true), {message: 'The service is stopping'});
	t.false(lines.some(({msg}) => msg.includes('again')));
});
