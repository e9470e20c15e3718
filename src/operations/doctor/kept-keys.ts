import {createApiKeyStore} from '../../accounts/api-keys/api-key-store.ts';
import {createDisplayKeyCipher, otherSecret} from '../../accounts/api-keys/display-key-cipher.ts';
import type {Services} from '../../services.ts';
import {type Finding, findingsOf} from './finding.ts';

const {ok, warn} = findingsOf('API keys');

/** The oldest keys are the ones encrypted with a previous secret. */
const LOOKED_AT = 1000;

/** Checks whether stored display keys can be decrypted with the current secret. */
export const checkKeptKeys = async ({db, config, log}: Pick<Services, 'db' | 'config' | 'log'>): Promise<Finding[]> => {
	// Without logging: the finding reports it once.
	const cipher = createDisplayKeyCipher(config.keySecret, log.child({}, {level: 'silent'}));
	const kept = await createApiKeyStore(db).listDisplayKeys(LOOKED_AT);
	const unreadable = kept.filter((stored) => cipher.open(stored) === null).length;
	return [
		unreadable === 0
			? ok('keys.readable', 'keys can be shown')
			: warn('keys.readable', `${unreadable} of ${kept.length}: the key ${otherSecret.fault}`, otherSecret.remedy),
	];
};
