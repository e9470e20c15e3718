import type {Config} from '../../platform/config/config.ts';
import {counted} from '../../platform/text.ts';
import {type Finding, findingsOf, present} from '../finding.ts';
import {outcomeOf, type Probe, probe, statusOf} from './probe.ts';

const {ok, warn, fail} = findingsOf('Identity provider');

type Key = {kty?: unknown; use?: unknown; alg?: unknown};

/** Whether the key can verify sessions: only RS256 is accepted. */
const isUsable = ({kty, use, alg}: Key): boolean =>
	kty === 'RSA' && (use === undefined || use === 'sig') && (alg === undefined || alg === 'RS256');

/** The finding for the key set's answer. */
export const judgeKeySet = (url: string, answer: Probe): Finding => {
	const next = 'Compare IDP_JWKS_URL with the documentation of the provider; every session is refused until it answers';
	const keys =
		'failure' in answer || answer.status !== 200 ? null : (answer.body as {keys?: unknown} | undefined)?.keys;
	if (keys === null) {
		return fail('identity.keySet', `the key set at ${url} ${outcomeOf(answer)}`, next);
	}

	const usable = Array.isArray(keys) ? (keys as Key[]).filter(isUsable).length : 0;
	return usable === 0
		? fail('identity.keySet', `${url} has no key to verify sessions (RS256)`, next)
		: ok('identity.keySet', `the key set has ${counted(usable, 'key')}`);
};

const judgeApiKey = (apiUrl: string, answer: Probe): Finding => {
	const status = statusOf(answer);
	if (status === 401 || status === 403) {
		return fail(
			'identity.apiKey',
			'the backend API refuses IDP_API_KEY',
			"Set IDP_API_KEY to the instance's secret key",
		);
	}

	return status !== 200
		? fail('identity.apiKey', `the backend API at ${apiUrl} ${outcomeOf(answer)}`, 'Compare IDP_API_URL, /v1 included')
		: ok('identity.apiKey', 'the backend API accepts the key');
};

const judgeOpsOrganization = (id: string, answer: Probe): Finding[] =>
	present([
		statusOf(answer) === 200 && ok('identity.opsOrganization', 'the ops organization exists'),
		statusOf(answer) === 404 &&
			warn(
				'identity.opsOrganization',
				`OPS_ORG_ID ${id} does not exist at the provider`,
				'Correct OPS_ORG_ID: no session is ops',
			),
	]);

/**
 * Checks the identity provider: its key set, and whether its backend API accepts our key (contract/identity 3,
 * contract/identity 10).
 */
export const checkIdentityProvider = async ({idp, opsOrgId}: Config): Promise<Finding[]> => {
	const {jwksUrl, apiUrl, apiKey} = idp;
	if (jwksUrl === null && apiKey === null) {
		return [ok('identity.configured', 'none is configured: every session is refused')];
	}

	const headers = {Authorization: `Bearer ${apiKey}`};
	const [keySet, read, opsOrganization] = await Promise.all([
		jwksUrl === null ? null : probe(jwksUrl),
		apiKey === null ? null : probe(`${apiUrl}/jwks`, {headers}),
		apiKey === null || opsOrgId === null
			? null
			: probe(`${apiUrl}/organizations/${encodeURIComponent(opsOrgId)}`, {headers}),
	]);
	return [
		...(keySet === null || jwksUrl === null ? [] : [judgeKeySet(jwksUrl, keySet)]),
		read === null
			? warn(
					'identity.apiKey',
					'IDP_API_KEY is not set: nobody can create an organization or invite members',
					'Set IDP_API_KEY',
				)
			: judgeApiKey(apiUrl, read),
		...(opsOrganization === null || opsOrgId === null ? [] : judgeOpsOrganization(opsOrgId, opsOrganization)),
	];
};
