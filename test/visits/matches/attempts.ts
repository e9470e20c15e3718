import test from 'ava';
import {organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {clicked, device, iPhoneApp, network, open, visit} from './_phones.ts';

const service = serviceOf(test);

const pageOf = async ({operator}: TestOrganization, query = '') => (await operator.get(`/matches${query}`)).body;
const attemptsOf = async (acme: TestOrganization) => (await pageOf(acme)).data;

test('a match is kept with its signals, and with the probability of every candidate and of nobody', async (t) => {
	const acme = await organization(service);
	const place = network();
	const {link: sale, token} = await clicked(service, acme, place(1));
	const {link: other} = await clicked(service, acme, place(2), {path: '/other'});
	await visit(service, other, place(1), {language: 'fr-FR', timezone: null});
	await open(service, place(1), device('device-0001'), acme);
	const {data, total, page, limit} = await pageOf(acme);
	t.deepEqual([total, page, limit, data.length], [1, 1, 20, 1]);
	const [{id, ...attempt}] = data;
	const probabilities = [...attempt.candidates, attempt.nobody].map(({probability}) => probability);
	t.true(Math.abs(probabilities.reduce((sum, one) => sum + one, 0) - 1) < 1e-9);
	const at = service.clock.now().toISOString();
	const candidate = (linkId: string, score: number, points: object) => ({
		linkId,
		clickedAt: at,
		score,
		probability: probabilities[linkId === sale.id ? 0 : 1],
		alike: 0,
		compared: 0,
		points: {ip: 40, network: 0, platform: 5, deviceModel: 0, osVersion: 15, ...points},
		ruledOut: null,
	});
	t.deepEqual(attempt, {
		at,
		organizationId: acme.id,
		deviceId: 'device-0001',
		matched: true,
		method: 'FINGERPRINT_EXACT',
		confidence: 'medium',
		score: 92,
		linkId: sale.id,
		reason: null,
		signals: {...iPhoneApp, network: 'IPv4', clipboardToken: 'absent', installReferrer: 'absent', apiKey: true},
		candidates: [
			candidate(sale.id, 92, {timezone: 15, language: 10}),
			candidate(other.id, 7, {timezone: 0, language: -10}),
		],
		nobody: {probability: probabilities[2], tokenless: 1, made: 2},
	});
	const one = await admin(service).get(`/admin/organizations/${acme.orgKey}/matches/${id}`);
	t.deepEqual([one.status, one.body], [200, data[0]]);
	const {rows} = await service.services.db.raw('SELECT CAST(match_attempts AS text) AS text FROM match_attempts');
	t.false(rows.some(({text}: {text: string}) => text.includes(String(token)) || text.includes(place(1))));
});

test.serial('a miss by a token says what became of its click, for the organization of its link', async (t) => {
	const acme = await organization(service);
	const click = (body = {}) => clicked(service, acme, network()(1), body);
	const [consumed, expired, gone] = [await click(), await click({matchWindowHours: 1}), await click()];
	await open(service, network()(1), {clipboardToken: consumed.token, deviceId: 'device-0001'});
	await acme.server.patch(`/links/${gone.link.id}`, {isActive: false});
	service.clock.advance(3600);
	for (const [{link, token}, expected, ruledOut] of [
		[consumed, 'consumed', 'consumed'],
		[expired, 'outside_window', 'outside_window'],
		[gone, 'ruled_out', 'link_not_live'],
	] as const) {
		await open(service, network()(1), {installReferrer: token});
		service.clock.advance(1);
		const [attempt] = await attemptsOf(acme);
		const signals = {clipboardToken: 'absent', installReferrer: 'known'};
		const miss = {matched: false, method: 'NONE', confidence: null, score: null, linkId: null};
		t.like(attempt, {...miss, reason: expected, signals, candidates: {0: {linkId: link.id, ruledOut}}});
	}
});

test('a miss without a key or a known token is nobody’s', async (t) => {
	const acme = await organization(service);
	const place = network();
	await clicked(service, acme, place(1));
	await open(service, place(1), {...iPhoneApp, platform: 'Android', clipboardToken: `opl_${'x'.repeat(32)}`});
	t.is((await pageOf(acme)).total, 0);
	const rows = await service.services.db('match_attempts').whereNull('organization_id');
	t.true(rows.some(({signals, reason: why}) => signals.clipboardToken === 'unknown' && why === 'ruled_out'));
});

test('a trace shows its reader nothing of other organizations', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const place = network();
	const own = await clicked(service, acme, place(1));
	const foreign = await clicked(service, globex, place(1));
	await open(service, network()(1), {clipboardToken: foreign.token, deviceId: 'device-globex'});
	await open(service, place(1), {...iPhoneApp, clipboardToken: foreign.token}, acme);
	await clicked(service, globex, place(1));
	await open(service, place(1), {...iPhoneApp, clipboardToken: foreign.token, osVersion: '12'}, acme);
	const shown = (await attemptsOf(acme)).map(({candidates}: {candidates: Array<{linkId: string}>}) =>
		candidates.map(({linkId}) => linkId),
	);
	t.deepEqual(shown, [[own.link.id], [own.link.id]]);
});

test.serial('attempts are paged newest first, and one of another organization is 404', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	for (const deviceId of ['device-0001', 'device-0002', 'device-0003']) {
		await open(service, network()(1), {deviceId}, acme);
		service.clock.advance(1);
	}

	const operator = admin(service);
	const second = await pageOf(acme, '?limit=2&page=2');
	t.like(second, {total: 3, page: 2, limit: 2, data: {length: 1, 0: {deviceId: 'device-0001'}}});
	const [{id}] = second.data;
	t.is((await globex.operator.get(`/matches/${id}`)).status, 404);
	t.is((await acme.operator.get('/matches/nothing')).status, 400);
	t.is((await operator.get('/admin/organizations/zz99/matches')).status, 404);
});

test('a match registers the device with its link, a miss only with a key', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const {link: sale, token} = await clicked(service, acme, network()(1));
	await open(service, network()(1), {...iPhoneApp, clipboardToken: token, deviceId: 'device-matched'});
	await open(service, network()(1), device('device-missed'), globex);
	await open(service, network()(1), device('device-nobodys'));
	const {db} = service.services;
	const devices = await db('devices').whereIn('organization_id', [acme.id, globex.id]).orderBy('device_id');
	const phone = {platform: 'iOS', device_model: 'iPhone15,2'};
	t.like(devices, [
		{organization_id: acme.id, device_id: 'device-matched', matched_link_id: sale.id, ...phone},
		{organization_id: globex.id, device_id: 'device-missed', matched_link_id: null, ...phone},
	]);
	t.is(devices.length, 2);
});
