import {outcomeOf, probe} from '../../operations/doctor/probe.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import type {Clock} from '../../platform/clock.ts';
import {fieldsOf} from '../../platform/http/untrusted-json.ts';
import {isLoopback} from '../server/left-in-data-dir.ts';
import {checkAddress, checkCertificate} from './examine-host.ts';

/** Whether a server answers there as Oplink does; one that is not ready is a finding of its own. */
const checkAnswer = async (area: string, publicUrl: string): Promise<Finding> => {
	const {ok, fail} = findingsOf(area);
	const answer = await probe(`${publicUrl}/health/ready`);
	const isOplink = 'body' in answer && typeof fieldsOf(answer.body)['checks'] === 'object';
	return isOplink
		? ok('public.answer', 'the API answers there')
		: fail(
				'public.answer',
				`the API does not answer there: it ${outcomeOf(answer)}`,
				'Point the proxy of that address to this server, or correct PUBLIC_URL',
			);
};

/**
 * Examines PUBLIC_URL as backends and apps use it: its name, its certificate, its answer. After a failure the checks
 * that depend on it are skipped. An address of the server's own machine is asked only from there.
 * @param from the address at which this program reaches the server.
 */
export const examinePublicUrl = async (
	publicUrl: string,
	{from, signal, clock}: {from: string; signal: AbortSignal; clock: Clock},
): Promise<Finding[]> => {
	const area = `PUBLIC_URL ${publicUrl}`;
	const {warn} = findingsOf(area);
	const isOwn = isLoopback(publicUrl);
	if (isOwn && !isLoopback(from)) {
		return [warn('public.address', 'only the machine of the server reaches it', 'Set it to the address of the API')];
	}

	const url = new URL(publicUrl);
	const address = await checkAddress(area, url.hostname);
	if (address.status === 'fail') {
		return [address];
	}

	const plain = isOwn
		? []
		: [warn('public.https', 'keys and tokens cross the network unencrypted', 'Serve it over https')];
	const security = url.protocol === 'https:' ? [await checkCertificate(area, url, {signal, now: clock.now()})] : plain;
	const isBroken = security.some(({status}) => status === 'fail');
	return [address, ...security, ...(isBroken ? [] : [await checkAnswer(area, publicUrl)])];
};
