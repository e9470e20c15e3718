import test from 'ava';
import type {WebhookEvent} from '../fakes/identity-provider/webhooks.ts';
import {portalOf} from '../helpers/portal.ts';
import {address, mirrored, mirroredUser, orders, taken} from './_mirror.ts';

const portal = portalOf(test);

type Story = {events: WebhookEvent[]; read: () => Promise<unknown>};

/** An organization is created and renamed; its creator becomes its owner and then an admin. */
const founding = (): Story => {
	const {provider, clock} = portal;
	const user = provider.user({email: address(), firstName: 'Mona'});
	const organization = provider.organization({name: `Founded ${user.id}`, createdBy: user});
	clock.advance(1);
	provider.updateOrganization(organization, {name: `Renamed ${user.id}`});
	provider.updateMember(organization, user, {role: 'admin'});
	return {
		events: provider.eventsAbout(organization, user),
		read: async () => {
			const rows = await mirrored(portal, organization);
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
	const {provider, clock} = portal;
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
			const rows = await mirrored(portal, organization);
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
	const {provider, clock} = portal;
	const user = provider.user({email: address(), firstName: 'Lee'});
	const organization = provider.organization({name: `Left ${user.id}`});
	provider.member({organization, user, role: 'owner'});
	clock.advance(1);
	provider.updateUser(user, {lastName: 'Lisa'});
	provider.removeMember(organization, user);
	return {
		events: provider.eventsAbout(organization, user),
		read: async () => {
			const rows = await mirrored(portal, organization);
			return {
				...rows,
				name: rows?.name === `Left ${user.id}`,
				contactEmail: rows?.contactEmail === user.email_addresses[0]?.email_address,
				person: (await mirroredUser(portal, user))?.name,
			};
		},
	};
};

const common = {status: 'ACTIVE', plan: null, isOps: false, channels: 9, name: true};
const stories: Array<{name: string; tell: () => Story; end: object}> = [
	{
		name: 'an organization that is founded',
		tell: founding,
		end: {
			...common,
			contactEmail: true,
			members: [{user: 'creator', email: 'theirs', name: 'Mona', role: 'ADMIN'}],
		},
	},
	{
		name: 'a member who comes back to an organization that is deleted then',
		tell: rejoining,
		end: {
			...common,
			status: 'SUSPENDED',
			contactEmail: null,
			members: [{user: 'theirs', email: 'theirs', name: 'Dev', role: 'ANALYST'}],
		},
	},
	{
		name: 'an owner who leaves',
		tell: leaving,
		end: {...common, contactEmail: true, members: [], person: 'Lee Lisa'},
	},
];

/**
 * All orders of the story with a removal and a return, which says the most, and every fifth of the others where there is
 * time for them as in pipelines; else every sixth and every eighth.
 */
const ordersOf = ({tell}: {tell: () => Story}): number[][] => {
	const [most, others] = process.env['CI'] ? [1, 5] : [6, 8];
	const step = tell === rejoining ? most : others;
	return orders([0, 1, 2, 3, 4]).filter((_, index) => index % step === 0);
};

for (const story of stories) {
	const {name, tell, end} = story;
	// By what comes first, so that no test takes long.
	for (const first of [0, 1, 2, 3, 4]) {
		const permutations = ordersOf(story).filter((order) => order[0] === first);
		test.serial(
			`${name}: ${permutations.length} orders that begin with number ${first + 1} end in the same rows`,
			async (t) => {
				// All are sent first: the clock stands still during the deliveries.
				const told = permutations.map((order) => ({order, ...tell()}));
				const outcomes = await Promise.all(
					told.map(async ({order, events, read}) => {
						t.is(events.length, 5);
						const shuffled = order.flatMap((index) => events[index] ?? []);
						taken(t, await portal.provider.deliver(portal, ...shuffled));
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
			const {events, read} = tell();
			taken(t, await portal.provider.deliverTogether(portal, ...events, ...events.toReversed()));
			t.deepEqual(await read(), end, `in round ${round}`);
		}
	});
}
