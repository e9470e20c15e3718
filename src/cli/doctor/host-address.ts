import {lookup} from 'node:dns/promises';
import {setTimeout as delay} from 'node:timers/promises';
import {type Finding, findingsOf} from '../../doctor/finding.ts';

const TIMEOUT_MS = 5000;

/** The addresses of a name, by this machine's resolver. @throws the resolver's error. */
const addressesOf = async (hostname: string): Promise<string[]> => {
	const late = new AbortController();
	try {
		const found = await Promise.race([
			lookup(hostname.replace(/^\[|\]$/g, ''), {all: true}),
			delay(TIMEOUT_MS, null, {signal: late.signal}),
		]);
		if (found === null) {
			throw Object.assign(new Error('no answer in time'), {code: 'ETIMEOUT'});
		}

		return [...new Set(found.map(({address}) => address))];
	} finally {
		late.abort();
	}
};

/** Whether a link host has an address. */
export const checkAddress = async (area: string, hostname: string): Promise<Finding> => {
	const {ok, fail} = findingsOf(area);
	try {
		return ok('host.address', `it resolves to ${(await addressesOf(hostname)).join(', ')}`);
	} catch (error) {
		return fail(
			'host.address',
			`it does not resolve (${(error as {code?: string}).code ?? (error as Error).message})`,
			`Set an A, AAAA or CNAME record for ${hostname} that points to the server`,
		);
	}
};
