import {prepareRedis} from '../../test/setup/redis.ts';
import {makeRunFolder} from '../../test/setup/run-folder.ts';
import {createTeardown} from '../../test/setup/teardown.ts';
import {startDatabase} from './database.ts';
import type {Figure} from './figure.ts';
import {type Installation, type InstallationGiven, openInstallation} from './installation.ts';
import {pinLoad} from './processes.ts';

/** What measures stand on. */
export type Stage = {
	folder: string;
	postmaster: number;
	/** Smaller and shorter: to see that it works, not to know the figures. */
	quick: boolean;
	rounds: number;
	/** How long a round of a load is. */
	seconds: number;
	installation(given?: InstallationGiven): Promise<Installation>;
	/** The address of a real Redis. */
	redis(): Promise<string>;
	progress(text: string): void;
};

/** A measure: a name to call it by, and how its figures are taken. It closes what it opens. */
export type Measure = {name: string; measure(stage: Stage): Promise<Figure[]>};

export const openStage = async (quick: boolean): Promise<{stage: Stage; close(): Promise<void>}> => {
	const teardown = createTeardown();
	try {
		pinLoad();
		const folder = await makeRunFolder(teardown);
		const postgres = await startDatabase(folder, teardown);
		let redis: Promise<string> | null = null;
		return {
			stage: {
				folder,
				postmaster: postgres.postmaster,
				quick,
				rounds: quick ? 2 : 5,
				seconds: quick ? 1 : 4,
				installation: (given) => openInstallation(folder, postgres, given),
				redis: () => {
					redis ??= prepareRedis(folder, teardown);
					return redis;
				},
				progress: (text) => console.error(text),
			},
			close: () => teardown.run(),
		};
	} catch (error) {
		await teardown.run();
		throw error;
	}
};
