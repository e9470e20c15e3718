import type {Background} from '../../platform/background.ts';
import type {Db} from '../../platform/db/db.ts';
import {FURTHER_CODES, type UnknownCodeCount} from './unknown-code.ts';

/** A visit of a code that no link has, on a custom domain. */
type Visit = {domainId: string; organizationId: string; code: string; at: Date};

/** Counts visits of unknown codes after their answer (contract/hosts 9). */
type UnknownCodes = {
	count(visit: Visit): void;
	/** Resolves when storing the counts so far has ended, successfully or not. */
	settled(): Promise<void>;
};

/** Codes that wait for one statement; further ones are counted together. */
const MAX_WAITING = 1000;

/** Visits that arrive during a statement are counted by the next one, so visitors do not wait and a burst costs few. */
export const createUnknownCodes = ({db, background}: {db: Db; background: Background}): UnknownCodes => {
	let waiting = new Map<string, UnknownCodeCount>();
	let storing: Promise<void> | null = null;

	const storeAll = async (): Promise<void> => {
		try {
			// Loaded late, because it loads joi, which pages do not need.
			const {storeUnknownCodes} = await import('./unknown-code-store.ts');
			while (waiting.size > 0) {
				const counts = [...waiting.values()];
				waiting = new Map();
				await storeUnknownCodes(db, counts);
			}
		} finally {
			storing = null;
		}
	};

	return {
		count: ({domainId, organizationId, code, at}) => {
			const day = at.toISOString().slice(0, 10);
			const keyOf = (name: string) => `${domainId} ${day} ${name}`;
			const name = waiting.has(keyOf(code)) || waiting.size < MAX_WAITING ? code : FURTHER_CODES;
			const {visits} = waiting.get(keyOf(name)) ?? {visits: 0};
			waiting.set(keyOf(name), {
				domain_id: domainId,
				organization_id: organizationId,
				day,
				code: name,
				visits: visits + 1,
				last_at: at,
			});
			if (storing === null) {
				storing = storeAll();
				background.run('count unknown codes', storing);
			}
		},
		settled: async () => {
			// `background` logs a failure; the caller reads the stored counts.
			await storing?.catch(() => {});
		},
	};
};
