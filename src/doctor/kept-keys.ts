import {createApiKeyStore} from '../api-keys/api-key-store.ts';
import {createDisplayKeyCipher, otherSecret} from '../api-keys/display-key-cipher.ts';
import {isConnectionFault} from '../db/db.ts';
import type {Services} from '../services.ts';
import {type Finding, findingsOf} from './finding.ts';

const {ok, warn} = findingsOf('API keys');

/** The first keys are those that an earlier secret would have been for. */
const LOOKED_AT = 1000;

/** Whether the keys that are kept for display can be read with the secret of now. */
export const checkKeptKeys = async ({db, config, log}: Pick<Services, 'db' | 'config' | 'log'>): Promise<Finding[]> => {
	try {
		// Quiet: the finding says it once.
		const cipher = createDisplayKeyCipher(config.keySecret, log.child({}, {level: 'silent'}));
		const kept = await createApiKeyStore(db).listDisplayKeys(LOOKED_AT);
		const unreadable = kept.filter((stored) => cipher.open(stored) === null).length;
		return [
			unreadable === 0
				? ok('keys.readable', 'keys can be shown')
				: warn('keys.readable', `${unreadable} of ${kept.length}: the key ${otherSecret.fault}`, otherSecret.remedy),
		];
	} catch (error) {
		// A database that is away has a finding of its own.
		if (isConnectionFault(error)) {
			return [];
		}

		throw error;
	}
};
