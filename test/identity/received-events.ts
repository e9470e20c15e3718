import test from 'ava';
import {forgetDeliveries} from '../../src/identity/forget-deliveries.ts';
import {runCli} from '../cli/_run-cli.ts';
import {finish, start} from '../cli/_spawn-cli.ts';
import {admin} from '../helpers/callers.ts';
import {portalOf, startPortal} from '../helpers/portal.ts';
import {createFakeClock} from '../helpers/service.ts';
import {mirrored, taken} from './_mirror.ts';

const portal = portalOf(test);

const EVENTS = '/admin/webhooks/events';
const envOf = (on = portal) => ({OPLINK_URL: on.url, OPLINK_ADMIN_TOKEN: on.adminToken});

/** The stored deliveries of a type, of which a test sends one. */
const kept = async (type: string, on = portal) => {
	const {status, body} = await admin(on).get(`${EVENTS}?limit=100`);
	if (status !== 200) {
		throw new Error(`the list is ${status}`);
	}

	return body.data.filter((event: {type: string}) => event.type === type);
};

test('an event is stored with its outcome, and a repetition is counted', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const [event] = own.provider.eventsAbout(own.provider.organization({name: 'Kept'}));
	if (event === undefined) {
		return t.fail();
	}

	taken(t, await own.provider.deliver(own, event, event));
	const [found, ...others] = await kept('organization.created', own);
	t.deepEqual(others, []);
	t.deepEqual(Object.keys(found), [
		'id',
		'eventKey',
		'type',
		'outcome',
		'reason',
		'deliveries',
		'receivedAt',
		'processedAt',
	]);
	t.like(found, {outcome: 'APPLIED', deliveries: 2, receivedAt: own.clock.now().toISOString()});
	const shown = await admin(own).get(`${EVENTS}/${found.id}`);
	t.is(shown.status, 200);
	t.deepEqual(shown.body, found);
});

test('an event that changes nothing is IGNORED with its reason', async (t) => {
	taken(t, await portal.provider.deliver(portal, portal.provider.event('sms.created', {id: 'sms_1'})));
	t.like((await kept('sms.created'))[0], {outcome: 'IGNORED', reason: 'Events of this type change nothing here'});
	taken(t, await portal.provider.deliver(portal, portal.provider.event('user.updated', {})));
	t.like((await kept('user.updated'))[0], {outcome: 'IGNORED', reason: 'The event refers to unknown ids'});
});

test('a failing event is FAILED, refused so that it is delivered again, and then APPLIED', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const organization = own.provider.organization({name: 'Second try'});
	const [event] = own.provider.eventsAbout(organization);
	if (event === undefined) {
		return t.fail();
	}

	const {db} = own.services;
	await db.raw('ALTER TABLE channels RENAME TO away');
	const [refused] = await own.provider.deliver(own, event);
	t.is(refused?.status, 500);
	t.like((await kept(event.type, own))[0], {
		outcome: 'FAILED',
		reason: 'Processing failed; see the log of the server',
	});
	await db.raw('ALTER TABLE away RENAME TO channels');
	taken(t, await own.provider.deliver(own, event));
	t.like((await kept(event.type, own))[0], {outcome: 'APPLIED', deliveries: 2});
	t.like(await mirrored(own, organization), {name: 'Second try'});
});

test('the CLI lists, shows and replays events; a replay restores lost records', async (t) => {
	const own = await startPortal();
	t.teardown(() => own.stop());
	const env = envOf(own);
	const organization = own.provider.organization({name: 'Lost and found'});
	taken(t, await own.provider.deliver(own, ...own.provider.eventsAbout(organization)));
	await own.services.db('organizations').where({clerk_org_id: organization.id}).delete();
	const listed = await finish(start(t, ['webhooks', 'list', '--outcome', 'APPLIED', '--json'], env));
	t.is(listed.exitCode, 0, listed.stderr);
	const [{id}] = JSON.parse(listed.stdout).data;
	t.regex((await runCli(['webhooks', 'list'], {env})).stdout, new RegExp(`${id} +APPLIED +organizatio`));
	t.regex((await runCli(['webhooks', 'show', id], {env})).stdout, /^outcome +APPLIED$/m);
	const replayed = await finish(start(t, ['webhooks', 'replay', id, '--json'], env));
	t.is(replayed.exitCode, 0, replayed.stderr);
	t.like(JSON.parse(replayed.stdout), {id, outcome: 'APPLIED', deliveries: 1});
	t.like(await mirrored(own, organization), {name: 'Lost and found', status: 'ACTIVE'});
	t.is((await runCli(['webhooks', 'list', '--outcome', 'FAILED', '--json'], {env})).exitCode, 0);
});

test('an event that is not there is 404', async (t) => {
	const unknown = `${EVENTS}/5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11`;
	for (const answer of [await admin(portal).get(unknown), await admin(portal).post(`${unknown}/replay`)]) {
		t.is(answer.status, 404);
		t.is(answer.body.message, 'Event not found');
	}
});

test('a forged delivery is not kept', async (t) => {
	const {rows: before} = await portal.services.db.raw('SELECT count(*) FROM identity_events WHERE type = ?', [
		'forged',
	]);
	const forged = await admin(portal).post('/webhooks/idp', {type: 'forged', data: {}});
	t.is(forged.status, 400);
	const {rows: after} = await portal.services.db.raw('SELECT count(*) FROM identity_events WHERE type = ?', ['forged']);
	t.deepEqual(after, before);
});

test('events are deleted after 30 days, with their personal data', async (t) => {
	const clock = createFakeClock();
	const own = await startPortal({}, clock);
	t.teardown(() => own.stop());
	taken(t, await own.provider.deliver(own, own.provider.event('sms.created', {id: 'sms_2'})));
	clock.advance(30 * 86_400);
	await forgetDeliveries(own.services);
	t.is((await kept('sms.created', own)).length, 1);
	clock.advance(1);
	await forgetDeliveries(own.services);
	t.is((await kept('sms.created', own)).length, 0);
});
