import test from 'ava';
import fc from 'fast-check';
import {isDeep} from '../../../helpers/deep.ts';
import {sequence} from './_random.ts';
import {playSequence} from './_sequence.ts';
import type {Step} from './_steps.ts';
import {startWorld, type World} from './_world.ts';

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
