import {createBatches} from '../db/batches.ts';
import type {Db} from '../db/db.ts';
import {createApiKeyStore, type OwnedKey} from './api-key-store.ts';

/** What authentication asks of keys and tells of them. Requests that arrive together share a statement. */
export type KeyBook = {
	/** Keys with a prefix, of any state, as they are after this call. */
	find(prefix: string): Promise<OwnedKey[]>;
	noteUse(use: {id: string; at: Date}): Promise<unknown>;
};

/** Most keys of one statement. */
const MAX_BATCH = 500;

export const createKeyBook = (db: Db): KeyBook => {
	const store = createApiKeyStore(db);
	const findAll = async (prefixes: readonly string[]): Promise<OwnedKey[][]> => {
		const found = new Map<string, OwnedKey[]>(prefixes.map((prefix) => [prefix, []]));
		for (const owned of await store.findByPrefixes(prefixes)) {
			found.get(owned.key.prefix)?.push(owned);
		}

		return prefixes.map((prefix) => found.get(prefix) ?? []);
	};
	return {
		find: createBatches<string, OwnedKey[]>({
			most: MAX_BATCH,
			many: findAll,
			one: async (prefix) => (await findAll([prefix])).flat(),
		}),
		noteUse: createBatches<{id: string; at: Date}, true>({
			most: MAX_BATCH,
			many: async (uses) => {
				await store.noteUses(uses);
				return uses.map(() => true);
			},
			one: async (use) => {
				await store.noteUses([use]);
				return true;
			},
		}),
	};
};
