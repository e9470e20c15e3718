import type {Config} from '../../platform/config/config.ts';
import {type Finding, findingsOf, present} from '../finding.ts';
import {outcomeOf, type Probe, probe} from './probe.ts';

const {ok, warn, fail} = findingsOf('Paymob');

const judgeToken = (apiUrl: string, answer: Probe): Finding => {
	if ('failure' in answer || answer.status >= 500) {
		return fail(
			'paymob.reachable',
			`the gateway at ${apiUrl} ${outcomeOf(answer)}`,
			'Try again; compare PAYMOB_API_URL',
		);
	}

	return answer.status < 300
		? ok('paymob.apiKey', 'it accepts the API key')
		: fail('paymob.apiKey', 'Paymob refuses PAYMOB_API_KEY', 'Set PAYMOB_API_KEY to the key of the account');
};

/** Checks whether Paymob accepts the API key. Its secret key only creates payments, so it is not tried. */
export const checkPaymob = async ({paymob}: Config): Promise<Finding[]> => {
	if (paymob === null) {
		return [ok('paymob.configured', 'off')];
	}

	const {apiUrl, apiKey, hmacSecret, motoIntegrationId} = paymob;
	return present([
		apiKey === null
			? warn('paymob.apiKey', 'PAYMOB_API_KEY is not set: payments with an unclear outcome stay unresolved', 'Set it')
			: judgeToken(apiUrl, await probe(`${apiUrl}/api/auth/tokens`, {post: {api_key: apiKey}})),
		hmacSecret === null &&
			warn('paymob.hmacSecret', 'PAYMOB_HMAC_SECRET is not set: payments are never received', 'Set it'),
		motoIntegrationId === null &&
			warn('paymob.moto', 'PAYMOB_MOTO_INTEGRATION_ID is not set: saved cards are not charged', 'Set it'),
	]);
};
