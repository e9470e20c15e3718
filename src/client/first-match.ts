import type {Match, MatchFound} from './sdk-shapes.ts';

/** What outlives the process: AsyncStorage, localStorage or a file, behind two functions. A Map fits too. */
export type OplinkStorage = {
	get(key: string): string | null | undefined | Promise<string | null | undefined>;
	set(key: string, value: string): unknown;
};

const STORAGE_KEY = 'oplink.match';

/**
 * Asks for a match until there is an answer, and then never again: found or not, the first open of the installation is
 * over. A failed request does not count, so that the next app open asks. A storage that fails is replaced by memory.
 * @returns a function that never throws; calls while one is under way share it.
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
		// Before the storage, which may be slow or fail: the link matters more.
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
