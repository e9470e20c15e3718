import test from 'ava';
import {applyRetention} from '../../../src/operations/jobs/retention.ts';
import {forgetExpiredMatches} from '../../../src/visits/matches/match-clicks.ts';
import {weekOf} from '../../../src/visits/matches/network-keys.ts';
import {link, organization} from '../../helpers/builders.ts';
import {serviceOf, storedRows} from '../../helpers/service.ts';
import {linked, ownService} from '../_own.ts';
import {clicked, device, iPhoneApp, match, network, nothing, open, tapped, visit} from './_phones.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

const service = serviceOf(test);

/** For tests of what is cleared or deleted, which run one after another: nothing of one before. */
const withoutRows = async () => {
	const {background, clickJournal, db} = service.services;
	await background.settle();
	await clickJournal.flushed();
	for (const table of ['match_clicks', 'match_attempts', 'counted_phones']) {
		await db(table).delete();
	}

	return service.services;
};
const rowsOf = (linkId: string) => storedRows(service, 'match_clicks', {link_id: linkId});
const clean = async () => {
	await service.services.clickJournal.flushed();
	return forgetExpiredMatches(service.services.db, service.clock.now());
};
const forgetAttempts = async () => {
	const [unowned = 0, misses = 0, cleared, phones] = await applyRetention(
		service.services.db,
		service.clock.now(),
		'forget_attempts',
	);
	return {deleted: unowned + misses, cleared, phones};
};
const personal = ['ip_key', 'net_key', 'device_model', 'timezone', 'browser', 'visitor', 'consumed_by'];

test('addresses are kept as keyed hashes, and no User-Agent or language list', async (t) => {
	const address = network()(77);
	const {link: sale} = await clicked(service, await organization(service), address);
	const [row] = await rowsOf(sale.id);
	t.is(row.ip_key.length, 16);
	const {rows} = await service.services.db.raw(
		`SELECT string_agg(match_clicks::text, '') || (SELECT string_agg(clicks::text, '') FROM clicks)
			|| (SELECT string_agg(click_contexts::text, '') FROM click_contexts) AS text FROM match_clicks`,
	);
	t.false(rows[0].text.includes(address) || rows[0].text.includes('AppleWebKit'));
});

test.serial('personal data is cleared at the end of the window, and the row is deleted 30 days later', async (t) => {
	await withoutRows();
	const {acme, link: short} = await tapped(service, {matchWindowHours: 1});
	const {link: long} = await clicked(service, acme, network()(1), {matchWindowHours: 720});
	t.deepEqual(await clean(), {forgotten: 0, deleted: 0});
	service.clock.advance(HOUR);
	t.deepEqual(await clean(), {forgotten: 1, deleted: 0});
	t.deepEqual(await clean(), {forgotten: 0, deleted: 0});
	const [[cleared], [kept]] = [await rowsOf(short.id), await rowsOf(long.id)];
	t.true(personal.every((column) => cleared[column] === null));
	t.not(kept.ip_key, null);
	service.clock.advance(30 * DAY - 1);
	t.like(await clean(), {deleted: 0});
	service.clock.advance(1);
	t.like(await clean(), {deleted: 1});
	t.deepEqual(await rowsOf(short.id), []);
	t.is((await rowsOf(long.id)).length, 1);
});

test.serial('a matched click is cleared a day after its match', async (t) => {
	await withoutRows();
	const {link: sale, token} = await tapped(service);
	await open(service, network()(1), {clipboardToken: token});
	service.clock.advance(DAY - 1);
	t.like(await clean(), {forgotten: 0});
	service.clock.advance(1);
	t.like(await clean(), {forgotten: 1});
	const [row] = await rowsOf(sale.id);
	t.true(personal.every((column) => row[column] === null));
});

test.serial('signals are kept for 90 days: a miss is deleted, a match anonymous, also after a crash', async (t) => {
	await withoutRows();
	const {acme, link: sale, token} = await tapped(service);
	await open(service, network()(1), {...iPhoneApp, deviceId: 'device-of-old', clipboardToken: token});
	await open(service, network()(1), device('device-of-nobody'), acme);
	const {token: second} = await clicked(service, acme, network()(1));
	await open(service, network()(1), {...device('device-of-a-crash'), clipboardToken: second});
	const {db} = service.services;
	const attempts = () => db('match_attempts').where({organization_id: acme.id});
	await service.services.background.settle();
	t.is((await attempts()).length, 3);
	// As if a crash had lost the candidates, which a match by token gets after its answer.
	await attempts().where({device_id: 'device-of-a-crash'}).update({candidates: '[]', nobody: null, silent_guess: null});
	const phones = await db('counted_phones').where({organization_id: acme.id}).orderBy('matched').select('matched');
	t.deepEqual(phones, [{matched: 'token'}, {matched: 'token'}, {matched: null}]);
	service.clock.advance(89 * DAY);
	t.deepEqual(await forgetAttempts(), {deleted: 0, cleared: 0, phones: 0});
	service.clock.advance(DAY);
	t.deepEqual(await forgetAttempts(), {deleted: 1, cleared: 2, phones: 3});
	t.deepEqual(await forgetAttempts(), {deleted: 0, cleared: 0, phones: 0});
	const [kept, lost, ...others] = await attempts().orderByRaw('link_id = ? DESC', [sale.id]);
	t.deepEqual(others, []);
	t.like(lost, {matched: true, device_id: null});
	const signals = {platform: null, deviceModel: null, timezone: null, clipboardToken: 'known'};
	t.like(kept, {matched: true, method: 'CLIPBOARD', link_id: sale.id, device_id: null});
	t.like(kept, {candidates: {length: 0}, signals});
	t.is((await acme.operator.get(`/matches/${kept.id}`)).status, 200);
});

test.serial('a miss that belongs to no organization is kept for a week', async (t) => {
	await withoutRows();
	await open(service, network()(1), device('device-of-none'));
	const {db} = service.services;
	t.is((await db('match_attempts').whereNull('organization_id')).length, 1);
	service.clock.advance(7 * DAY - 1);
	t.deepEqual(await forgetAttempts(), {deleted: 0, cleared: 0, phones: 0});
	service.clock.advance(1);
	t.deepEqual(await forgetAttempts(), {deleted: 1, cleared: 0, phones: 0});
});

test.serial('more rows than a batch are cleared in one run', async (t) => {
	await withoutRows();
	const {link: sale} = await clicked(service, await organization(service), network()(1), {matchWindowHours: 1});
	await service.services.clickJournal.flushed();
	await service.services.db.raw(
		`INSERT INTO match_clicks (id, click_id, organization_id, link_id, ip_key, created_at, expires_at)
		SELECT gen_random_uuid(), gen_random_uuid(), organization_id, link_id, ip_key, created_at, expires_at
		FROM match_clicks, generate_series(1, 2500) AS n`,
	);
	service.clock.advance(HOUR);
	t.like(await clean(), {forgotten: 2501});
	t.is((await storedRows(service, 'match_clicks', {link_id: sale.id, forgotten: false})).length, 0);
});

test.serial('the secret changes weekly; last week’s clicks are known, and older secrets are deleted', async (t) => {
	service.clock.advance(2 * 7 * DAY);
	await clean();
	const endOfWeek = (weekOf(service.clock.now()) + 1) * 7 * DAY * 1000;
	service.clock.set(new Date(endOfWeek - 10_000));
	const {acme, address, link: sale} = await tapped(service);
	const {token} = await clicked(service, acme, network()(1));
	const request = {clipboardToken: token, deviceId: 'device-of-two-weeks'};
	const first = await match(service, network()(1), request);
	service.clock.advance(20);
	const found = await match(service, address, device('device-of-week'));
	t.like(found, {matchMethod: 'FINGERPRINT_EXACT', linkId: sale.id});
	t.true(first.matched);
	t.deepEqual(await match(service, network()(1), request), first);
	t.is((await service.services.db('match_peppers')).length, 2);
	service.clock.advance(2 * 7 * DAY);
	await clean();
	t.deepEqual(await service.services.db('match_peppers'), []);
});

test.serial('who comes back within 10 minutes, and again, leaves one open click, with a new token', async (t) => {
	const sale = await linked(service);
	const address = network()(1);
	const first = await visit(service, sale, address);
	const attributes = /^oplink_visitor=[\w-]{22}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/;
	t.regex(String(first.answer.headers['set-cookie']), attributes);
	service.clock.advance(599);
	const second = await visit(service, sale, address, {headers: {Cookie: `a=b; ${first.cookie}`}});
	t.is(second.cookie, first.cookie);
	t.is((await rowsOf(sale.id)).length, 1);
	service.clock.advance(599);
	const third = await visit(service, sale, address, {headers: {Cookie: String(second.cookie)}});
	const rows = await rowsOf(sale.id);
	t.is(rows.length, 1);
	t.deepEqual(rows[0].created_at, service.clock.now());
	for (const {token} of [first, second]) {
		t.deepEqual(await match(service, network()(1), {clipboardToken: token}), nothing);
	}

	t.is((await match(service, network()(1), {clipboardToken: third.token})).linkId, sale.id);
	t.is((await storedRows(service, 'clicks', {link_id: sale.id})).length, 3);
});

test.serial('after 10 minutes or on another link it is a new click; a match closes those on its link', async (t) => {
	const acme = await organization(service);
	const [sale, other] = [await link(acme), await link(acme)];
	const address = network()(1);
	const first = await visit(service, sale, address);
	const headers = {Cookie: String(first.cookie)};
	service.clock.advance(600);
	const second = await visit(service, sale, address, {headers});
	await visit(service, other, address, {headers});
	const stranger = await visit(service, sale, address);
	t.is((await rowsOf(sale.id)).length, 3);
	t.is((await rowsOf(other.id)).length, 1);
	t.true((await match(service, network()(1), {clipboardToken: second.token})).matched);
	t.deepEqual(await match(service, network()(1), {clipboardToken: first.token}), nothing);
	t.true((await match(service, network()(1), {clipboardToken: stranger.token})).matched);
});

test('Sec-GPC: 1 gets no cookie and no beacon, and its token works', async (t) => {
	const sale = await linked(service);
	const known = await visit(service, sale, network()(1));
	const headers = {'Sec-GPC': '1', Cookie: String(known.cookie)};
	const {token, cookie, answer} = await visit(service, sale, network()(1), {headers});
	t.is(cookie, null);
	t.false(answer.text.includes(`/signals"`));
	t.is((await rowsOf(sale.id)).length, 2);
	t.true((await match(service, network()(1), {clipboardToken: token})).matched);
});

test('the cookie is Secure where links are https', async (t) => {
	const service = await ownService(t, {LINK_DOMAIN: 'go.example.test', PUBLIC_URL: 'http://localhost'});
	const sale = await linked(service);
	const {answer} = await visit(service, sale, network()(1), {headers: {Host: 'go.example.test'}});
	t.regex(String(answer.headers['set-cookie']), /; HttpOnly; Secure; SameSite=Lax$/);
});

test('a link that is not deferred sets no cookie and leaves no open click', async (t) => {
	const sale = await linked(service, {deferredDeepLinking: false});
	const {cookie, token} = await visit(service, sale, network()(1));
	t.deepEqual([cookie, token], [null, null]);
	t.deepEqual(await rowsOf(sale.id), []);
});
