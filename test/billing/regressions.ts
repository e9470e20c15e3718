import test from 'ava';
import {startedFor} from '../helpers/started.ts';
import {playSequence} from './model/_sequence.ts';
import type {Step} from './model/_steps.ts';
import {startWorld} from './model/_world.ts';

/** What `model/sequences.ts` once found, each as short as it gets. The rules are those of `model/_invariants.ts`. */
const world = startedFor(test, () => startWorld());

const plays = test.macro(async (t, steps: readonly Step[]) => {
	await t.notThrowsAsync(playSequence(world, steps));
});

test.serial('a renewal that is told after ops have replaced the subscription is on record', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'deliver'},
	{do: 'wait', minutes: 40_320},
	{do: 'ops', plan: 'SCALE'},
]);

test.serial('what is gone does not come back because a renewal is found to have failed long after', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'EGP'},
	{do: 'pay'},
	{do: 'deliver'},
	{do: 'wait', minutes: 100_800},
]);

test.serial('an upgrade from a plan that we have not been told of is refused until we are', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'deliver'},
	{do: 'change', plan: 'SCALE'},
	{do: 'change', plan: 'GROWTH'},
	{do: 'change', plan: 'STARTER'},
]);

test.serial('everything that a checkout took after its organization was deleted is given back', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'delete'},
	{do: 'wait', minutes: 100_800},
]);

test.serial('a first payment that is told after its subscription has ended unpaid is put aside for a person', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'card', does: 'hesitates'},
	{do: 'deliver', how: 'lose'},
	{do: 'wait', minutes: 100_800},
]);

test.serial('renewals that are told after their subscription was canceled are on record', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'wait', minutes: 100_800},
	{do: 'leave'},
	{do: 'wait', minutes: 54_720},
]);

test.serial('a first payment that is told after the renewal has failed is on record with what it gives', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'card', does: 'hesitates'},
	{do: 'wait', minutes: 40_320},
	{do: 'crash', at: 9, during: {do: 'deliver'}},
]);

test.serial('a renewal that is told after ops have ended it and another was bought is not a second payment', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'deliver'},
	{do: 'wait', minutes: 44_640},
	{do: 'ops', plan: 'STARTER'},
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
]);

test.serial('an upgrade that is told after the renewal has failed is on record with what it gives', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'deliver'},
	{do: 'change', plan: 'SCALE'},
	{do: 'card', does: 'hesitates'},
	{do: 'wait', minutes: 40_320},
	{do: 'deliver', how: 'newest'},
]);

test.serial('a renewal that is told after the next one has failed is on record with what it gives', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'deliver'},
	{do: 'wait', minutes: 44_640},
	{do: 'card', does: 'hesitates'},
	{do: 'wait', minutes: 44_640},
	{do: 'deliver', how: 'newest'},
]);

test.serial('a subscription whose renewal is owed is not made good by the difference to a dearer plan', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'USD'},
	{do: 'pay'},
	{do: 'deliver'},
	{do: 'card', does: 'declines'},
	{do: 'wait', minutes: 40_320},
	{do: 'deliver'},
	{do: 'card', does: 'works'},
	{do: 'change', plan: 'SCALE'},
]);

test.serial('a checkout whose payment nobody told of is asked about, though another is opened before that', plays, [
	{do: 'checkout', plan: 'SOLO', currency: 'EGP'},
	{do: 'pay'},
	{do: 'deliver', how: 'lose for good'},
	{
		do: 'together',
		steps: [
			{do: 'wait', minutes: 40_320},
			{do: 'checkout', plan: 'SOLO', currency: 'USD'},
		],
	},
]);
