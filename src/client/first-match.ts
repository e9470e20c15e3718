import type {Match, MatchFound} from './sdk-shapes.ts';

/** Persistent storage with two functions: AsyncStorage, localStorage or a file. A Map works too. */
export type OplinkStorage = {
	get(key: string): string | null | undefined | Promise<string | null | undefined>;
	set(key: string, value: string): unknown;
};

const STORAGE_KEY = 'oplink.match';

/**
 * Requests a match until there is an answer, and then never again: found or not, the first open of the installation is
 * over. A failed request does not count, so the next app open repeats it. A failing storage is replaced by memory.
 * @returns a function that never throws; concurrent calls share one run.
 */
export const createFirstMatch = <Signals>({
	storage,
	match,
	found,
	warn,
}: {
	storage: OplinkStorage;
	match: (signals: Signals) => Promise<Match>;
	found: (answer: MatchFound) => void;
	warn: (message: string, error: unknown) => void;
}): ((signals: Signals) => Promise<void>) => {
	let isAnswered = false;
	let underWay: Promise<void> | null = null;

	const isStored = async (): Promise<boolean> => {
		try {
			return (await storage.get(STORAGE_KEY)) != null;
		} catch (error) {
			warn('oplink: the storage cannot be read', error);
			return false;
		}
	};

	const ask = async (signals: Signals): Promise<void> => {
		if (isAnswered || (await isStored())) {
			return;
		}

		const answer = await match(signals);
		isAnswered = true;
		// Before the storage, which may be slow or fail: the link is more important.
		if (answer.matched) {
			found(answer);
		}

		try {
			await storage.set(STORAGE_KEY, answer.matchMethod);
		} catch (error) {
			warn('oplink: the storage cannot be written', error);
		}
	};

	return (signals) => {
		underWay ??= ask(signals)
			.catch((error: unknown) => warn('oplink: no match', error))
			.finally(() => {
				underWay = null;
			});
		return underWay;
	};
};
