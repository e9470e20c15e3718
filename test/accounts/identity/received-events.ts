import test from 'ava';
import {applyRetention} from '../../../src/operations/jobs/retention.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {portalOf} from '../../helpers/portal.ts';
import {address, mirrored, mirroredUser, orders, taken} from './_mirror.ts';

// One test after another: they move its clock and take its tables away.
const portal = portalOf(test);

const EVENTS = '/admin/webhooks/events';

/** What is stored of an event. */
const kept = async (event: {id: string}) => {
	const {body} = await admin(portal).get(`${EVENTS}?limit=100`);
	return body.data.filter(({eventKey}: {eventKey: string}) => eventKey === event.id);
};

/** A new organization, and the event that says so. */
const newOrganization = (name: string) => {
	const organization = portal.provider.organization({name});
	const [event] = portal.provider.eventsAbout(organization);
	if (event === undefined) {
		throw new Error('a new organization has an event');
	}

	return {organization, event};
};

test.serial('an event is stored with its outcome, and a repetition is counted', async (t) => {
	const {event} = newOrganization('Kept');
	const now = portal.clock.now().toISOString();
	taken(t, await portal.provider.deliver(portal, event));
	portal.clock.advance(1);
	taken(t, await portal.provider.deliver(portal, event));
	const [{id, ...found}, ...others] = await kept(event);
	t.deepEqual(others, []);
	t.deepEqual(found, {
		eventKey: event.id,
		type: 'organization.created',
		outcome: 'APPLIED',
		reason: 'The mirror is already up to date',
		deliveries: 2,
		receivedAt: now,
		processedAt: now,
	});
	t.like(await admin(portal).get(`${EVENTS}/${id}`), {status: 200, body: {id, ...found}});
});

test.serial(
	'an event that changes nothing is IGNORED with its reason; contents are stored only of known types',
	async (t) => {
		for (const [type, data, reason, payload] of [
			['email.created', {data: {otp_code: '424242'}}, 'Events of this type change nothing here', null],
			['user.deleted', {id: 'user_1'}, 'Events of this type change nothing here', null],
			['', {}, 'Events of this type change nothing here', null],
			['user.updated', {}, 'The event refers to unknown ids', portal.provider.event('user.updated', {}).body],
		] as const) {
			const event = portal.provider.event(type, data);
			taken(t, await portal.provider.deliver(portal, event));
			const [{id, ...found}] = await kept(event);
			t.like(found, {type, outcome: 'IGNORED', reason});
			t.deepEqual(await portal.services.db('identity_events').where({id}).pluck('payload'), [payload]);
		}
	},
);

test.serial(
	'an event is stored as the text that was signed, whatever it contains, and is replayed from it',
	async (t) => {
		const data =
			'{"id": "user_cut", "first_name": "\\ud83d", "n": 12345678901234567890, "unsafe_metadata": {"a\\u0000b": 1e400}}';
		for (const [id, body] of Object.entries({
			msg_zero: `{"type": "user.created", "data": ${data}}`,
			msg_null: ' {"type": "user.created", "data": null}\n',
		})) {
			const headers = {...portal.provider.sign({id, body})};
			t.is((await anonymous(portal).post('/webhooks/idp', body, headers)).status, 200);
			const [event] = await kept({id});
			t.deepEqual(await portal.services.db('identity_events').where({id: event.id}).pluck('payload'), [body]);
			const {status, body: replayed} = await admin(portal).post(`${EVENTS}/${event.id}/replay`);
			t.is(status, 200);
			t.is(replayed.outcome, event.outcome);
		}

		t.is((await mirroredUser(portal, {id: 'user_cut'}))?.name, '\ufffd');
	},
);

test.serial('a failing event is FAILED, refused so that it is delivered again, and then APPLIED', async (t) => {
	const {organization, event} = newOrganization('Second try');
	const {db} = portal.services;
	await db.raw('ALTER TABLE channels RENAME TO away');
	const [refused] = await portal.provider.deliver(portal, event);
	t.is(refused?.status, 500);
	t.like((await kept(event))[0], {outcome: 'FAILED', reason: 'Processing failed; see the log of the server'});
	await db.raw('ALTER TABLE away RENAME TO channels');
	taken(t, await portal.provider.deliver(portal, event));
	t.like((await kept(event))[0], {outcome: 'APPLIED', deliveries: 2});
	t.like(await mirrored(portal, organization), {name: 'Second try'});
});

test.serial('the CLI lists, shows and replays events; a replay restores lost records', async (t) => {
	const {organization, event} = newOrganization('Lost and found');
	portal.clock.advance(1);
	taken(t, await portal.provider.deliver(portal, event));
	await portal.services.db('organizations').where({clerk_org_id: organization.id}).delete();
	const cli = async (...argv: string[]): Promise<string> => {
		const env = {OPLINK_URL: portal.url, OPLINK_ADMIN_TOKEN: portal.adminToken};
		const {exitCode, stdout, stderr} = await runCli(['webhooks', ...argv], {env});
		t.is(exitCode, 0, stderr);
		return stdout;
	};
	const [{id, eventKey}] = JSON.parse(await cli('list', '--outcome', 'APPLIED', '--json')).data;
	t.is(eventKey, event.id);
	t.regex(await cli('list'), new RegExp(`${id} +APPLIED +organizatio`));
	t.regex(await cli('show', id), /^outcome +APPLIED$/m);
	t.like(JSON.parse(await cli('replay', id, '--json')), {id, outcome: 'APPLIED', deliveries: 1});
	t.like(await mirrored(portal, organization), {name: 'Lost and found', status: 'ACTIVE'});
	t.deepEqual(JSON.parse(await cli('list', '--outcome', 'FAILED', '--json')).data, []);
});

test.serial('an event that is not there is 404', async (t) => {
	const unknown = `${EVENTS}/5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11`;
	for (const answer of [await admin(portal).get(unknown), await admin(portal).post(`${unknown}/replay`)]) {
		t.is(answer.status, 404);
		t.is(answer.body.message, 'Event not found');
	}
});

test.serial('events are deleted after 30 days, with their personal data', async (t) => {
	const event = portal.provider.event('sms.created', {id: 'sms_2'});
	taken(t, await portal.provider.deliver(portal, event));
	for (const [seconds, left] of [
		[30 * 86_400, 1],
		[1, 0],
	] as const) {
		portal.clock.advance(seconds);
		await applyRetention(portal.services.db, portal.clock.now(), 'forget_deliveries');
		t.is((await kept(event)).length, left);
	}
});

/** What happens to somebody and an organization of theirs, in five events, and how it ends in any order of these. */
type Story = {name: string; live: (user: {id: string}) => {id: string}; end: object};

const common = {status: 'ACTIVE', plan: null, isOps: false, channels: 9};
const stories: Story[] = [
	{
		// Its creator becomes its owner and then an admin.
		name: 'an organization that is founded',
		live: (user) => {
			const {provider, clock} = portal;
			const organization = provider.organization({name: 'Founded', createdBy: user});
			clock.advance(1);
			provider.updateOrganization(organization, {name: 'Renamed'});
			provider.updateMember(organization, user, {role: 'admin'});
			return organization;
		},
		end: {
			...common,
			name: 'Renamed',
			contactEmail: 'theirs',
			members: [{user: 'user', email: 'theirs', name: 'Mona', role: 'ADMIN'}],
			person: 'Mona',
		},
	},
	{
		name: 'a member who comes back to an organization that is deleted then',
		live: (user) => {
			const {provider, clock} = portal;
			const organization = provider.organization({name: 'Rejoined'});
			provider.member({organization, user, role: 'developer'});
			clock.advance(1);
			provider.removeMember(organization, user);
			clock.advance(1);
			provider.member({organization, user, role: 'analyst'});
			clock.advance(1);
			provider.deleteOrganization(organization);
			return organization;
		},
		end: {
			...common,
			name: 'Rejoined',
			status: 'SUSPENDED',
			contactEmail: null,
			members: [{user: 'user', email: 'theirs', name: 'Mona', role: 'ANALYST'}],
			person: 'Mona',
		},
	},
	{
		name: 'an owner who leaves',
		live: (user) => {
			const {provider, clock} = portal;
			const organization = provider.organization({name: 'Left'});
			provider.member({organization, user, role: 'owner'});
			clock.advance(1);
			provider.updateUser(user, {lastName: 'Lisa'});
			provider.removeMember(organization, user);
			return organization;
		},
		end: {...common, name: 'Left', contactEmail: 'theirs', members: [], person: 'Mona Lisa'},
	},
];

const begin = ({live}: Story) => {
	const email = address();
	const user = portal.provider.user({email, firstName: 'Mona'});
	const organization = live(user);
	return {
		// Without that of the user where it would be a sixth.
		events: portal.provider.eventsAbout(organization, user).slice(-5),
		/** What is stored, without what differs between runs. */
		read: async () => {
			const stored = {...(await mirrored(portal, organization)), person: (await mirroredUser(portal, user))?.name};
			return JSON.parse(JSON.stringify(stored).replaceAll(user.id, 'user').replaceAll(email, 'theirs'));
		},
	};
};

/**
 * All orders of the story with a removal and a return, which says the most, and every fifth of the others where there is
 * time for them, in `npm run test:deep`; else every sixth and every eighth.
 */
const ordersOf = (story: Story): number[][] => {
	const [most, others] = isDeep ? [1, 5] : [6, 8];
	const step = story === stories[1] ? most : others;
	return orders([0, 1, 2, 3, 4]).filter((_, index) => index % step === 0);
};

for (const story of stories) {
	// By what comes first, so that no test takes long.
	for (const first of [0, 1, 2, 3, 4]) {
		const permutations = ordersOf(story).filter((order) => order[0] === first);
		const title = `${permutations.length} orders that begin with number ${first + 1} end in the same rows`;
		test.serial(`${story.name}: ${title}`, async (t) => {
			// All are sent first: the clock stands still during the deliveries.
			const sent = permutations.map((order) => ({order, ...begin(story)}));
			const outcomes = await Promise.all(
				sent.map(async ({order, events, read}) => {
					t.is(events.length, 5);
					const shuffled = order.flatMap((index) => events[index] ?? []);
					taken(t, await portal.provider.deliver(portal, ...shuffled));
					return {order, end: await read()};
				}),
			);
			for (const {order, end} of outcomes) {
				t.deepEqual(end, story.end, `in the order ${order}`);
			}
		});
	}

	test.serial(`${story.name}: its events, twice each and all at once, end in the same rows`, async (t) => {
		for (let round = 0; round < (isDeep ? 8 : 4); round += 1) {
			const {events, read} = begin(story);
			taken(t, await portal.provider.deliverTogether(portal, ...events, ...events.toReversed()));
			t.deepEqual(await read(), story.end, `in round ${round}`);
		}
	});
}
