import test from 'ava';
import {forgetDeliveries} from '../../../src/accounts/identity/forget-deliveries.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {finish, start} from '../../cli/_spawn-cli.ts';
import type {WebhookEvent} from '../../fakes/shared/webhook-queue.ts';
import {admin} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {portalOf, startPortal} from '../../helpers/portal.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {address, mirrored, mirroredUser, orders, taken} from './_mirror.ts';

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

test('the contents of an event that changes nothing are not stored', async (t) => {
	const event = portal.provider.event('email.created', {id: 'ema_1', data: {otp_code: '424242'}});
	taken(t, await portal.provider.deliver(portal, event));
	const [{id}] = await kept('email.created');
	t.deepEqual(await portal.services.db('identity_events').where({id}).pluck('payload'), [null]);
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

const reordered = portalOf(test);

type Story = {events: WebhookEvent[]; read: () => Promise<unknown>};

/** An organization is created and renamed; its creator becomes its owner and then an admin. */
const founding = (): Story => {
	const {provider, clock} = reordered;
	const user = provider.user({email: address(), firstName: 'Mona'});
	const organization = provider.organization({name: `Founded ${user.id}`, createdBy: user});
	clock.advance(1);
	provider.updateOrganization(organization, {name: `Renamed ${user.id}`});
	provider.updateMember(organization, user, {role: 'admin'});
	return {
		events: provider.eventsAbout(organization, user),
		read: async () => {
			const rows = await mirrored(reordered, organization);
			const email = user.email_addresses[0]?.email_address;
			return {
				...rows,
				name: rows?.name === `Renamed ${user.id}`,
				contactEmail: rows?.contactEmail === email,
				members: rows?.members.map((member) => ({...(member as object), user: 'creator', email: 'theirs'})),
			};
		},
	};
};

/** Somebody joins, is removed, and joins again with another role, and then the organization is deleted. */
const rejoining = (): Story => {
	const {provider, clock} = reordered;
	const user = provider.user({email: address(), firstName: 'Dev'});
	const organization = provider.organization({name: `Rejoined ${user.id}`});
	provider.member({organization, user, role: 'developer'});
	clock.advance(1);
	provider.removeMember(organization, user);
	clock.advance(1);
	provider.member({organization, user, role: 'analyst'});
	clock.advance(1);
	provider.deleteOrganization(organization);
	const [, ...events] = provider.eventsAbout(organization, user);
	return {
		events,
		read: async () => {
			const rows = await mirrored(reordered, organization);
			return {
				...rows,
				name: rows?.name === `Rejoined ${user.id}`,
				members: rows?.members.map((member) => ({...(member as object), user: 'theirs', email: 'theirs'})),
			};
		},
	};
};

/** Somebody joins and leaves, with the user's own events between. */
const leaving = (): Story => {
	const {provider, clock} = reordered;
	const user = provider.user({email: address(), firstName: 'Lee'});
	const organization = provider.organization({name: `Left ${user.id}`});
	provider.member({organization, user, role: 'owner'});
	clock.advance(1);
	provider.updateUser(user, {lastName: 'Lisa'});
	provider.removeMember(organization, user);
	return {
		events: provider.eventsAbout(organization, user),
		read: async () => {
			const rows = await mirrored(reordered, organization);
			return {
				...rows,
				name: rows?.name === `Left ${user.id}`,
				contactEmail: rows?.contactEmail === user.email_addresses[0]?.email_address,
				person: (await mirroredUser(reordered, user))?.name,
			};
		},
	};
};

const common = {status: 'ACTIVE', plan: null, isOps: false, channels: 9, name: true};
const stories: Array<{name: string; begin: () => Story; end: object}> = [
	{
		name: 'an organization that is founded',
		begin: founding,
		end: {
			...common,
			contactEmail: true,
			members: [{user: 'creator', email: 'theirs', name: 'Mona', role: 'ADMIN'}],
		},
	},
	{
		name: 'a member who comes back to an organization that is deleted then',
		begin: rejoining,
		end: {
			...common,
			status: 'SUSPENDED',
			contactEmail: null,
			members: [{user: 'theirs', email: 'theirs', name: 'Dev', role: 'ANALYST'}],
		},
	},
	{
		name: 'an owner who leaves',
		begin: leaving,
		end: {...common, contactEmail: true, members: [], person: 'Lee Lisa'},
	},
];

/**
 * All orders of the story with a removal and a return, which says the most, and every fifth of the others where there is
 * time for them, in `npm run test:deep`; else every sixth and every eighth.
 */
const ordersOf = ({begin}: {begin: () => Story}): number[][] => {
	const [most, others] = isDeep ? [1, 5] : [6, 8];
	const step = begin === rejoining ? most : others;
	return orders([0, 1, 2, 3, 4]).filter((_, index) => index % step === 0);
};

for (const story of stories) {
	const {name, begin, end} = story;
	// By what comes first, so that no test takes long.
	for (const first of [0, 1, 2, 3, 4]) {
		const permutations = ordersOf(story).filter((order) => order[0] === first);
		test.serial(
			`${name}: ${permutations.length} orders that begin with number ${first + 1} end in the same rows`,
			async (t) => {
				// All are sent first: the clock stands still during the deliveries.
				const sent = permutations.map((order) => ({order, ...begin()}));
				const outcomes = await Promise.all(
					sent.map(async ({order, events, read}) => {
						t.is(events.length, 5);
						const shuffled = order.flatMap((index) => events[index] ?? []);
						taken(t, await reordered.provider.deliver(reordered, ...shuffled));
						return {order, end: await read()};
					}),
				);
				for (const outcome of outcomes) {
					t.deepEqual(outcome.end, end, `in the order ${outcome.order}`);
				}
			},
		);
	}

	test.serial(`${name}: its events, twice each and all at once, end in the same rows`, async (t) => {
		for (let round = 0; round < 8; round += 1) {
			const {events, read} = begin();
			taken(t, await reordered.provider.deliverTogether(reordered, ...events, ...events.toReversed()));
			t.deepEqual(await read(), end, `in round ${round}`);
		}
	});
}
