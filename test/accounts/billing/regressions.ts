import test from 'ava';
import {startedFor} from '../../helpers/started.ts';
import {playSequence} from './model/_sequence.ts';
import type {Step} from './model/_steps.ts';
import {startWorld} from './model/_world.ts';

/** Failures that `model/sequences.ts` found, shrunk. The rules are those of `model/_invariants.ts`. */
const world = startedFor(test, () => startWorld());

const plays = test.macro(async (t, steps: readonly Step[]) => {
	await t.notThrowsAsync(playSequence(world, steps));
});

const opened = (currency: 'USD' | 'EGP' = 'USD'): Step => ({do: 'checkout', plan: 'SOLO', currency});
/** A checkout that is paid, of which no event has come yet. */
const paid = (currency?: 'USD' | 'EGP'): Step[] => [opened(currency), {do: 'pay'}];
/** A subscription. */
const bought = (currency?: 'USD' | 'EGP'): Step[] => [...paid(currency), {do: 'deliver'}];

test.serial('a renewal reported after ops replaced the subscription is recorded', plays, [
	...bought(),
	{do: 'wait', minutes: 40_320},
	{do: 'ops', plan: 'SCALE'},
]);

test.serial('a plan that has ended does not come back when a renewal is found to have failed', plays, [
	...bought('EGP'),
	{do: 'wait', minutes: 100_800},
]);

test.serial('an upgrade is refused until the event of the last change has arrived', plays, [
	...bought(),
	{do: 'change', plan: 'SCALE'},
	{do: 'change', plan: 'GROWTH'},
	{do: 'change', plan: 'STARTER'},
]);

test.serial('all payments of a checkout after its organization was deleted are refunded', plays, [
	...paid(),
	{do: 'delete'},
	{do: 'wait', minutes: 100_800},
]);

test.serial(
	'a checkout of a deleted organization is refunded, though its renewal failed before it was reported',
	plays,
	[...paid(), {do: 'delete'}, {do: 'card', does: 'hesitates'}, {do: 'wait', minutes: 100_800}],
);

test.serial('a first payment reported after its subscription ended unpaid is put to review', plays, [
	...paid(),
	{do: 'card', does: 'hesitates'},
	{do: 'deliver', how: 'lose'},
	{do: 'wait', minutes: 100_800},
]);

test.serial('renewals reported after their subscription was canceled are recorded', plays, [
	...paid(),
	{do: 'wait', minutes: 100_800},
	{do: 'leave'},
	{do: 'wait', minutes: 54_720},
]);

test.serial('a first payment reported after the renewal failed is recorded and entitles', plays, [
	...paid(),
	{do: 'card', does: 'hesitates'},
	{do: 'wait', minutes: 40_320},
	{do: 'crash', at: 9, during: {do: 'deliver'}},
]);

test.serial(
	'a renewal reported after ops ended the subscription and another was bought is not a second payment',
	plays,
	[...bought(), {do: 'wait', minutes: 44_640}, {do: 'ops', plan: 'STARTER'}, ...paid()],
);

test.serial('an upgrade reported after the renewal failed is recorded and entitles', plays, [
	...bought(),
	{do: 'change', plan: 'SCALE'},
	{do: 'card', does: 'hesitates'},
	{do: 'wait', minutes: 40_320},
	{do: 'deliver', how: 'newest'},
]);

test.serial('a renewal reported after the next one failed is recorded and entitles', plays, [
	...bought(),
	{do: 'wait', minutes: 44_640},
	{do: 'card', does: 'hesitates'},
	{do: 'wait', minutes: 44_640},
	{do: 'deliver', how: 'newest'},
]);

test.serial('a subscription whose renewal is owed is not made good by the difference to a dearer plan', plays, [
	...bought(),
	{do: 'card', does: 'declines'},
	{do: 'wait', minutes: 40_320},
	{do: 'deliver'},
	{do: 'card', does: 'works'},
	{do: 'change', plan: 'SCALE'},
]);

test.serial('a checkout with a lost callback is inquired about, though another was opened before', plays, [
	...paid('EGP'),
	{do: 'deliver', how: 'lose for good'},
	{do: 'together', steps: [{do: 'wait', minutes: 40_320}, opened()]},
]);
