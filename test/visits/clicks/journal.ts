import {appendFile, readFile, rm, writeFile} from 'node:fs/promises';
import {setImmediate as turn} from 'node:timers/promises';
import test from 'ava';
import {damagedCopyPath, segmentPath} from '../../../src/visits/clicks/journal/files.ts';
import {decodeFrames, encodeFrame} from '../../../src/visits/clicks/journal/section.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {createFakeClock, serviceOf, startService, storedRows} from '../../helpers/service.ts';
import {linked, ownService} from '../_own.ts';
import {
	clickOn,
	contextOf,
	entry,
	frameOf,
	frameOn,
	hash,
	later,
	leftBehind,
	matchOf,
	storedOf,
	visitorHash,
} from './_left-behind.ts';

const service = serviceOf(test);

test('a torn or damaged frame ends the read, and earlier frames are complete', (t) => {
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

test('a journal is drained up to a torn end, and continues in the next file', async (t) => {
	const {acme, id} = await linked(service);
	const left = await leftBehind(t, service, [frameOn(acme, id), frameOn(acme, id)]);
	await appendFile(segmentPath(left.folder, 0), frameOn(acme, id).subarray(0, 100));
	await writeFile(segmentPath(left.folder, 1), frameOn(acme, id));
	await left.drain();
	t.deepEqual(await storedOf(service, acme, id), {clicks: 3, matches: 3, counted: 3});
});

test('frames behind a damaged one are drained, and its file is kept and logged with offset and length', async (t) => {
	const acme = await organization(service);
	// In the length, in the checksum, in the payload.
	for (const place of [5, 12, 60]) {
		const {id} = await link(acme);
		const frame = () => frameOn(acme, id);
		const [first, damaged, third, torn] = [frame(), frame(), frame(), frame().subarray(0, 100)];
		damaged[place] = (damaged[place] ?? 0) ^ 1;
		const left = await leftBehind(t, service, [first, damaged, third, torn]);
		await writeFile(segmentPath(left.folder, 1), frame());
		const bytes = await readFile(segmentPath(left.folder, 0));
		await left.drain();
		t.is((await storedRows(service, 'clicks', {link_id: id})).length, 3);
		const file = damagedCopyPath(left.folder, 0);
		t.like(left.logged(), {
			length: 2,
			0: {level: 50, file, offset: first.length, bytes: damaged.length},
			1: {level: 50, file, offset: first.length + damaged.length + third.length, bytes: 100},
		});
		await rm(left.folder, {recursive: true});
		t.deepEqual(await readFile(file), bytes);
	}
});

test('a torn end of a dead process is kept before its journal is removed', async (t) => {
	const {acme, id} = await linked(service);
	const whole = frameOn(acme, id);
	const left = await leftBehind(t, service, [whole, whole.subarray(0, 50)]);
	const cursors = left.cursorsOf();
	await left.drain(cursors);
	t.deepEqual(left.logged(), []);
	cursors.reportRest();
	t.like(left.logged()[0], {offset: whole.length, bytes: 50, file: damagedCopyPath(left.folder, 0)});
});

test('browser texts are stored verbatim, whatever they mean to PostgreSQL', async (t) => {
	const {acme, id} = await linked(service);
	const odd = 'a\tb\\N\\.\n\r"…\u{1F600}';
	const utm = {utmSource: null, utmMedium: null, utmCampaign: null, utmContent: null, utmTerm: null};
	const texts = {context: contextOf({browser: odd, os: '\\N'}), campaign: {channel: '', ...utm}};
	await (await leftBehind(t, service, [frameOf([entry(clickOn(acme, id, texts))])])).drain();
	const [row] = await storedRows(service, 'clicks', {link_id: id});
	t.like(row, {browser: odd, os: '\\N', channel: '', device_model: null});
});

test('two processes that drain one journal at once bring each click once', async (t) => {
	const {acme, id} = await linked(service);
	const frames = Array.from({length: 40}, () => frameOf(Array.from({length: 100}, () => entry(clickOn(acme, id)))));
	const left = await leftBehind(t, service, frames);
	await Promise.all([left.drain(), left.drain(), left.drain()]);
	await left.drain();
	t.deepEqual(await storedOf(service, acme, id), {clicks: 4000, matches: 4000, counted: 4000});
});

test('clicks that a failover of PostgreSQL lost are drained again, and no others', async (t) => {
	const {acme, id} = await linked(service);
	const {db} = service.services;
	const first = entry(clickOn(acme, id));
	const left = await leftBehind(t, service, [frameOf([first])]);
	const cursors = left.cursorsOf();
	const bring = async () => {
		await appendFile(segmentPath(left.folder, 0), frameOf([entry(clickOn(acme, id)), entry(clickOn(acme, id))]));
		await left.drain(cursors);
	};
	await left.drain(cursors);
	const [held] = await db('click_journals').where({id: left.journal});
	await bring();

	await db('match_clicks').where({link_id: id}).whereNot({id: first.id}).delete();
	await db('clicks').where({link_id: id}).whereNotIn('id', db('match_clicks').select('id')).delete();
	await db('click_counts').where({organization_id: acme.id}).update({clicks: 1});
	await db('click_journals').where({id: left.journal}).update({segment: held.segment, position: held.position});
	await bring();
	t.deepEqual(await storedOf(service, acme, id), {clicks: 5, matches: 5, counted: 5});
});

test('a click that PostgreSQL refuses is left out, and holds up no other', async (t) => {
	const {acme, id} = await linked(service);
	const good = () => entry(clickOn(acme, id));
	const known = good();
	// The table of matches takes three platforms.
	const one = good();
	const bad = {...one, match: one.match.replaceAll('\tios\t', '\ttoaster\t')};
	const batches = [frameOf([good(), known]), frameOf([good(), bad, good()]), frameOf([known, good()])];
	const left = await leftBehind(t, service, batches);
	await left.drain();
	t.is(left.refused(), 2);
	t.deepEqual(await storedOf(service, acme, id), {clicks: 5, matches: 5, counted: 5});
});

test('clicks of a link that was deleted meanwhile count and open no match; those of an organization are left out', async (t) => {
	const [acme, gone] = [await organization(service), await organization(service)];
	const [kept, deleted, orphan] = [await link(acme), await link(acme), await link(gone)];
	const clicks = [clickOn(acme, kept.id), clickOn(acme, deleted.id), clickOn(gone, orphan.id)];
	const left = await leftBehind(t, service, [frameOf(clicks.map((click) => entry(click)))]);
	await acme.operator.delete(`/links/${deleted.id}`);
	await gone.operator.put('/plan', {plan: null});
	t.is((await admin(service).delete(`/admin/organizations/${gone.id}`)).status, 200);
	await left.drain();
	t.is(left.refused(), 0);
	t.deepEqual(await storedOf(service, acme, kept.id), {clicks: 1, matches: 1, counted: 2});
	t.deepEqual(await storedOf(service, acme, deleted.id), {clicks: 1, matches: 0, counted: 2});
	t.deepEqual(await storedRows(service, 'clicks', {organization_id: gone.id}), []);
});

test('visits of one person in one batch are one open match, with the last token and all signals', async (t) => {
	const {acme, id} = await linked(service);
	const visitor = visitorHash();
	const first = matchOf({hash: visitor, isReturning: false});
	const again = () => ({...matchOf({hash: visitor, isReturning: true}, null), network: first.network});
	const visits = [first, again(), again()].map((match, index) => entry(clickOn(acme, id, {match}), later(index)));
	await (await leftBehind(t, service, [frameOf(visits)])).drain();
	const [row] = await storedRows(service, 'match_clicks', {link_id: id});
	t.is(row.ip_key.toString('hex'), first.network.ipKey);
	t.is(row.device_model, 'iPhone15,2');
	t.deepEqual(row.created_at, later(2));
	t.deepEqual(await storedOf(service, acme, id), {clicks: 3, matches: 1, counted: 3});
});

test('visits of one person that are more than 10 minutes apart are two, also in one batch', async (t) => {
	const {acme, id} = await linked(service);
	const visitor = {hash: hash(), isReturning: true};
	const {network} = matchOf(visitor);
	const visits = [0, 300, 1000].map((seconds) =>
		entry(clickOn(acme, id, {match: {...matchOf(visitor), network}}), later(seconds)),
	);
	await (await leftBehind(t, service, [frameOf(visits)])).drain();
	const rows = await storedRows(service, 'match_clicks', {link_id: id});
	t.deepEqual(rows.map(({created_at: seen}) => seen).toSorted(), [later(300), later(1000)]);
});

for (const [title, env] of [
	['that cannot be made', {DATA_DIR: '/dev/null/data'}],
	['that is full', {JOURNAL_MAX_MB: '0'}],
] as const) {
	test(`without a journal, for one ${title}, clicks are written to the database before the page is answered`, async (t) => {
		const own = await ownService(t, env);
		const {id, url} = await linked(own);
		const {text} = await anonymous(own).get(new URL(url).pathname);
		t.regex(text, /opl_\w{32}/);
		t.is((await own.services.db('match_clicks').where({link_id: id})).length, 1);
	});
}

test('if neither journal nor database can store the click, the page has no token and the click counts as lost', async (t) => {
	const database = await createTestDatabase();
	const {line: wire, url: through} = await openDatabaseLine(database.url);
	const own = await startService({DATA_DIR: '/dev/null/data'}, createFakeClock(), {...database, url: through});
	t.teardown(async () => {
		await wire.mend().catch(() => {});
		await own.stop();
		await wire.close();
	});
	const {url} = await linked(own);
	const visitor = anonymous(own);
	await visitor.get(new URL(url).pathname);
	// A process cannot know that nobody else has written until it has heard its own heartbeat for a while.
	while (!own.services.changes.isAlone()) {
		await turn();
	}

	await wire.cut();
	const {status, text} = await visitor.get(new URL(url).pathname);
	t.is(status, 200);
	t.false(text.includes('opl_'));
	t.is(own.services.clickJournal.figures().lost, 1);
});
