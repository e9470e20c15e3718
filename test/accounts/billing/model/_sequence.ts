import {check} from './_invariants.ts';
import {openMail} from './_mail.ts';
import {newPlay, perform} from './_play.ts';
import {newMemory} from './_seen.ts';
import type {Step} from './_steps.ts';
import type {World} from './_world.ts';

/** Steps of which the service learns nothing yet. */
const AWAY: ReadonlySet<Step['do']> = new Set(
	'pay decline linger bank card leave refund void eager fault'.split(' ') as Array<Step['do']>,
);

/** Plays a sequence for a new organization until nothing more happens. @throws the failure and its step. */
export const playSequence = async (world: World, steps: readonly Step[]): Promise<void> => {
	const play = await newPlay(world);
	openMail(play);
	const memory = newMemory();
	for (const [index, step] of [...steps, {do: 'quiet'} as const].entries()) {
		play.step = index;
		await perform(play, step);
		if (!play.mail.eager && AWAY.has(step.do)) {
			continue;
		}

		const wrong = await check(play, memory, step.do === 'quiet');
		if (wrong !== null) {
			throw new Error(`After step ${index + 1}, ${JSON.stringify(step)}: ${wrong}\n${world.lines.slice(-5).join('')}`);
		}
	}
};
