import {randomBytes, randomUUID} from 'node:crypto';
import {appendFile, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {createDrain} from '../../src/clicks/journal/drain.ts';
import {type Entry, encodeEntry} from '../../src/clicks/journal/entry.ts';
import {decodeFrames, encodeFrame} from '../../src/clicks/journal/frame.ts';
import {encodeSection} from '../../src/clicks/journal/section.ts';
import {segmentPath} from '../../src/clicks/journal/segments.ts';
import {mintMatchToken, type OpenMatch} from '../../src/clicks/open-match.ts';
import type {Click} from '../../src/clicks/record-click.ts';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {openDatabaseLine} from '../helpers/cut-off.ts';
import {createTestDatabase} from '../helpers/database.ts';
import {createFakeClock, startService, storedRows, type TestService} from '../helpers/service.ts';

let service: TestService;
test.before(async () => {
	service = await startService();
});
test.after.always(() => service?.stop());

const at = new Date('2026-03-10T12:00:00.000Z');
const later = (seconds: number): Date => new Date(at.getTime() + seconds * 1000);

const hash = (): string => randomBytes(16).toString('hex');

const matchOf = (visitor: OpenMatch['visitor'] = null, deviceModel: string | null = 'iPhone15,2'): OpenMatch => ({
	token: mintMatchToken(at),
	windowHours: 1,
	network: {ipKey: hash(), netKey: hash()},
	signals: {platform: 'ios', osVersion: null, deviceModel, language: 'en', timezone: null},
	visitor,
});

const clickOn = (owner: {id: string}, linkId: string, more: Partial<Click> = {}): Click => ({
	organizationId: owner.id,
	linkId,
	channel: null,
	platform: 'ios',
	os: 'iOS',
	osVersion: '17.5.1',
	browser: 'Safari',
	deviceModel: null,
	language: 'en',
	timezone: null,
	referrerHost: null,
	country: null,
	botClass: null,
	match: matchOf(),
	...more,
});

const frameOf = (entries: Entry[]): Buffer => encodeFrame(encodeSection(entries));

/** A journal that a process left behind. */
const leftBehind = async (t: ExecutionContext, frames: Buffer[]) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-journal-'));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	await writeFile(segmentPath(folder, 0), Buffer.concat(frames));
	const journal = randomUUID();
	let refused = 0;
	const drainOf = () => {
		const {db, clickPartitions} = service.services;
		return createDrain({db, clickPartitions, folder, journal, onRefused: () => (refused += 1)});
	};
	const drain = async (one = drainOf()) => {
		while (await one.step()) {
			// Until nothing is left.
		}
	};
	return {folder, journal, drain, drainOf, refused: () => refused};
};

const entry = (click: Click, time = at): Entry => encodeEntry(click, time);

const countOf = async (owner: {id: string}): Promise<number> => {
	const [row] = await service.services.db('click_counts').where({organization_id: owner.id});
	return Number(row?.clicks ?? 0);
};

test('a frame that is torn or damaged ends what is read, and what stood before it is whole', (t) => {
	const [first, second] = [encodeFrame('one\n'), encodeFrame('two …\n')];
	const read = (bytes: Buffer) => {
		const {payloads, end} = decodeFrames(bytes);
		return {payloads: payloads.map(String), end};
	};
	const both = Buffer.concat([first, second]);
	t.deepEqual(read(both), {payloads: ['one\n', 'two …\n'], end: both.length});
	for (let length = first.length; length < both.length; length += 1) {
		t.deepEqual(read(both.subarray(0, length)), {payloads: ['one\n'], end: first.length});
	}

	for (let index = first.length; index < both.length; index += 1) {
		const damaged = Buffer.from(both);
		damaged[index] = (damaged[index] ?? 0) ^ 1;
		t.deepEqual(read(damaged).payloads, ['one\n']);
	}
});

test('a journal with a torn end is drained to it, and goes on where a second file goes on', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const left = await leftBehind(t, [frameOf([entry(clickOn(acme, id))]), frameOf([entry(clickOn(acme, id))])]);
	await appendFile(segmentPath(left.folder, 0), frameOf([entry(clickOn(acme, id))]).subarray(0, 100));
	await writeFile(segmentPath(left.folder, 1), frameOf([entry(clickOn(acme, id))]));
	await left.drain();
	t.is((await storedRows(service, 'clicks', {link_id: id})).length, 3);
	t.is(await countOf(acme), 3);
});

test('of a journal that nothing was brought from nothing has to be waited for', async (t) => {
	const drain = (await leftBehind(t, [])).drainOf();
	t.false(await drain.step());
	t.true(drain.isSecure());
	t.true(await drain.secure());
});

test('what a browser says is kept to the letter, whatever PostgreSQL takes it for', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const odd = 'a\tb\\N\\.\n\r"…\u{1F600}';
	const left = await leftBehind(t, [frameOf([entry(clickOn(acme, id, {browser: odd, os: '\\N', channel: ''}))])]);
	await left.drain();
	const [row] = await storedRows(service, 'clicks', {link_id: id});
	t.like(row, {browser: odd, os: '\\N', channel: '', device_model: null});
});

test('two processes that drain one journal at once bring each click once', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const frames = Array.from({length: 40}, () => frameOf(Array.from({length: 100}, () => entry(clickOn(acme, id)))));
	const left = await leftBehind(t, frames);
	await Promise.all([left.drain(), left.drain(), left.drain()]);
	await left.drain();
	t.is((await storedRows(service, 'clicks', {link_id: id})).length, 4000);
	t.is((await storedRows(service, 'match_clicks', {link_id: id})).length, 4000);
	t.is(await countOf(acme), 4000);
});

test('what a crash of PostgreSQL takes back is brought again, and nothing else', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const {db} = service.services;
	const first = entry(clickOn(acme, id));
	const left = await leftBehind(t, [frameOf([first])]);
	const drain = left.drainOf();
	const bring = async () => {
		await appendFile(segmentPath(left.folder, 0), frameOf([entry(clickOn(acme, id)), entry(clickOn(acme, id))]));
		await left.drain(drain);
	};
	await left.drain(drain);
	t.true(await drain.secure());
	const [held] = await db('click_journals').where({id: left.journal});
	await bring();
	t.false(drain.isSecure());

	await db('match_clicks').where({link_id: id}).whereNot({id: first.id}).delete();
	await db('clicks').where({link_id: id}).whereNotIn('id', db('match_clicks').select('id')).delete();
	await db('click_counts').where({organization_id: acme.id}).update({clicks: 1});
	await db('click_journals').where({id: left.journal}).update({segment: held.segment, position: held.position});
	t.false(await drain.secure());
	t.deepEqual(drain.position(), {segment: held.segment, position: Number(held.position)});
	await left.drain(drain);
	t.true(await drain.secure());
	await bring();
	t.is((await storedRows(service, 'clicks', {link_id: id})).length, 5);
	t.is((await storedRows(service, 'match_clicks', {link_id: id})).length, 5);
	t.is(await countOf(acme), 5);
});

test('a click that PostgreSQL refuses is left out, and holds up no other', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const known = entry(clickOn(acme, id));
	const good = () => entry(clickOn(acme, id));
	// The table of matches takes three platforms.
	const one = good();
	const bad = {...one, match: one.match.replaceAll('\tios\t', '\ttoaster\t')};
	const left = await leftBehind(t, [
		frameOf([good(), known]),
		frameOf([good(), bad, good()]),
		frameOf([known, good()]),
	]);
	await left.drain();
	t.is(left.refused(), 2);
	t.is((await storedRows(service, 'clicks', {link_id: id})).length, 5);
	t.is(await countOf(acme), 5);
});

test('clicks of a link that was deleted meanwhile count and open no match; those of an organization are left out', async (t) => {
	const [acme, gone] = [await organization(service), await organization(service)];
	const [kept, deleted, orphan] = [await link(acme), await link(acme), await link(gone)];
	const left = await leftBehind(t, [
		frameOf([kept, deleted].map(({id}) => entry(clickOn(acme, id))).concat(entry(clickOn(gone, orphan.id)))),
	]);
	await admin(service).delete(`/admin/organizations/${acme.id}/links/${deleted.id}`);
	await admin(service).put(`/admin/organizations/${gone.id}/plan`, {plan: null});
	t.is((await admin(service).delete(`/admin/organizations/${gone.id}`)).status, 200);
	await left.drain();
	t.is(left.refused(), 0);
	t.is((await storedRows(service, 'clicks', {organization_id: acme.id})).length, 2);
	t.deepEqual(
		(await storedRows(service, 'match_clicks', {organization_id: acme.id})).map((row) => row.link_id),
		[kept.id],
	);
	t.is(await countOf(acme), 2);
	t.deepEqual(await storedRows(service, 'clicks', {organization_id: gone.id}), []);
});

test('the visits of one person that come in one batch are one open match, with the last token and all that was told', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const visitor = hash();
	const [first, second, last] = [
		matchOf({hash: visitor, isReturning: false}),
		matchOf({hash: visitor, isReturning: true}, null),
		matchOf({hash: visitor, isReturning: true}, null),
	];
	const left = await leftBehind(t, [
		frameOf([first, second, last].map((match, index) => entry(clickOn(acme, id, {match}), later(index)))),
	]);
	await left.drain();
	const rows = await storedRows(service, 'match_clicks', {link_id: id});
	t.is(rows.length, 1);
	t.is(rows[0].ip_key.toString('hex'), last.network.ipKey);
	t.is(rows[0].device_model, 'iPhone15,2');
	t.deepEqual(rows[0].created_at, later(2));
	t.is((await storedRows(service, 'clicks', {link_id: id})).length, 3);
});

test('visits of one person that are more than 10 minutes apart are two, also in one batch', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const visitor = {hash: hash(), isReturning: true};
	const visits = [0, 300, 1000].map((seconds) => entry(clickOn(acme, id, {match: matchOf(visitor)}), later(seconds)));
	const left = await leftBehind(t, [frameOf(visits)]);
	await left.drain();
	const rows = await storedRows(service, 'match_clicks', {link_id: id});
	t.deepEqual(rows.map((row) => row.created_at.getTime()).toSorted(), [later(300).getTime(), later(1000).getTime()]);
});

test('what earlier versions left in a journal is drained, its hashes cut to what the tables keep', async (t) => {
	const acme = await organization(service);
	const {id} = await link(acme);
	const [click, other, crawler] = [randomUUID(), randomUUID(), randomUUID()];
	const time = at.toISOString();
	const long = (letter: string) => letter.repeat(64);
	const clickRow = (own: string, bot: string) =>
		`${own}\t${time}\t${acme.id}\t${id}\t\\N\tios\tiOS\t17.5\tSafari\t\\N\ten\t\\N\t\\N\t\\N\t${bot}`;
	const matchRow = (own: string, token: string) =>
		`${randomUUID()}\t${acme.id}\t${id}\t\\\\x${long('a')}\tios\t17\t5\t\\N\tminor\t\\N\ten\t\\N\t${own}\t\\\\x${token}\t\\\\x${long('b')}\t\\\\x${long('c')}\t${time}\t${later(60).toISOString()}`;
	const payload = `c\t${clickRow(click, '\\N')}\nn\t${matchRow(click, long('1'))}\nb\t${clickRow(crawler, 'search-bot')}\nc\t${clickRow(other, '\\N')}\nr\t${matchRow(other, long('2'))}\n`;
	const summarized = randomUUID();
	const [clicks, opened] = [`${clickRow(summarized, '\\N')}\n`, `${matchRow(summarized, '3'.repeat(32))}\n`];
	const counts = [{organizationId: acme.id, month: '2026-03', clicks: 1, people: 1}];
	const summary = {clicks: clicks.length, opened: opened.length, returning: 0, counts, links: [id]};
	const left = await leftBehind(t, [
		encodeFrame(payload),
		encodeFrame(`${JSON.stringify(summary)}\n${clicks}${opened}`),
		frameOf([entry(clickOn(acme, id))]),
	]);
	await left.drain();
	t.is(left.refused(), 0);
	const kept = await storedRows(service, 'clicks', {link_id: id});
	t.is(kept.length, 5);
	t.like(
		kept.find((row) => row.id === summarized),
		{platform: 'ios', os_version: '17.5', browser: 'Safari', language: 'en', country: null, referrer_host: null},
	);
	t.is((await storedRows(service, 'match_clicks', {click_id: summarized})).length, 1);
	t.is(await countOf(acme), 4);
	const [row] = await storedRows(service, 'match_clicks', {click_id: other});
	const hex = ['visitor', 'token_hash', 'ip_key', 'net_key'].map((column) => row[column].toString('hex'));
	t.deepEqual(
		hex,
		['a', '2', 'b', 'c'].map((letter) => letter.repeat(32)),
	);
});

for (const [title, env] of [
	['that cannot be made', {DATA_DIR: '/dev/null/data'}],
	['that is full', {JOURNAL_MAX_MB: '0'}],
] as const) {
	test(`without a journal, for one ${title}, clicks are written to the database before the page is answered`, async (t) => {
		const own = await startService(env);
		t.teardown(() => own.stop());
		const acme = await organization(own);
		const {id, url} = await link(acme);
		const {text} = await anonymous(own).get(new URL(url).pathname);
		t.regex(text, /opl_\w{32}/);
		t.is((await own.services.db('match_clicks').where({link_id: id})).length, 1);
	});
}

test('where neither journal nor database can keep it, the page comes without a token, and the click is counted as lost', async (t) => {
	const database = await createTestDatabase();
	const {line: wire, url: through} = await openDatabaseLine(database.url);
	const own = await startService({DATA_DIR: '/dev/null/data'}, createFakeClock(), {...database, url: through});
	t.teardown(async () => {
		await wire.mend().catch(() => {});
		await own.stop();
		await wire.close();
	});
	const {url} = await link(await organization(own));
	const visitor = anonymous(own);
	await visitor.get(new URL(url).pathname);
	// Until it has heard itself for a while, a process cannot say that nobody else has written.
	while (!own.services.changes.isAlone()) {
		await turn();
	}

	await wire.cut();
	const {status, text} = await visitor.get(new URL(url).pathname);
	t.is(status, 200);
	t.false(text.includes('opl_'));
	t.is(own.services.clickJournal.figures().lost, 1);
});
