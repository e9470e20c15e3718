import test from 'ava';
import {exampleAppConfig, link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked, statsOf} from '../_own.ts';
import {byClipboard, match, nothing, userAgents} from './_phones.ts';

const service = serviceOf(test);

const simulate = async ({operator}: TestOrganization, body: object = {}) => {
	const answer = await operator.post('/matches/simulate', body);
	return answer.status === 200 ? answer.body : answer;
};

test('an iPhone that taps and opens the app a minute later is matched by the token of its clipboard', async (t) => {
	const {acme, id, url} = await linked(service, {path: '/sale', params: {coupon: 'A1'}});
	const {tap, open: opened, answer, attempt, ...rest} = await simulate(acme);
	t.deepEqual(rest, {link: {id, url, deferredDeepLinking: true}});
	t.is(tap.headers['user-agent'], userAgents.iPhone);
	t.deepEqual(tap.leaves, {clipboard: true, referrer: false});
	t.is(Date.parse(opened.at) - Date.parse(tap.at), 60_000);
	t.regex(opened.body.clipboardToken, /^opl_[A-Za-z0-9]{32}$/);
	t.deepEqual(answer, {...byClipboard, linkId: id, path: '/sale', params: {coupon: 'A1'}});
	t.like(attempt, {matched: true, method: 'CLIPBOARD', linkId: id, organizationId: acme.id});
	t.false('id' in attempt);
});

test('an Android phone is matched by the referrer that the store received', async (t) => {
	const {acme} = await linked(service);
	const {tap, open: opened, answer} = await simulate(acme, {platform: 'Android'});
	t.is(tap.headers['user-agent'], userAgents.android);
	t.deepEqual(tap.leaves, {clipboard: true, referrer: true});
	t.like(opened.body, {osVersion: '14', deviceModel: 'Pixel 8', clipboardToken: undefined});
	t.is(answer.matchMethod, 'INSTALL_REFERRER');
});

const [exact, scored] = [{method: 'FINGERPRINT_EXACT'}, {method: 'FINGERPRINT_SCORED'}];
const none = {method: 'NONE', reason: 'no_click', candidates: {length: 0}};
const surelyScored = {...scored, confidence: 'high', score: 100};
const android = {platform: 'Android', referrer: false};

/** Each with an app that reads no token. */
const guesses: Array<[title: string, body: object, expected: object]> = [
	['the same address', {}, {...exact, confidence: 'high', score: 100}],
	['the same address, half an hour later', {delaySeconds: 1800}, {...exact, confidence: 'medium', score: 94}],
	['another address of its network', {network: 'nearby'}, {...scored, confidence: 'low', score: 99}],
	['the same IPv6 network', {network: 'ipv6'}, {...exact, confidence: 'high'}],
	['another network', {network: 'other'}, none],
	['IPv4 after IPv6', {network: 'dual-stack'}, none],
	['the same address, without signals of the page', {beacon: false}, surelyScored],
	['the same address, two days later', {delaySeconds: 48 * 3600}, {method: 'NONE', reason: 'outside_window'}],
	['Safari 26, which hides its version', {osVersion: '26.1'}, {...exact, score: 100}],
	['an iPad, which says it is a Mac', {deviceModel: 'iPad14,5'}, scored],
	['Android, whose page reports the model', android, exact],
	['Android, without signals of the page', {...android, beacon: false}, surelyScored],
];
for (const [title, body, expected] of guesses) {
	test(`without a token, from ${title}: ${JSON.stringify(expected)}`, async (t) => {
		const {acme} = await linked(service);
		const {attempt} = await simulate(acme, {clipboard: false, ...body});
		t.like(attempt, expected);
	});
}

test('the token is of use for as long as the link says, and a link that has expired by then matches nothing', async (t) => {
	const {acme, ...short} = await linked(service, {matchWindowHours: 1});
	const late = {linkId: short.id, delaySeconds: 3601};
	t.like((await simulate(acme, late)).attempt, {matched: false, reason: 'outside_window'});
	t.true((await simulate(acme, {...late, delaySeconds: 3599})).answer.matched);
	const expiry = new Date(service.clock.now().getTime() + 600_000).toISOString();
	const ending = await link(acme, {expiry});
	const {attempt} = await simulate(acme, {linkId: ending.id, delaySeconds: 601});
	t.like(attempt, {matched: false, reason: 'ruled_out', candidates: [{ruledOut: 'link_not_live'}]});
});

test('what the organization allows binds a simulation', async (t) => {
	const acme = await organization(service, {appConfig: {...exampleAppConfig, probabilisticMatching: false}});
	await link(acme);
	t.is((await simulate(acme, {clipboard: false})).attempt.reason, 'guesses_off');
	t.is((await simulate(acme)).answer.matchMethod, 'CLIPBOARD');
});

test('a page that has nothing to tap leaves no token', async (t) => {
	const {acme, ...plain} = await linked(service, {deferredDeepLinking: false});
	const {tap, open: opened, attempt} = await simulate(acme, {linkId: plain.id});
	t.like(tap, {leaves: {clipboard: false, referrer: false}, signals: null});
	t.is(opened.body.clipboardToken, undefined);
	t.is(attempt.reason, 'no_click');
	const androidOnly = await organization(service, {appConfig: {android: exampleAppConfig.android}});
	await link(androidOnly);
	const {tap: onIphone, answer} = await simulate(androidOnly);
	t.deepEqual(onIphone.leaves, {clipboard: false, referrer: false});
	t.is(answer.matchMethod, 'FINGERPRINT_EXACT');
});

test.serial('nothing is left of a simulation, and nothing is consumed', async (t) => {
	const {acme} = await linked(service);
	const tables = ['clicks', 'click_counts', 'match_clicks', 'match_attempts', 'match_peppers', 'devices', 'audit_log'];
	const rows = () =>
		Promise.all(tables.map(async (table) => [table, await service.services.db(table).count({rows: '*'})]));
	const before = await rows();
	const {answer, open: opened} = await simulate(acme, {delaySeconds: 8 * 24 * 3600 - 1});
	t.false(answer.matched);
	t.true((await simulate(acme)).answer.matched);
	t.deepEqual(await rows(), before);
	t.deepEqual(await match(service, opened.ip, {clipboardToken: opened.body.clipboardToken}), nothing);
	t.deepEqual((await statsOf(service, acme)).totals, {clicks: 0, crawlerViews: 0, matches: 0, events: 0});
});

test('simulations at the same time do not see each other', async (t) => {
	const {acme, id} = await linked(service);
	const all = await Promise.all(Array.from({length: 12}, () => simulate(acme, {clipboard: false})));
	for (const {attempt} of all) {
		t.like(attempt, {...exact, linkId: id, candidates: {length: 1}});
	}
});

test.serial('the link is named by id or short code, or it is the newest that is deferred', async (t) => {
	const {acme, ...first} = await linked(service, {shortCode: 'first'});
	service.clock.advance(1);
	const second = await link(acme);
	service.clock.advance(1);
	await link(acme, {deferredDeepLinking: false});
	t.is((await simulate(acme)).link.id, second.id);
	t.is((await simulate(acme, {shortCode: 'first'})).link.id, first.id);
	t.is((await simulate(acme, {linkId: first.id})).link.id, first.id);
});

test('what cannot be played is refused', async (t) => {
	const acme = await organization(service);
	const other = await linked(service);
	t.like(await simulate(acme), {status: 404, body: {message: 'The organization has no deferred link'}});
	t.is((await simulate(acme, {linkId: other.id})).status, 404);
	t.is((await simulate(acme, {shortCode: 'nowhere'})).status, 404);
	const gone = await link(acme, {isActive: false});
	t.is((await simulate(acme, {linkId: gone.id})).status, 410);
	const unreadable = {platform: 'Windows', osVersion: 'seventeen', language: 'not a tag', timezone: 'Mars/Olympus'};
	const faults = await simulate(acme, {...unreadable, network: 'mesh', delaySeconds: -1, unknown: true});
	t.is(faults.status, 400);
	const fields: string[] = faults.body.details.map(({field}: {field: string}) => field);
	t.is(fields.toSorted().join(), 'delaySeconds,language,network,osVersion,platform,timezone,unknown');
	t.regex((await simulate(acme, {referrer: true})).text, /iOS has no install referrer/);
	t.is((await simulate(acme, {linkId: gone.id, shortCode: 'x'})).status, 400);
});

test.serial('simulations that are the first of their week do not wait for each other in a circle', async (t) => {
	const {acme, id} = await linked(service);
	const {id: plain} = await link(acme, {deferredDeepLinking: false});
	for (let round = 0; round < 3; round += 1) {
		service.clock.advance(7 * 24 * 3600);
		const linkIds = [id, plain, id, plain, id, plain];
		const answers = await Promise.all(linkIds.map((linkId) => simulate(acme, {linkId})));
		t.is(answers.map(({answer}) => answer?.matched).join(), 'true,false,true,false,true,false');
	}
});
