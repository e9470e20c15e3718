import {randomUUID} from 'node:crypto';
import test from 'ava';
import {createListener} from '../../../src/visits/reports/stream/click-stream-listener.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf, startService} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {iPhoneApp, network, open, userAgents} from '../matches/_phones.ts';
import {listen, type ReceivedEvent} from './_event-stream.ts';

const service = serviceOf(test);
test.serial.before(async () => {
	// Some tests store clicks themselves, with no visit before that would have made the month.
	await service.services.clickPartitions.ensure(service.clock.now());
});

const click = (url: string, userAgent = userAgents.iPhone) =>
	anonymous(service).get(new URL(url).pathname, {'User-Agent': userAgent});

const named = ({id, orgKey, name}: TestOrganization) => ({id, orgKey, name});

/** Rows as another process writes them: the service has not handled a request for them. */
const writeClicks = async (acme: TestOrganization, linkId: string, count: number): Promise<void> => {
	await service.services.db.raw(
		`INSERT INTO clicks (id, occurred_at, organization_id, link_id, context_id)
		SELECT gen_random_uuid(), at, :id, :linkId, keep_click_context(at, 'ios', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
		FROM CAST(:at AS timestamptz) AS at, generate_series(1, :count)`,
		{at: service.clock.now(), id: acme.id, linkId, count},
	);
};

test('a stream begins with the last hour, then sends each click once', async (t) => {
	const {acme, ...spring} = await linked(service, {title: 'Spring sale'});
	await click(spring.url);
	const {response, next, nextOf} = await listen(t, service, {query: `?orgId=${acme.id}`});
	t.is(response.statusCode, 200);
	t.like(response.headers, {
		'content-type': 'text/event-stream; charset=utf-8',
		'cache-control': 'no-store',
		'x-accel-buffering': 'no',
	});
	const subject = {organization: named(acme), link: {id: spring.id, shortCode: spring.shortCode, title: 'Spring sale'}};
	const {type, data: recent} = await next();
	t.is(type, 'recent');
	const {latest, ...figures} = recent;
	const at = service.clock.now().toISOString();
	t.deepEqual(figures, {
		at,
		perSecond: [...Array(59).fill(0), 1],
		perMinute: [...Array(59).fill(0), 1],
		crawlerViews: 0,
		events: 0,
		links: [{...subject, count: 1}],
		platforms: [{key: 'ios', count: 1}],
		matches: [],
	});
	const expected = {at, ...subject, platform: 'ios', browser: 'Safari', country: null, botClass: null};
	t.like(latest, [{type: 'click', data: expected}]);
	await click(spring.url);
	const first = await next();
	t.deepEqual(first, {type: 'click', data: {...expected, id: first.data.id}});
	t.not(first.data.id, latest[0].data.id);
	await click(spring.url, 'Twitterbot/1.0');
	t.is((await nextOf('click')).data.botClass, 'preview-crawler');
});

test('matches and events of apps are event types of their own', async (t) => {
	const acme = await organization(service);
	const {next} = await listen(t, service, {query: `?orgId=${acme.orgKey}`});
	await next();
	t.is((await acme.client.post('/sdk/session', {deviceId: 'device-0001'})).status, 200);
	t.is((await acme.client.post('/sdk/events', {deviceId: 'device-0001', eventName: 'purchase'})).status, 200);
	const common = {at: service.clock.now().toISOString(), organization: named(acme), link: null};
	const event = await next();
	const {id} = event.data;
	t.deepEqual(event, {type: 'event', data: {...common, id, eventName: 'purchase', deviceId: 'device-0001'}});
	t.is((await open(service, network()(1), iPhoneApp, acme)).status, 200);
	const match = await next();
	const miss = {matched: false, method: 'NONE', confidence: null, score: null, reason: 'no_click'};
	t.deepEqual(match, {type: 'match', data: {...common, id: match.data.id, ...miss}});
});

test('a filter keeps other organizations out, and without one everything comes', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const [own, other] = [await link(acme), await link(globex)];
	const filtered = await listen(t, service, {query: `?orgId=${acme.id}`});
	const all = await listen(t, service);
	await click(other.url);
	await click(own.url);
	t.is((await filtered.nextOf('click')).data.link.id, own.id);
	const seen = new Set<string>();
	while (!seen.has(own.id) || !seen.has(other.id)) {
		const {data} = await all.nextOf('click');
		seen.add(data.link.id);
	}

	t.pass();
});

test('a reconnecting client resumes at its position, including rows committed out of order', async (t) => {
	const {acme, id} = await linked(service);
	const before = await listen(t, service, {query: `?orgId=${acme.id}`});
	await before.next();
	const late = randomUUID();
	const trx = await service.services.db.transaction();
	await trx('clicks').insert({id: late, occurred_at: service.clock.now(), organization_id: acme.id, link_id: id});
	await writeClicks(acme, id, 1);
	await before.next();
	// The cursor follows its events.
	await writeClicks(acme, id, 1);
	const {data: repeated} = await before.next();
	before.leave();
	await trx.commit();
	await writeClicks(acme, id, 1);
	const after = await listen(t, service, {query: `?orgId=${acme.id}`, lastEventId: before.lastEventId()});
	const ids = [(await after.next()).data.id, (await after.next()).data.id, (await after.next()).data.id];
	t.true(ids.includes(late) && ids.includes(repeated.id), ids.join());
});

test('a cursor of another database, one that is none, out of order or upside down starts afresh', async (t) => {
	for (const lastEventId of ['900000000000000:900000000000000:', 'yesterday', '10:20:15,12', '20:10:']) {
		const {next, leave} = await listen(t, service, {lastEventId});
		t.is((await next()).type, 'recent', lastEventId);
		leave();
	}
});

test('a slow reader loses the oldest events and learns how many', async (t) => {
	const {acme, id} = await linked(service, {title: 'x'.repeat(255)});
	const query = `?orgId=${acme.id}`;
	const [slow, fast] = [await listen(t, service, {query}), await listen(t, service, {query})];
	slow.response.pause();
	// More than a connection on loopback takes in by itself.
	const count = 20_000;
	await writeClicks(acme, id, count);
	const read = async ({next}: {next: () => Promise<ReceivedEvent>}) => {
		const sum = {clicks: 0, lost: 0};
		while (sum.clicks + sum.lost < count) {
			const {type, data} = await next();
			sum.clicks += type === 'click' ? 1 : 0;
			sum.lost += type === 'lost' ? data.count : 0;
		}

		return sum;
	};
	await read(fast);
	const {clicks, lost} = await read(slow);
	t.true(lost > 0);
	t.is(clicks + lost, count);
});

test('dropped events are reported in their place, and the newest are kept', (t) => {
	const connection = {writableLength: 0, destroy: () => {}};
	const listener = createListener({organizationId: null, from: '1:1:', first: '', connection, mostWaiting: 2});
	for (const letter of ['a', 'b', 'c', 'd']) {
		listener.send(letter);
	}

	listener.advance('2:2:');
	t.is(String(listener.stream.read()), 'retry: 1000\nid: 1:1:\n\nevent: lost\ndata: {"count":2}\n\ncdid: 2:2:\n\n');
});

test('an unknown organization is 404, a malformed one 400, and HEAD has no body', async (t) => {
	const operator = admin(service);
	const unknown = await operator.get(`/admin/clicks/stream?orgId=${randomUUID()}`);
	t.like(unknown, {status: 404, body: {message: 'Organization not found'}});
	const malformed = await operator.get('/admin/clicks/stream?orgId=nobody');
	t.is(malformed.status, 400);
	t.deepEqual(malformed.body.details, [{message: 'orgId must be a UUID or an orgKey', field: 'orgId'}]);
	const head = await operator.head('/admin/clicks/stream');
	t.like(head, {status: 200, text: '', headers: {'content-type': 'text/event-stream; charset=utf-8'}});
});

test('a stop ends every stream at once, also an unread one', async (t) => {
	// Longer than a test may take: who waited for the streams would never come to the end.
	const own = await startService({SHUTDOWN_TIMEOUT: '600'});
	const [read, stalled] = [await listen(t, own), await listen(t, own)];
	t.is((await read.next()).type, 'recent');
	stalled.response.pause();
	await own.stop();
	t.is((await read.next()).type, 'end');
});
