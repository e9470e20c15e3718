import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {untilAwaited} from '../../helpers/database.ts';
import {createFakeClock, serviceOf} from '../../helpers/service.ts';
import {linked, statsOf} from '../_own.ts';
import {clicked, iPhoneApp, match, network, nothing, open, tapped, visit} from './_phones.ts';

const service = serviceOf(test);
/** One that is always in this process: tests move its clock, in turn, or look inside. */
const own = serviceOf(test, {}, createFakeClock());

test('a token matches exactly, from any network: bare, among parameters, percent-encoded and in a copied URL', async (t) => {
	const acme = await organization(service);
	for (const [field, method, wrap] of [
		['clipboardToken', 'CLIPBOARD', (token: string) => token],
		['installReferrer', 'INSTALL_REFERRER', (token: string) => token],
		['installReferrer', 'INSTALL_REFERRER', (token: string) => `utm_source=x&match_token=${token}&a=b`],
		['installReferrer', 'INSTALL_REFERRER', (token: string) => encodeURIComponent(`match_token=${token}&a=b`)],
		['clipboardToken', 'CLIPBOARD', (token: string) => `https://go.example/AB12/sale#${token}`],
	] as const) {
		const {link: sale, token} = await clicked(service, acme, network()(1));
		const found = {matched: true, matchMethod: method, matchConfidence: 'exact', linkId: sale.id};
		const answer = await match(service, network()(1), {[field]: wrap(token ?? '')});
		t.deepEqual(answer, {...found, path: '/sale', params: {}});
	}
});

test('the clipboard is tried before the referrer, and the referrer where the clipboard holds something else', async (t) => {
	const acme = await organization(service);
	const [first, second] = [await clicked(service, acme, network()(1)), await clicked(service, acme, network()(1))];
	const both = {clipboardToken: first.token, installReferrer: second.token};
	for (const [deviceId, matchMethod, linkId] of [
		['device-both', 'CLIPBOARD', first.link.id],
		['device-both', 'CLIPBOARD', first.link.id],
		['device-other', 'INSTALL_REFERRER', second.link.id],
	] as const) {
		t.like(await match(service, network()(1), {...both, deviceId}), {matchMethod, linkId}, deviceId);
	}
});

test('an unknown token falls through to the fingerprint', async (t) => {
	const {address, link: sale} = await tapped(service);
	const answer = await match(service, address, {...iPhoneApp, clipboardToken: `opl_${'x'.repeat(32)}`});
	t.like(answer, {matched: true, matchMethod: 'FINGERPRINT_EXACT', linkId: sale.id});
});

test.serial('who asks again within 30 s gets its answer, uncounted, others none; later nobody does', async (t) => {
	const {acme, link: sale, token} = await tapped(own);
	const request = {clipboardToken: token, deviceId: 'device-0001'};
	const first = await open(own, network()(1), request);
	t.like(first.body, {matched: true, linkId: sale.id});
	own.clock.advance(29);
	t.deepEqual(await match(own, network()(1), request), first.body);
	t.deepEqual(await match(own, network()(1), {...request, deviceId: 'device-0002'}), nothing);
	own.clock.advance(2);
	t.deepEqual(await match(own, network()(1), request), nothing);
	const {totals, breakdowns} = await statsOf(own, acme);
	t.is(totals.matches, 1);
	t.deepEqual(breakdowns.matchMethod, [{key: 'CLIPBOARD', count: 1}]);
});

test('a device without an id is known again by its address and what it says of itself', async (t) => {
	const acme = await organization(service);
	const place = network();
	const {token} = await clicked(service, acme, network()(1));
	const first = await open(service, place(1), {...iPhoneApp, clipboardToken: token});
	t.true(first.body.matched);
	t.deepEqual(await match(service, place(1), iPhoneApp), first.body);
	t.deepEqual(await match(service, place(2), iPhoneApp), nothing);
	t.deepEqual(await match(service, place(1), {...iPhoneApp, osVersion: '17.6'}), nothing);
});

test('within the grace the token of another open click wins over the repeated answer', async (t) => {
	const acme = await organization(service);
	const [first, second] = [await clicked(service, acme, network()(1)), await clicked(service, acme, network()(1))];
	const device = {deviceId: 'device-tokens'};
	t.is((await match(service, network()(1), {...device, clipboardToken: first.token})).linkId, first.link.id);
	t.is((await match(service, network()(1), {...device, clipboardToken: second.token})).linkId, second.link.id);
});

/** The answers to apps that ask at once, each from an address of its own. */
const atOnce = (token: string | null, devices: string[]) => {
	const place = network();
	return Promise.all(
		devices.map((deviceId, index) => open(service, place(index + 1), {clipboardToken: token, deviceId})),
	);
};

test('of 25 first opens at once with one token, one is matched', async (t) => {
	const {token} = await tapped(service);
	const devices = Array.from({length: 25}, (_, index) => `parallel-${index}`);
	const answers = await atOnce(token, devices);
	t.is(answers.filter(({body}) => body.matched).length, 1);
	t.true(answers.every(({status}) => status === 200));
});

test('the same device asking 10 times at once gets 10 equal answers', async (t) => {
	const {token} = await tapped(service);
	const answers = await atOnce(token, Array(10).fill('device-eager'));
	t.is(new Set(answers.map(({text}) => text)).size, 1);
	t.true(answers[0]?.body.matched);
});

test.serial('a token lives as long as its link says, to the second', async (t) => {
	const sale = await linked(own, {matchWindowHours: 2});
	const [first, second] = [await visit(own, sale, network()(1)), await visit(own, sale, network()(1))];
	own.clock.advance(2 * 3600 - 1);
	t.true((await match(own, network()(1), {clipboardToken: first.token})).matched);
	own.clock.advance(1);
	t.deepEqual(await match(own, network()(1), {clipboardToken: second.token}), nothing);
});

test.serial('a link deactivated, expired or deleted after the click is not matched, nor a suspended one', async (t) => {
	const acme = await organization(own);
	const expiry = new Date(own.clock.now().getTime() + 60_000).toISOString();
	const click = (body = {}) => clicked(own, acme, network()(1), body);
	const [inactive, expired, deleted, suspended] = [await click(), await click({expiry}), await click(), await click()];
	await acme.server.patch(`/links/${inactive.link.id}`, {isActive: false});
	await acme.server.delete(`/links/${deleted.link.id}`);
	own.clock.advance(60);
	for (const {token} of [inactive, expired, deleted]) {
		t.deepEqual(await match(own, network()(1), {clipboardToken: token}), nothing);
	}

	await admin(own).post(`/admin/organizations/${acme.id}/suspend`);
	t.deepEqual(await match(own, network()(1), {clipboardToken: suspended.token}), nothing);
	await admin(own).post(`/admin/organizations/${acme.id}/activate`);
	t.true((await match(own, network()(1), {clipboardToken: suspended.token})).matched);
});

test('a token needs no key, and a key of another organization does not stop it', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const {link: sale, token} = await clicked(service, acme, network()(1));
	t.is((await match(service, network()(1), {clipboardToken: token}, globex)).linkId, sale.id);
});

test('a match by token is recorded at once, and after the answer with what a guess would have answered', async (t) => {
	const {acme, address, link: sale, token} = await tapped(own);
	await open(own, address, {...iPhoneApp, clipboardToken: token, deviceId: 'device-graded'});
	const row = async () => (await own.services.db('match_attempts').where({organization_id: acme.id}))[0];
	t.like(await row(), {method: 'CLIPBOARD', score: null, link_id: sale.id, device_id: 'device-graded'});
	const [device] = await own.services.db('devices').where({organization_id: acme.id});
	t.is(device.matched_link_id, sale.id);
	await own.services.background.settle();
	const {silent_guess: silentGuess, candidates} = await row();
	t.deepEqual(silentGuess, {method: 'FINGERPRINT_EXACT', confidence: 'high', score: 100, linkId: sale.id});
	t.like(candidates[0], {linkId: sale.id, score: 100, ruledOut: null});
});

test.serial('a match of an organization deleted meanwhile keeps no other match from being graded', async (t) => {
	const {db, background} = own.services;
	const [first, gone, acme] = [await organization(own), await organization(own), await organization(own)];
	const match = async (owner: typeof acme) => {
		const address = network()(1);
		const {token} = await clicked(own, owner, address);
		await open(own, address, {...iPhoneApp, clipboardToken: token, deviceId: 'device-graded'});
	};
	const blocker = await db.transaction();
	await blocker.raw('LOCK TABLE counted_phones');
	await match(first);
	// Until the first match is graded, after which the other two are together.
	await untilAwaited(blocker);
	await match(gone);
	await match(acme);
	await blocker('organizations').where({id: gone.id}).delete();
	await blocker.commit();
	await background.settle();
	const {guesses} = await statsOf(own, acme, 'guesses=true');
	t.deepEqual(guesses, [{confidence: 'high', graded: 1, correct: 1}]);
	t.is((await db('counted_phones').where({organization_id: acme.id})).length, 1);
});

test.serial('a first open shows whether its neighbours have equal phones, by token and by guess', async (t) => {
	const acme = await organization(own);
	for (const withToken of [true, false]) {
		const address = network()(1);
		await clicked(own, acme, address);
		const {token} = await clicked(own, acme, address);
		await open(own, address, {...iPhoneApp, ...(withToken ? {clipboardToken: token} : {})}, acme);
	}

	await own.services.background.settle();
	const rows = await own.services.db('counted_phones').where({organization_id: acme.id}).orderBy('slot');
	const shown = rows.map(({matched, neighbours}) => `${matched} ${neighbours}`);
	t.deepEqual(shown, ['token 1', 'guess 1']);
	t.true(rows.every(({equal_neighbours: equal}) => equal > 0.5));
});

test.serial('where a token proves the link, the guess beside it is graded, by confidence', async (t) => {
	const acme = await organization(own);
	for (const isRight of [true, false]) {
		const address = network()(1);
		const far = await clicked(own, acme, network()(1));
		const near = await clicked(own, acme, address);
		const {token} = isRight ? near : far;
		await open(own, address, {...iPhoneApp, clipboardToken: token, deviceId: `device-${isRight}`}, acme);
	}

	await own.services.background.settle();
	const {guesses} = await statsOf(own, acme, 'guesses=true');
	t.deepEqual(guesses, [{confidence: 'high', graded: 2, correct: 1}]);
	const {text} = await admin(own).get('/metrics');
	for (const verdict of ['right', 'wrong']) {
		const labels = `organization="${acme.id}",confidence="high",verdict="${verdict}"`;
		t.true(text.includes(`oplink_guesses_graded_total{${labels}} 1`), text);
	}
});
