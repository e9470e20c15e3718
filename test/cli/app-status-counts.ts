import test from 'ava';
import {countFirstOpens, readCountedUntil, readCounts} from '../../src/operations/app-status/app-status-store.ts';
import {DAY_MS} from '../../src/platform/clock.ts';
import {daysBefore} from '../../src/platform/config/policies.ts';
import {organization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {iPhoneApp, match, network} from '../visits/matches/_phones.ts';
import {appStatus, iosOnly, iPhone, newDevice} from './_app-status.ts';
import {ends} from './_run-cli.ts';

const {cli, service, session, firstOpen, goodStart, statusOf, named} = appStatus(test);

test('since is a number of hours or days, and what is older does not count', async (t) => {
	const acme = await organization(service);
	for (const since of ['30m', '0h', '91d', '7', '-1d', 'd', '7d7d']) {
		const {status, body} = await acme.operator.get(`/app-status?since=${since}`);
		t.is(status, 400, since);
		t.is(body.details[0].field, 'since');
	}

	for (const since of ['1h', '24h', '90d', '2160h']) {
		t.is((await acme.operator.get(`/app-status?since=${since}`)).status, 200);
	}

	ends(t, await cli(`app status ${acme.orgKey} --since week`), 2, {stderr: /such as 12h or 7d/});
});

test.serial('sessions and first opens before since do not count', async (t) => {
	const acme = await organization(service, {appConfig: iosOnly});
	await goodStart(acme, iPhone);
	service.clock.advance(2 * 3600);
	const [old] = (await statusOf(acme, '?since=1h')).platforms;
	t.is(old.lastSeenAt, null);
	const [week] = (await statusOf(acme)).platforms;
	t.like(week.sessions, {count: 1});
	t.like(week.firstOpens, {count: 1, withToken: 1, byAppVersion: [{version: '4.2.0', count: 1, withToken: 1}]});
	// From the counts of whole hours, which two processes make once.
	const {db, clock} = service.services;
	const oldest = new Date(clock.now().getTime() - 90 * DAY_MS);
	const count = () => countFirstOpens(db, {oldest, now: clock.now(), isStopping: () => false});
	await Promise.all([count(), count()]);
	// Between two transactions of the job, a count and its rows are not added up.
	const scope = {organizationId: acme.id, since: oldest};
	for (const countedUntil of [null, await readCountedUntil(db, acme.id)]) {
		const opens = (await readCounts(db, {...scope, countedUntil})).filter(({kind}) => kind === 'first_open');
		const found = opens.map((open) => open.count);
		t.deepEqual(found, [1]);
	}

	await db('match_attempts')
		.where({organization_id: acme.id})
		.update({at: new Date(0)});
	t.deepEqual((await statusOf(acme)).platforms[0].firstOpens, week.firstOpens);
});

test('what names no platform is unknown, and a first open without a session has no version', async (t) => {
	const acme = await organization(service, {appConfig: iosOnly});
	const deviceId = await session(acme, {});
	await acme.client.post('/sdk/events', {deviceId, eventName: 'buy'});
	await firstOpen(acme, {deviceId: newDevice()});
	await firstOpen(acme, iPhoneApp);
	await firstOpen(acme, {}, {'User-Agent': 'Acme/4.2 CFNetwork/1410 Darwin/22.6.0'});
	await anonymous(service).get(`/${acme.orgKey}/sprng/data`);
	const {platforms, unknown} = await statusOf(acme);
	t.deepEqual(unknown, {sessions: 1, data: 0, firstOpens: 1, events: 1, unknownDevice: 0, refusals: 0});
	t.deepEqual(platforms[0].firstOpens.byAppVersion, [{version: 'unknown', count: 2, withToken: 0}]);
	t.like(await named(t, acme, 'app.data_not_found'), {platform: null, count: 1});
	const {stdout} = await cli(`app status ${acme.orgKey}`);
	t.regex(stdout, /^Unknown platform +sessions \(1\), first opens \(1\), events \(1\)$/m);
});

test.serial(
	'countedSince is the latest of the organization, the retention and the upgrade that began to count',
	async (t) => {
		const acme = await organization(service);
		const {db, clock} = service.services;
		const now = clock.now();
		const upgrade = (days: number) =>
			db('migrations')
				.where({name: '20261122001800_app_status'})
				.update({migration_time: daysBefore(now, days)});
		const [row] = await db('migrations').where({name: '20261122001800_app_status'});
		t.teardown(() => db('migrations').where({id: row.id}).update({migration_time: row.migration_time}));
		const createdAt = (days: number) =>
			db('organizations')
				.where({id: acme.id})
				.update({created_at: daysBefore(now, days)});
		for (const [upgraded, created, expected] of [
			[20, 10, 10],
			[10, 20, 10],
			[400, 300, 90],
		] as const) {
			await upgrade(upgraded);
			await createdAt(created);
			t.is((await statusOf(acme)).countedSince, daysBefore(now, expected).toISOString());
		}
	},
);

test('nobody sees the status of another organization', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	await session(acme);
	t.is((await statusOf(other)).platforms[0].sessions.count, 0);
	t.is((await anonymous(service).get(`/admin/organizations/${acme.id}/app-status`)).status, 401);
	t.is((await match(service, network()(1), {})).matched, false);
});
