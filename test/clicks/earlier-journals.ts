import {randomUUID} from 'node:crypto';
import test from 'ava';
import {encodeFrame} from '../../src/clicks/journal/frame.ts';
import {link, organization} from '../helpers/builders.ts';
import {startService, storedRows, type TestService} from '../helpers/service.ts';
import {at, clickOn, countOf, entry, frameOf, later, leftBehind} from './_left-behind.ts';

let service: TestService;
test.before(async () => {
	service = await startService();
});
test.after.always(() => service?.stop());

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
	const left = await leftBehind(t, service, [
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
	t.is(await countOf(service, acme), 4);
	const [row] = await storedRows(service, 'match_clicks', {click_id: other});
	const hex = ['visitor', 'token_hash', 'ip_key', 'net_key'].map((column) => row[column].toString('hex'));
	t.deepEqual(
		hex,
		['a', '2', 'b', 'c'].map((letter) => letter.repeat(32)),
	);
});
