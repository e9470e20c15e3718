import test from 'ava';
import fc from 'fast-check';
import {isDeep} from '../../../helpers/deep.ts';
import {playSequence} from './_sequence.ts';
import {type AnyPlan, DAY_MINUTES as DAY, type PaidPlan, type Step} from './_steps.ts';
import {startWorld, type World} from './_world.ts';

/** One of them, by weight. */
const oneOf = <Value>(...options: Array<[weight: number, arbitrary: fc.Arbitrary<Value>]>): fc.Arbitrary<Value> =>
	fc.oneof(...options.map(([weight, arbitrary]) => ({weight, arbitrary})));

const paid = fc.constantFrom<PaidPlan>('SOLO', 'GROWTH', 'SCALE');
const any = fc.constantFrom<AnyPlan>('STARTER', 'SOLO', 'GROWTH', 'SCALE');
const currency = fc.constantFrom('USD' as const, 'EGP' as const);
const tab = fc.constantFrom(0, 0, 0, 1, 2);

const checkout: fc.Arbitrary<Step> = fc.record({do: fc.constant('checkout' as const), plan: paid, currency});
const change: fc.Arbitrary<Step> = fc.record({do: fc.constant('change' as const), plan: any, currency});
const ask: fc.Arbitrary<Step> = fc.constantFrom<Step>({do: 'cancel'}, {do: 'resume'}, {do: 'renew'});
const ops: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('ops' as const),
	plan: fc.constantFrom<Extract<Step, {do: 'ops'}>['plan']>('STARTER', 'GROWTH', 'SCALE', 'ENTERPRISE', null),
});
const pay: fc.Arbitrary<Step> = fc.record({do: fc.constant('pay' as const), tab, save: fc.boolean()});
const customer: fc.Arbitrary<Step> = fc.oneof(
	fc.record({do: fc.constantFrom('decline' as const, 'linger' as const), tab}),
	fc.record({do: fc.constant('bank' as const), ok: fc.boolean()}),
	fc.record({do: fc.constant('card' as const), does: fc.constantFrom('works', 'declines', 'hesitates')}),
	fc.constantFrom<Step>({do: 'leave'}, {do: 'refund'}, {do: 'void'}, {do: 'pay', delayed: true}),
);
const deliver: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('deliver' as const),
	how: fc.constantFrom(
		...(['in order', 'in order', 'backwards', 'newest', 'oldest', 'twice', 'lose', 'lose for good'] as const),
		'old ones again' as const,
	),
});
const fault: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('fault' as const),
	gateway: fc.constantFrom('A' as const, 'B' as const),
	how: fc.constantFrom('refuse', 'drop', 'drop after'),
	after: fc.constantFrom(0, 0, 1, 2),
});
const wait: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('wait' as const),
	// Minutes to months; around the end of a checkout, a day, the tries of a renewal, a month, the grace.
	minutes: fc.constantFrom(1, 16, 61, DAY, 3 * DAY, 7 * DAY + 5, 20 * DAY, 28 * DAY, 31 * DAY, 38 * DAY, 70 * DAY),
});
const route = oneOf([3, checkout], [3, change], [3, ask], [1, ops]);
const small = oneOf([3, route], [2, pay], [3, deliver], [1, wait]);
const crash: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('crash' as const),
	at: fc.integer({min: 1, max: 45}),
	during: fc.oneof(route, deliver, wait),
});
const together: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('together' as const),
	steps: fc.array(small, {minLength: 2, maxLength: 3}),
});

const step: fc.Arbitrary<Step> = oneOf(
	[6, checkout],
	[6, change],
	[4, ask],
	[2, ops],
	[9, pay],
	[4, customer],
	[8, deliver],
	[6, wait],
	[2, fault],
	[3, crash],
	[2, together],
	[1, fc.constantFrom<Step>({do: 'eager', on: true}, {do: 'eager', on: false}, {do: 'quiet'})],
	[1, fc.constant<Step>({do: 'delete'})],
);

/** A purchase, whose events are mostly delivered. */
const bought = fc
	.tuple(checkout, pay, fc.option(deliver, {freq: 4}))
	.map((steps) => steps.flatMap((one) => (one === null ? [] : [one])));

/** The end of a period that is renewed by a saved card, which something may be wrong with. */
const renewed = fc
	.tuple(paid, fc.array(fc.oneof(customer, fault, ask, change), {maxLength: 2}), fc.nat({max: 25}))
	.map(([plan, more, at]): Step[] => [
		{do: 'checkout', plan, currency: 'EGP'},
		{do: 'pay', save: true},
		{do: 'deliver'},
		...more,
		at < 6 ? {do: 'wait', minutes: 28 * DAY} : {do: 'crash', at: at - 4, during: {do: 'wait', minutes: 28 * DAY}},
	]);

/** Most begin with something that is bought, because little happens to who never did. */
const sequenceOf = (least: number, most: number): fc.Arbitrary<Step[]> =>
	fc
		.tuple(
			oneOf([6, bought], [2, renewed], [2, fc.constant<Step[]>([])]),
			fc.array(step, {minLength: least, maxLength: most, size: 'max'}),
		)
		.map(([begin, more]) => [...begin, ...more]);

/** Mostly short ones, because most failures take few steps; and long ones. */
const sequence: fc.Arbitrary<Step[]> = oneOf([12, sequenceOf(1, 5)], [1, sequenceOf(8, 25)]);

/**
 * How many sequences, from which seed, and how much processor time of this process they may take, where that is limited.
 * The suite plays the same ones each time, so that a failure comes from a change; to look for more, set another
 * seed, or `random`. `npm run test:deep` plays all 2,000 that were agreed, `npm test` a few.
 */
const {
	OPLINK_MODEL_RUNS: runs = isDeep ? '2000' : '40',
	OPLINK_MODEL_SEED: chosen = '1',
	OPLINK_MODEL_SECONDS: budget = 'Infinity',
} = process.env;
const seed = chosen === 'random' ? String(Math.floor(Math.random() * 1_000_000)) : chosen;

/** Installations side by side: while one waits for its database, another one works. */
const WORLDS = 4;

const usedSeconds = (): number => {
	const {user, system} = process.cpuUsage();
	return (user + system) / 1e6;
};

type Outcome = {played: number; failure: string | null};

/** As a test that can be pasted into `regressions.ts`. */
const asTest = (steps: readonly Step[]): string =>
	["test.serial('what went wrong', plays, [", ...steps.map((step) => `\t${JSON.stringify(step)},`), ']);'].join('\n');

/** Plays random sequences in one world, until `until` seconds are used; one that fails is made as short as it gets. */
const playMany = async (world: World, {number, seed, until}: {number: number; seed: number; until: number}) => {
	const outcome: Outcome = {played: 0, failure: null};
	const property = fc.asyncProperty(sequence, async (steps) => {
		// What has failed is made shorter however long that takes.
		if (outcome.failure !== null || usedSeconds() < until) {
			outcome.played += 1;
			await playSequence(world, steps).catch((error: unknown) => {
				outcome.failure = String(error);
				throw error;
			});
		}
	});
	const {failed, counterexample, errorInstance} = await fc.check(property, {numRuns: number, seed});
	if (failed) {
		outcome.failure = `seed ${seed}: ${errorInstance}\n\n${asTest(counterexample?.[0] ?? [])}`;
	}

	return outcome;
};

test('no sequence entitles without payment, keeps money without entitling, or charges twice', async (t) => {
	t.timeout(3_600_000);
	const began = usedSeconds();
	const outcomes = await Promise.all(
		Array.from({length: WORLDS}, async (_, index) => {
			const world = await startWorld();
			try {
				const number = Math.ceil(Number(runs) / WORLDS);
				return await playMany(world, {number, seed: Number(seed) + index, until: began + Number(budget)});
			} finally {
				await world.stop();
			}
		}),
	);
	const played = outcomes.reduce((sum, one) => sum + one.played, 0);
	t.log(`seed ${seed}: ${played} sequences in ${(usedSeconds() - began).toFixed(1)} s of processor time`);
	const found = outcomes.flatMap(({failure}) => failure ?? []);
	t.deepEqual(found, []);
	// Without a limit all are played.
	t.true(played >= Number(runs) || budget !== 'Infinity', `only ${played} of ${runs} were played`);
});
