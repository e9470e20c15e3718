import test from 'ava';
import {exampleAppConfig, link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {startService, type TestService} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {open, userAgents} from './_phones.ts';

let service: TestService;

test.serial.before(async () => {
	service = await startService();
});
test.after.always(async () => {
	await service?.stop();
});

const simulate = async (service: TestService, {id}: TestOrganization, body: object = {}) => {
	const answer = await admin(service).post(`/admin/organizations/${id}/matches/simulate`, body);
	return answer.status === 200 ? answer.body : answer;
};

test('an iPhone that taps and opens the app a minute later is matched by the token of its clipboard', async (t) => {
	const {acme, id, url} = await linked(service, {path: '/sale', params: {coupon: 'A1'}});
	const {tap, open: opened, answer, attempt, ...rest} = await simulate(service, acme);
	t.deepEqual(rest, {link: {id, url, deferredDeepLinking: true}});
	t.is(tap.headers['user-agent'], userAgents.iPhone);
	t.deepEqual(tap.leaves, {clipboard: true, referrer: false});
	t.is(Date.parse(opened.at) - Date.parse(tap.at), 60_000);
	t.regex(opened.body.clipboardToken, /^opl_[A-Za-z0-9]{32}$/);
	t.deepEqual(answer, {
		matched: true,
		matchMethod: 'CLIPBOARD',
		matchConfidence: 'exact',
		linkId: id,
		path: '/sale',
		params: {coupon: 'A1'},
	});
	t.like(attempt, {matched: true, method: 'CLIPBOARD', linkId: id, organizationId: acme.id});
	t.false('id' in attempt);
});

test('an Android phone is matched by the referrer that the store received', async (t) => {
	const acme = await organization(service);
	await link(acme);
	const {tap, open: opened, answer} = await simulate(service, acme, {platform: 'Android'});
	t.is(tap.headers['user-agent'], userAgents.android);
	t.deepEqual(tap.leaves, {clipboard: true, referrer: true});
	t.like(opened.body, {osVersion: '14', deviceModel: 'Pixel 8', clipboardToken: undefined});
	t.is(answer.matchMethod, 'INSTALL_REFERRER');
});

/** Each with an app that reads no token. */
const guesses: Array<[title: string, body: object, expected: object]> = [
	['the same address', {}, {method: 'FINGERPRINT_EXACT', confidence: 'high', score: 100}],
	[
		'the same address, half an hour later',
		{delaySeconds: 1800},
		{method: 'FINGERPRINT_EXACT', confidence: 'medium', score: 94},
	],
	['another address of its network', {network: 'nearby'}, {method: 'FINGERPRINT_SCORED', confidence: 'low', score: 99}],
	['the same IPv6 network', {network: 'ipv6'}, {method: 'FINGERPRINT_EXACT', confidence: 'high'}],
	['another network', {network: 'other'}, {method: 'NONE', reason: 'no_click', candidates: []}],
	['IPv4 after IPv6', {network: 'dual-stack'}, {method: 'NONE', reason: 'no_click'}],
	[
		'the same address, without signals of the page',
		{beacon: false},
		{method: 'FINGERPRINT_SCORED', confidence: 'high', score: 100},
	],
	['the same address, two days later', {delaySeconds: 48 * 3600}, {method: 'NONE', reason: 'outside_window'}],
	['Safari 26, which hides its version', {osVersion: '26.1'}, {method: 'FINGERPRINT_EXACT', score: 100}],
	['an iPad, which says it is a Mac', {deviceModel: 'iPad14,5'}, {method: 'FINGERPRINT_SCORED'}],
	['Android, whose page reports the model', {platform: 'Android', referrer: false}, {method: 'FINGERPRINT_EXACT'}],
	[
		'Android, without signals of the page',
		{platform: 'Android', referrer: false, beacon: false},
		{method: 'FINGERPRINT_SCORED', confidence: 'high', score: 100},
	],
];
for (const [title, body, expected] of guesses) {
	test(`without a token, from ${title}: ${JSON.stringify(expected)}`, async (t) => {
		const acme = await organization(service);
		await link(acme);
		const {attempt} = await simulate(service, acme, {clipboard: false, ...body});
		t.like(attempt, expected);
	});
}

test('the token is of use for as long as the link says, and a link that has expired by then matches nothing', async (t) => {
	const {acme, ...short} = await linked(service, {matchWindowHours: 1});
	const late = {linkId: short.id, delaySeconds: 3601};
	t.like((await simulate(service, acme, late)).attempt, {matched: false, reason: 'outside_window'});
	t.true((await simulate(service, acme, {...late, delaySeconds: 3599})).answer.matched);
	const expiry = new Date(service.clock.now().getTime() + 600_000).toISOString();
	const ending = await link(acme, {expiry});
	const {attempt} = await simulate(service, acme, {linkId: ending.id, delaySeconds: 601});
	t.like(attempt, {matched: false, reason: 'ruled_out', candidates: [{ruledOut: 'link_not_live'}]});
});

test('what the organization allows binds a simulation', async (t) => {
	const acme = await organization(service, {appConfig: {...exampleAppConfig, probabilisticMatching: false}});
	await link(acme);
	t.is((await simulate(service, acme, {clipboard: false})).attempt.reason, 'guesses_off');
	t.is((await simulate(service, acme)).answer.matchMethod, 'CLIPBOARD');
});

test('a page that has nothing to tap leaves no token', async (t) => {
	const {acme, ...plain} = await linked(service, {deferredDeepLinking: false});
	const {tap, open: opened, attempt} = await simulate(service, acme, {linkId: plain.id});
	t.deepEqual(tap.leaves, {clipboard: false, referrer: false});
	t.is(tap.signals, null);
	t.is(opened.body.clipboardToken, undefined);
	t.is(attempt.reason, 'no_click');
	const androidOnly = await organization(service, {appConfig: {android: exampleAppConfig.android}});
	await link(androidOnly);
	const {tap: onIphone, answer} = await simulate(service, androidOnly);
	t.deepEqual(onIphone.leaves, {clipboard: false, referrer: false});
	t.is(answer.matchMethod, 'FINGERPRINT_EXACT');
});

test.serial('nothing is left of a simulation, and nothing is consumed', async (t) => {
	const acme = await organization(service);
	await link(acme);
	const tables = ['clicks', 'click_counts', 'match_clicks', 'match_attempts', 'match_peppers', 'devices', 'audit_log'];
	const rows = () =>
		Promise.all(tables.map(async (table) => [table, await service.services.db(table).count({rows: '*'})]));
	const before = await rows();
	const {answer, open: opened} = await simulate(service, acme, {delaySeconds: 8 * 24 * 3600 - 1});
	t.false(answer.matched);
	t.true((await simulate(service, acme)).answer.matched);
	t.deepEqual(await rows(), before);
	t.deepEqual((await open(service, opened.ip, {clipboardToken: opened.body.clipboardToken})).body, {
		matched: false,
		matchMethod: 'NONE',
	});
	const stats = await admin(service).get(`/admin/organizations/${acme.id}/stats`);
	t.deepEqual(stats.body.totals, {clicks: 0, crawlerViews: 0, matches: 0, events: 0});
});

test('simulations at the same time do not see each other', async (t) => {
	const {acme, id} = await linked(service);
	const all = await Promise.all(Array.from({length: 12}, () => simulate(service, acme, {clipboard: false})));
	for (const {attempt} of all) {
		t.like(attempt, {method: 'FINGERPRINT_EXACT', linkId: id});
		t.is(attempt.candidates.length, 1);
	}
});

test.serial('the link is named by id or short code, or it is the newest that is deferred', async (t) => {
	const {acme, ...first} = await linked(service, {shortCode: 'first'});
	service.clock.advance(1);
	const second = await link(acme);
	service.clock.advance(1);
	await link(acme, {deferredDeepLinking: false});
	t.is((await simulate(service, acme)).link.id, second.id);
	t.is((await simulate(service, acme, {shortCode: 'first'})).link.id, first.id);
	t.is((await simulate(service, acme, {linkId: first.id})).link.id, first.id);
});

test('what cannot be played is refused', async (t) => {
	const acme = await organization(service);
	const other = await link(await organization(service));
	const none = await simulate(service, acme);
	t.is(none.status, 404);
	t.is(none.body.message, 'The organization has no deferred link');
	t.is((await simulate(service, acme, {linkId: other.id})).status, 404);
	t.is((await simulate(service, acme, {shortCode: 'nowhere'})).status, 404);
	const gone = await link(acme, {isActive: false});
	t.is((await simulate(service, acme, {linkId: gone.id})).status, 410);
	const faults = await simulate(service, acme, {
		platform: 'Windows',
		osVersion: 'seventeen',
		language: 'not a tag',
		timezone: 'Mars/Olympus',
		network: 'mesh',
		delaySeconds: -1,
		unknown: true,
	});
	t.is(faults.status, 400);
	t.deepEqual(faults.body.details.map(({field}: {field: string}) => field).toSorted(), [
		'delaySeconds',
		'language',
		'network',
		'osVersion',
		'platform',
		'timezone',
		'unknown',
	]);
	t.regex((await simulate(service, acme, {referrer: true})).text, /iOS has no install referrer/);
	t.is((await simulate(service, acme, {linkId: gone.id, shortCode: 'x'})).status, 400);
});

test('simulations that are the first of their week do not wait for each other in a circle', async (t) => {
	for (let round = 0; round < 3; round += 1) {
		const fresh = await startService();
		try {
			const acme = await organization(fresh);
			const [deferred, plain] = [await link(acme), await link(acme, {deferredDeepLinking: false})];
			const answers = await Promise.all(
				Array.from({length: 6}, (_, index) =>
					simulate(fresh, acme, {linkId: index % 2 === 0 ? deferred.id : plain.id}),
				),
			);
			t.deepEqual(
				answers.map(({answer}) => answer?.matched),
				[true, false, true, false, true, false],
			);
		} finally {
			await fresh.stop();
		}
	}
});
