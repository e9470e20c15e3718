import type {LiveEvent, RecentAnswer} from '../../src/cli/dashboard/figures.ts';

export const acme = {id: 'a3533b5c-067c-4cf0-bb33-ab5380975f70', orgKey: 'Ab12', name: 'Acme'};

export const status = {
	status: 'ok',
	version: '1.2.3',
	uptimeSeconds: 7300,
	checks: {database: 'ok', migrations: 'ok', redis: 'ok'},
	database: {mode: 'external', version: '16.4'},
};

const link = (id: string, shortCode: string, title: string | null) => ({id, shortCode, title});
const spring = link('link-1', 'spring', 'Spring sale');
const wide = link('link-2', 'ja', '春のセール 全品半額、今週末まで限定のお知らせ');
const family = link('link-3', 'fire', '👩‍👩‍👧 Hot\u001B[31m deals');

const eventOf = (type: LiveEvent['type'], id: string, at: string, more: object): LiveEvent =>
	({type, data: {id, at, organization: acme, ...more}}) as LiveEvent;

export const clickOf = (id: string, at: string, more: object = {}): LiveEvent =>
	eventOf('click', id, at, {link: spring, platform: 'ios', browser: 'Safari', country: 'DE', botClass: null, ...more});

const matched = {link: spring, matched: true, method: 'CLIPBOARD', confidence: 'exact', score: 100, reason: null};
const missed = {link: null, matched: false, method: 'NONE', confidence: null, score: null, reason: 'no_click'};

/** The last hour of a server at 12:00:05 UTC. */
export const recent: RecentAnswer = {
	at: '2026-03-10T12:00:05.000Z',
	perSecond: Array.from({length: 60}, (_, index) => index % 10),
	perMinute: Array.from({length: 60}, (_, index) => index * 20),
	crawlerViews: 3,
	events: 7,
	links: [
		{organization: acme, link: spring, count: 12_345},
		{organization: acme, link: wide, count: 800},
		{organization: acme, link: family, count: 12},
		{organization: acme, link: link('link-4', 'plain', null), count: 1},
	],
	platforms: [
		{key: 'ios', count: 9000},
		{key: 'android', count: 4000},
		{key: null, count: 158},
	],
	matches: [
		{key: 'CLIPBOARD', count: 40},
		{key: 'NONE', count: 4},
	],
	latest: [
		clickOf('c1', '2026-03-10T12:00:04.000Z'),
		clickOf('c2', '2026-03-10T12:00:03.000Z', {link: wide, platform: 'android', browser: 'Chrome', country: null}),
		clickOf('c3', '2026-03-10T12:00:03.000Z', {botClass: 'preview-crawler'}),
		eventOf('match', 'm1', '2026-03-10T12:00:02.000Z', matched),
		eventOf('match', 'm2', '2026-03-10T12:00:01.000Z', missed),
		eventOf('event', 'e1', '2026-03-10T11:59:00.000Z', {link: null, eventName: 'purchase', deviceId: 'd'}),
	],
};
